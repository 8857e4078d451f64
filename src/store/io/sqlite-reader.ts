import type { EventId, NostrEvent } from "../../nostr/event.ts";
import { type Filter, matches } from "../../nostr/filter.ts";
import { type Items, type Reader, type Seq, type StoredEvent, seq, type View } from "../event-store.ts";
import { idRank, type KeySeed } from "../keys.ts";
import type { Provenance } from "../provenance.ts";
import { type Driver, driversOf, isTrueHit, type Term } from "../query-plan.ts";
import { createdAtOf, idOf } from "../stored-text.ts";
import { ItemReader, itemsOf } from "./item-reader.ts";
import { cursorAt, type Posting, Postings, START_OF_TIME } from "./postings.ts";
import { readProvenance } from "./provenance-columns.ts";
import { type Connection, HEAD_SQL, readSeed } from "./sqlite-file.ts";

/** How many postings one slice looks at: about a millisecond of work, two when events must be parsed. */
const SLICE_POSTINGS = 1_000;
/** The first slice, before it is known how large the events are. */
const FIRST_SLICE = 128;
/** What one slice may hold in texts: a few hundred events of a kilobyte, or a few of the largest. */
const SLICE_BYTES = 1_048_576;
/** A list longer than this is long, whatever its length: enough to tell two ways of reading apart. */
const ESTIMATE_MAX = 200;
/** Estimating more lists than this would cost as much as reading them. */
const ESTIMATE_TERMS = 8;

type BodyRow = [seq: number, expiresAt: number | null, text: string];

/** Reads what is served. Safe beside the writer: each statement sees one moment of the store. */
export class SqliteReader implements Reader {
  readonly #db: Connection;
  readonly #seed: KeySeed;
  readonly #postings: Postings;
  readonly #serves;
  readonly #byRanks;
  readonly #bodies;
  readonly #head;
  readonly #estimate;
  readonly #itemReader: ItemReader;

  constructor(db: Connection) {
    this.#db = db;
    this.#seed = readSeed(db);
    this.#postings = new Postings(db);
    this.#serves = db.prepare<[number], Buffer>("SELECT id FROM event WHERE id_rank = ?").pluck();
    this.#byRanks = db
      .prepare<[string], BodyRow>(
        `SELECT b.seq, b.expires_at, b.text FROM json_each(?) wanted
         CROSS JOIN event e ON e.id_rank = wanted.value CROSS JOIN body b ON b.seq = e.seq`,
      )
      .raw(true);
    this.#bodies = db
      .prepare<[string], BodyRow>("SELECT b.seq, b.expires_at, b.text FROM json_each(?) wanted CROSS JOIN body b ON b.seq = wanted.value")
      .raw(true);
    this.#head = db.prepare<[], number>(HEAD_SQL).pluck();
    this.#estimate = db.prepare<[number, number], number>("SELECT count(*) FROM (SELECT 1 FROM posting WHERE key = ? LIMIT ? + 0)").pluck();
    this.#itemReader = new ItemReader(db);
  }

  async *query(filter: Filter, view: View): AsyncGenerator<readonly StoredEvent[], void, void> {
    const limit = filter.limit ?? Number.POSITIVE_INFINITY;
    if (limit === 0) return;
    if (filter.ids !== undefined) {
      yield this.#byIds(filter.ids, filter, view).slice(0, limit);
      return;
    }
    const driver = this.#pick(driversOf(filter, this.#seed));
    if (driver.terms.length === 0) return;
    if (driver.terms.length <= this.#postings.groupMax && driver.kinds === undefined && driver.rest === undefined) {
      yield* this.#plain(driver, filter, view, limit);
    } else {
      yield* this.#checked(driver, filter, view, limit);
    }
  }

  async count(filters: readonly Filter[], view: View): Promise<number> {
    const seen = new Set<number>();
    for (const filter of filters) {
      for await (const slice of this.query({ ...filter, limit: undefined }, view)) {
        for (const event of slice) seen.add(event.seq);
      }
    }
    return seen.size;
  }

  async items(filter: Filter, view: View, max = Number.POSITIVE_INFINITY): Promise<Items> {
    const drivers = filter.ids === undefined ? driversOf(filter, this.#seed) : [];
    const driver = drivers[0];
    const [term] = driver?.terms ?? [];
    if (driver !== undefined && term !== undefined && driver.terms.length === 1 && term.needle === undefined) {
      return this.#itemReader.exactList(term.key, filter, view, max);
    }
    const found: StoredEvent[] = [];
    for await (const slice of this.query({ ...filter, limit: undefined }, view)) {
      for (const event of slice) found.push(event);
      if (found.length > max) break;
    }
    return itemsOf(found.slice(0, Math.min(found.length, max + 1)));
  }

  async provenance(id: EventId): Promise<Provenance | undefined> {
    return readProvenance(this.#db, id);
  }

  /** Is this id served? One probe of one index; for whoever wants to spare itself the work on a known event. */
  serves(id: EventId): boolean {
    const rank = idRank(id);
    const first = this.#serves.get(rank);
    if (first === undefined) return false;
    return first.toString("hex") === id || this.#serves.all(rank).some((bytes) => bytes.toString("hex") === id);
  }

  async head(): Promise<Seq> {
    return this.headNow();
  }

  headNow(): Seq {
    return seq(this.#head.get() ?? 0);
  }

  /** The driver whose lists are shortest. Only asked where there is a choice. */
  #pick(drivers: readonly Driver[]): Driver {
    let best = drivers[0] as Driver;
    if (drivers.length === 1) return best;
    let least = Number.POSITIVE_INFINITY;
    for (const driver of drivers) {
      if (driver.terms.length === 0) return driver;
      const few = driver.terms.length <= ESTIMATE_TERMS;
      const size = few ? driver.terms.reduce((sum, term) => sum + (this.#estimate.get(term.key, ESTIMATE_MAX) ?? 0), 0) : ESTIMATE_MAX * 2;
      if (size < least) {
        least = size;
        best = driver;
      }
    }
    return best;
  }

  #byIds(ids: readonly EventId[], filter: Filter, view: View): StoredEvent[] {
    const plain = filter.authors === undefined && filter.kinds === undefined && filter.tags.size === 0;
    const found: StoredEvent[] = [];
    const wanted = new Set(ids);
    for (const [number, expiresAt, text] of this.#byRanks.all(JSON.stringify(ids.map(idRank)))) {
      // Taken out when found: two ids that begin alike ask for each other's rows too.
      if (!visible(number, expiresAt, view) || !wanted.delete(idOf(text))) continue;
      const event = storedEvent(number, text);
      if (filter.since !== undefined && event.createdAt < filter.since) continue;
      if (filter.until !== undefined && event.createdAt > filter.until) continue;
      if (plain || matches(filter, JSON.parse(text) as NostrEvent)) found.push(event);
    }
    return found.sort((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? -1 : 1));
  }

  /** The lists alone decide, and there are few of them: one statement reads them merged, with the texts. */
  async *#plain(driver: Driver, filter: Filter, view: View, limit: number): AsyncGenerator<readonly StoredEvent[], void, void> {
    const { terms } = driver;
    const seen = terms.length > 1 ? new Set<number>() : undefined;
    let cursor = this.#postings.startOf(filter.until);
    let left = limit;
    let most = FIRST_SLICE;
    for (;;) {
      const want = Math.min(left, most);
      const rows = this.#postings.withBodies(terms, cursor, filter.since ?? START_OF_TIME, want);
      const slice: StoredEvent[] = [];
      let bytes = 0;
      for (const [number, expiresAt, text, term = 0] of rows) {
        if (seen?.has(number) || !visible(number, expiresAt, view) || !isTrueHit(terms[term] as Term, text)) continue;
        seen?.add(number);
        bytes += text.length;
        slice.push(storedEvent(number, text));
      }
      yield inOrder(slice, left);
      left -= slice.length;
      const last = rows[rows.length - 1];
      if (last === undefined || rows.length < want || left <= 0) return;
      cursor = cursorAt(last);
      most = fitting(slice.length, bytes);
    }
  }

  /** Many lists, or conditions beyond them: postings first, then, in one go, only the events that may match. */
  async *#checked(driver: Driver, filter: Filter, view: View, limit: number): AsyncGenerator<readonly StoredEvent[], void, void> {
    const { kinds, rest } = driver;
    const terms = this.#postings.present(driver.terms);
    const seen = new Set<number>();
    const postings = this.#postings.merged(terms, filter.until, filter.since ?? START_OF_TIME);
    let left = limit;
    let most = FIRST_SLICE;
    for (;;) {
      // With conditions beyond the lists, most of what is read may not match: then more is read at once.
      const read = postings(kinds === undefined && rest === undefined ? Math.min(left, most) : most);
      if (read === undefined) return;
      const wanted = read.filter((posting) => (kinds === undefined || kinds.has(posting.kind)) && !seen.has(posting.seq));
      const bodies = this.#bodiesOf(wanted);
      const slice: StoredEvent[] = [];
      let bytes = 0;
      for (const posting of wanted) {
        const body = bodies.get(posting.seq); // absent: removed since the list was read
        if (body === undefined || seen.has(posting.seq) || !visible(posting.seq, body[1], view)) continue;
        const text = body[2];
        if (!isTrueHit(terms[posting.term] as Term, text)) continue;
        seen.add(posting.seq);
        bytes += text.length;
        if (rest !== undefined && !rest(JSON.parse(text) as NostrEvent)) continue;
        slice.push(storedEvent(posting.seq, text));
      }
      yield inOrder(slice, left);
      left -= slice.length;
      if (left <= 0) return;
      most = fitting(bodies.size, bytes);
    }
  }

  #bodiesOf(postings: readonly Posting[]): Map<number, BodyRow> {
    const bodies = new Map<number, BodyRow>();
    if (postings.length === 0) return bodies;
    for (const row of this.#bodies.all(JSON.stringify(postings.map((posting) => posting.seq)))) bodies.set(row[0], row);
    return bodies;
  }
}

const visible = (number: number, expiresAt: number | null, view: View): boolean =>
  (expiresAt === null || expiresAt > view.now) && (view.upTo === undefined || number <= view.upTo);

/** How many more events of this size make a slice. */
const fitting = (count: number, bytes: number): number =>
  count === 0 ? SLICE_POSTINGS : Math.max(8, Math.min(SLICE_POSTINGS, Math.floor((SLICE_BYTES * count) / Math.max(1, bytes))));

/** At most `max` of a slice that never ends between two ids that begin alike: those are put in order here, by the whole id. */
function inOrder(slice: StoredEvent[], max: number): readonly StoredEvent[] {
  for (let i = 1; i < slice.length; i++) {
    const before = slice[i - 1] as StoredEvent;
    const event = slice[i] as StoredEvent;
    if (before.createdAt === event.createdAt && before.id > event.id) {
      slice.sort((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? -1 : 1));
      break;
    }
  }
  return slice.length > max ? slice.slice(0, max) : slice;
}

const storedEvent = (number: number, text: string): StoredEvent => ({
  seq: seq(number),
  id: idOf(text),
  createdAt: createdAtOf(text),
  text,
});
