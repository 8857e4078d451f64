import type { UnixSeconds } from "../base/time.ts";
import type { EventId } from "../nostr/event.ts";
import { type Filter, matches } from "../nostr/filter.ts";
import type { Awaitable, Feed, FeedChange, Gate, Items, Reader, Seq, StoredEvent, Transaction, View, Writer } from "./event-store.ts";
import { seq } from "./event-store.ts";
import { type HeldRow, MemoryHeld, noHeldTables } from "./memory-held.ts";
import { asFeedChange, asGate, type MemoryTables, type ServedRow } from "./memory-tables.ts";
import { MemoryTransaction, newestFirst } from "./memory-transaction.ts";
import type { Provenance } from "./provenance.ts";

/** Few enough that tests meet queries of several slices, enough that the simulator does not wait for them. */
const SLICE_MAX = 100;

type ExpiringRow = (ServedRow | HeldRow) & { readonly expiresAt: UnixSeconds };

/** The plain store: what the disk store is compared with, and the store of the simulator. It walks over everything, sorts, and cuts. */
export class MemoryStore implements Reader, Writer, Feed {
  readonly #tables: MemoryTables = { served: new Map(), gates: new Map(), log: [], ...noHeldTables() };
  /** A draft that nobody writes to sees what was committed. */
  readonly held = new MemoryHeld(this.#tables);
  /** Settles when the transaction that was asked for last has ended. */
  #lastTurn: Promise<unknown> = Promise.resolve();

  query(filter: Filter, view: View): AsyncIterable<readonly StoredEvent[]> {
    return inSlices(this.#find(filter, view).map((row) => row.stored));
  }

  async count(filters: readonly Filter[], view: View): Promise<number> {
    return this.#rows(view).filter((row) => filters.some((filter) => matches(filter, row.event))).length;
  }

  async items(filter: Filter, view: View, max = Number.POSITIVE_INFINITY): Promise<Items> {
    const found = this.#find({ ...filter, limit: max + 1 }, view).map((row) => row.event);
    const events = found.toSorted((a, b) => a.created_at - b.created_at || (a.id < b.id ? -1 : 1));
    const createdAt = Float64Array.from(events, (event) => event.created_at);
    const ids = Uint8Array.from(events.flatMap((event) => bytesOf(event.id)));
    return { length: events.length, createdAt, ids };
  }

  async provenance(id: EventId): Promise<Provenance | undefined> {
    return this.#tables.served.get(id)?.provenance;
  }

  async head(): Promise<Seq> {
    return seq(this.#tables.log.length);
  }

  read(after: Seq): AsyncIterable<readonly FeedChange[]> {
    const changes = this.#tables.log.slice(after);
    const { served, held } = this.#tables;
    return inSlices(changes.map((row, index) => asFeedChange(row, seq(after + index + 1), served.get(row.id), held.get(row.id))));
  }

  transact<T>(work: (tx: Transaction) => Awaitable<T>): Promise<T> {
    const turn = this.#lastTurn.then(async () => {
      const draft = new MemoryTransaction(this.#tables);
      const result = await work(draft);
      draft.commit();
      return result;
    });
    // Whoever asked learns of a failure; whoever comes next does not.
    this.#lastTurn = turn.catch(() => undefined);
    return turn;
  }

  async expired(now: UnixSeconds, max: number): Promise<readonly EventId[]> {
    return this.#expiring()
      .filter((row) => row.expiresAt <= now)
      .slice(0, max)
      .map((row) => row.event.id);
  }

  async nextExpiry(): Promise<UnixSeconds | undefined> {
    return this.#expiring()[0]?.expiresAt;
  }

  async gates(after: EventId | undefined, max: number): Promise<readonly Gate[]> {
    return [...this.#tables.gates.values()]
      .filter((gate) => after === undefined || gate.request > after)
      .toSorted((a, b) => (a.request < b.request ? -1 : 1))
      .slice(0, max)
      .map((gate) => asGate(gate, this.#tables.served.has(gate.request)));
  }

  #rows(view: View): ServedRow[] {
    return [...this.#tables.served.values()].filter(
      (row) => (row.expiresAt === undefined || row.expiresAt > view.now) && (view.upTo === undefined || row.stored.seq <= view.upTo),
    );
  }

  #find(filter: Filter, view: View): ServedRow[] {
    const found = this.#rows(view).filter((row) => matches(filter, row.event));
    return found.toSorted((a, b) => newestFirst(a.event, b.event)).slice(0, filter.limit);
  }

  #expiring(): ExpiringRow[] {
    return [...this.#tables.served.values(), ...this.#tables.held.values()]
      .filter((row): row is ExpiringRow => row.expiresAt !== undefined)
      .toSorted((a, b) => a.expiresAt - b.expiresAt || newestFirst(b.event, a.event));
  }
}

async function* inSlices<T>(all: readonly T[]): AsyncGenerator<readonly T[]> {
  for (let from = 0; from < all.length; from += SLICE_MAX) yield all.slice(from, from + SLICE_MAX);
}

function bytesOf(id: EventId): number[] {
  const bytes: number[] = [];
  for (let at = 0; at < id.length; at += 2) bytes.push(Number.parseInt(id.slice(at, at + 2), 16));
  return bytes;
}
