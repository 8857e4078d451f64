import { unixSeconds } from "../../base/time.ts";
import type { EventId, VerifiedEvent } from "../../nostr/event.ts";
import type { Change } from "../batch.ts";
import { type FeedChange, type StoredEvent, seq } from "../event-store.ts";
import { idRank, type KeySeed, postingKeys } from "../keys.ts";
import { howNumber } from "./provenance-columns.ts";
import { type Connection, HEAD_SQL } from "./sqlite-file.ts";

/** Rows of `posting` that one statement takes; an event with more has them written in several. */
const POSTINGS_A_STATEMENT = 16;

export const GONE_PASSED = 0;
export const GONE_REMOVED = 1;
/** The event stands in `held`; when it leaves purgatory the number becomes `GONE_PASSED`. */
export const GONE_HELD = 2;

/** Puts and removes events with all that belongs to them, inside a transaction that somebody else opened. Numbers every change. */
export class SqliteTables {
  readonly #seed: KeySeed;
  readonly #putPostings: ((rows: readonly (number | bigint)[]) => void)[] = [];
  readonly #statements;
  readonly #relays = new Map<string, number>();
  /** The id that was last looked for and not found: a decision asks, and the put that follows need not ask again. */
  #absent: EventId | undefined;
  /** The newest number given out; the transaction puts it back when it fails. */
  head: number;

  constructor(db: Connection, seed: KeySeed) {
    this.#seed = seed;
    this.head = db.prepare<[], number>(HEAD_SQL).pluck().get() ?? 0;
    this.#statements = {
      putEvent: db.prepare("INSERT INTO event (seq, id_rank, id, pubkey, created_at, kind, how, relay) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"),
      putBody: db.prepare("INSERT INTO body (seq, expires_at, text) VALUES (?, ?, ?)"),
      find: db.prepare<[number, Buffer], number>("SELECT seq FROM event WHERE id_rank = ? AND id = ?").pluck(),
      text: db.prepare<[number], string>("SELECT text FROM body WHERE seq = ?").pluck(),
      dropEvent: db.prepare("DELETE FROM event WHERE seq = ?"),
      dropBody: db.prepare("DELETE FROM body WHERE seq = ?"),
      dropPosting: db.prepare("DELETE FROM posting WHERE key = ? AND created_at = ? AND id_rank = ? AND seq = ?"),
      gone: db.prepare("INSERT INTO gone (seq, change, id) VALUES (?, ?, ?)"),
      findRelay: db.prepare<[string], number>("SELECT number FROM relay WHERE url = ?").pluck(),
      putRelay: db.prepare("INSERT INTO relay (url) VALUES (?)"),
    };
    for (let rows = 1; rows <= POSTINGS_A_STATEMENT; rows++) {
      const values = Array.from({ length: rows }, () => "(?, ?, ?, ?, ?)").join(", ");
      const statement = db.prepare(`INSERT INTO posting (key, created_at, id_rank, seq, kind) VALUES ${values}`);
      this.#putPostings.push((parameters) => statement.run(...parameters));
    }
  }

  /** The number under which this id is served. */
  find(id: EventId): number | undefined {
    const number = this.#statements.find.get(idRank(id), Buffer.from(id, "hex"));
    this.#absent = number === undefined ? id : undefined;
    return number;
  }

  put(change: Change & { kind: "put" }): FeedChange | undefined {
    const { event, text } = change;
    const id = Buffer.from(event.id, "hex");
    const rank = idRank(event.id);
    if (this.#absent !== event.id && this.#statements.find.get(rank, id) !== undefined) return undefined;
    this.#absent = undefined;
    const number = ++this.head;
    const relay = change.provenance.how === "direct" ? null : this.#relayNumber(change.provenance.relay);
    const pubkey = Buffer.from(event.pubkey, "hex");
    this.#statements.putEvent.run(number, rank, id, pubkey, event.created_at, event.kind, howNumber(change.provenance), relay);
    this.#statements.putBody.run(number, change.expiresAt ?? null, text);
    this.#putAll(event, rank, number);
    const stored: StoredEvent = { seq: seq(number), id: event.id, createdAt: event.created_at, text };
    return { seq: seq(number), change: "served", event: stored };
  }

  remove(id: EventId): FeedChange | undefined {
    const number = this.find(id);
    if (number === undefined) return undefined;
    const text = this.#statements.text.get(number) as string;
    const event = JSON.parse(text) as VerifiedEvent;
    const rank = idRank(id);
    for (const key of postingKeys(this.#seed, event)) this.#statements.dropPosting.run(key, event.created_at, rank, number);
    this.#statements.dropEvent.run(number);
    this.#statements.dropBody.run(number);
    const bytes = Buffer.from(id, "hex");
    const removal = ++this.head;
    this.#statements.gone.run(number, GONE_PASSED, bytes);
    this.#statements.gone.run(removal, GONE_REMOVED, bytes);
    return { seq: seq(removal), change: "removed", id };
  }

  /** Numbers a change whose event is not in `event`. */
  number(change: typeof GONE_REMOVED | typeof GONE_HELD, id: EventId): number {
    this.#statements.gone.run(++this.head, change, Buffer.from(id, "hex"));
    return this.head;
  }

  #putAll(event: VerifiedEvent, rank: number, number: number): void {
    const keys = postingKeys(this.#seed, event);
    for (let first = 0; first < keys.length; first += POSTINGS_A_STATEMENT) {
      const chunk = keys.slice(first, first + POSTINGS_A_STATEMENT);
      const rows: number[] = [];
      for (const key of chunk) rows.push(key, event.created_at, rank, number, event.kind);
      this.#putPostings[chunk.length - 1]?.(rows);
    }
  }

  #relayNumber(url: string): number {
    let number = this.#relays.get(url) ?? this.#statements.findRelay.get(url);
    if (number === undefined) number = Number(this.#statements.putRelay.run(url).lastInsertRowid);
    this.#relays.set(url, number);
    return number;
  }

  /** Numbers of relays learnt in a transaction that failed are not true. */
  forgetLearnt(head: number): void {
    this.head = head;
    this.#relays.clear();
  }
}

export const versionOf = (row: { id: Buffer; created_at: number }): { id: EventId; created_at: ReturnType<typeof unixSeconds> } => ({
  id: row.id.toString("hex") as EventId,
  created_at: unixSeconds(row.created_at),
});
