import type { Filter } from "../../nostr/filter.ts";
import type { Items, StoredEvent, View } from "../event-store.ts";
import { START_OF_TIME } from "./postings.ts";
import type { Connection } from "./sqlite-file.ts";

/** Reads (time, id) pairs of a whole list without touching a single text: what reconciliations of many events live on. */
export class ItemReader {
  readonly #rows;
  readonly #expired;

  constructor(db: Connection) {
    this.#rows = db
      .prepare<[number, number, number, number], [number, number, Buffer]>(
        `SELECT p.created_at, p.seq, e.id FROM posting p CROSS JOIN event e ON e.seq = p.seq
         WHERE p.key = ? AND p.created_at >= ? AND p.created_at <= ? AND p.seq <= ?
         ORDER BY p.created_at DESC, p.id_rank DESC, p.seq DESC`,
      )
      .raw(true);
    this.#expired = db.prepare<[number], number>("SELECT seq FROM body WHERE expires_at <= ?").pluck();
  }

  exactList(key: number, filter: Filter, view: View, max: number): Items {
    const expired = new Set(this.#expired.all(view.now));
    const since = filter.since ?? START_OF_TIME;
    const until = filter.until ?? Number.MAX_SAFE_INTEGER;
    const upTo = view.upTo ?? Number.MAX_SAFE_INTEGER;
    const growing = new GrowingItems();
    for (const [createdAt, seq, id] of this.#rows.iterate(key, since, until, upTo)) {
      if (!expired.has(seq)) growing.push(createdAt, id);
      if (growing.length > max) break;
    }
    return growing.seal();
  }
}

/** Items of events that came newest first. */
export function itemsOf(events: readonly StoredEvent[]): Items {
  const growing = new GrowingItems();
  for (const event of events) growing.push(event.createdAt, Buffer.from(event.id, "hex"));
  return growing.seal();
}

/** Collects items newest first and hands them out oldest first. */
class GrowingItems {
  #length = 0;
  #createdAt = new Float64Array(1024);
  #ids = new Uint8Array(1024 * 32);

  get length(): number {
    return this.#length;
  }

  push(createdAt: number, id: Uint8Array): void {
    if (this.#length === this.#createdAt.length) {
      const createdAts = new Float64Array(this.#length * 2);
      createdAts.set(this.#createdAt);
      this.#createdAt = createdAts;
      const ids = new Uint8Array(this.#length * 64);
      ids.set(this.#ids);
      this.#ids = ids;
    }
    this.#createdAt[this.#length] = createdAt;
    this.#ids.set(id, this.#length * 32);
    this.#length++;
  }

  seal(): Items {
    const n = this.#length;
    const createdAt = this.#createdAt.slice(0, n).reverse();
    const ids = new Uint8Array(n * 32);
    for (let i = 0; i < n; i++) ids.set(this.#ids.subarray(i * 32, i * 32 + 32), (n - 1 - i) * 32);
    for (let first = 0; first < n; ) {
      let end = first + 1;
      while (end < n && createdAt[end] === createdAt[first]) end++;
      if (!isAscending(ids, first, end)) sortIds(ids, first, end);
      first = end;
    }
    return { length: n, createdAt, ids };
  }
}

/** Lists know only how an id begins, so a second may hold a few that stand the wrong way round. */
function isAscending(ids: Uint8Array, first: number, end: number): boolean {
  for (let i = first + 1; i < end; i++) {
    let at = i * 32;
    while (at < i * 32 + 32 && ids[at] === ids[at - 32]) at++;
    if ((ids[at] as number) < (ids[at - 32] as number)) return false;
  }
  return true;
}

function sortIds(ids: Uint8Array, first: number, end: number): void {
  const run = Array.from({ length: end - first }, (_, i) => ids.slice((first + i) * 32, (first + i + 1) * 32));
  run.sort((a, b) => Buffer.compare(a, b));
  for (const [i, id] of run.entries()) ids.set(id, (first + i) * 32);
}
