import type { Brand } from "../base/brand.ts";
import type { Instant, UnixSeconds } from "../base/time.ts";
import type { EventId, NostrEvent, PublicKey } from "../nostr/event.ts";
import type { Filter } from "../nostr/filter.ts";
import type { Address, Version } from "../nostr/replaceable.ts";
import type { Awaitable } from "./awaitable.ts";
import type { Batch } from "./batch.ts";
import type { HeldReader } from "./held.ts";
import type { Provenance } from "./provenance.ts";

/** The number of a change to what is served or in purgatory, from 1 on: they grow by one, none is left out. What is remembered about requests takes none. */
export type Seq = Brand<number, "Seq">;
export const seq = (n: number): Seq => n as Seq;

export type { Awaitable };

/** An event as it is served. `text` is its JSON, ready to be sent. */
export interface StoredEvent {
  /** The change that served it. */
  readonly seq: Seq;
  readonly id: EventId;
  readonly createdAt: UnixSeconds;
  readonly text: string;
}

export interface View {
  /** Events that expired by then are not seen (NIP-40). */
  readonly now: UnixSeconds;
  /** Events that were served by a later change are not seen; absent: all. */
  readonly upTo?: Seq | undefined;
}

/** Events as (time, id) pairs in negentropy's order: `created_at` ascending, ties by id ascending. */
export interface Items {
  readonly length: number;
  readonly createdAt: Float64Array;
  /** 32 bytes an item, one after the other. */
  readonly ids: Uint8Array;
}

/** What anybody may ask. No answer shows anything that is not served. */
export interface Reader {
  /**
   * Newest first, ties by lower id; at most `filter.limit` in all (absent: every match). They come in slices, each the work of a few milliseconds,
   * so that the caller can look after others between two of them. Stop early by leaving the loop.
   */
  query(filter: Filter, view: View): AsyncIterable<readonly StoredEvent[]>;
  /** How many served events match at least one filter. `limit` does not count. */
  count(filters: readonly Filter[], view: View): Promise<number>;
  /** At most `max` and one more, so that the caller sees when there are too many; absent: all. `limit` does not count. */
  items(filter: Filter, view: View, max?: number): Promise<Items>;
  provenance(id: EventId): Promise<Provenance | undefined>;
  /** The newest change. */
  head(): Promise<Seq>;
}

/** A deletion or vanish request as it is remembered. */
export interface Gate {
  readonly request: EventId;
  readonly author: PublicKey;
  readonly seenAt: Instant;
  readonly lastUsedAt: Instant | undefined;
  /** Of a request to vanish (NIP-62): everything of the key up to this time goes. */
  readonly vanishUntil: UnixSeconds | undefined;
  /** The request event is itself still served. */
  readonly served: boolean;
}

/** What a decision may look at, inside the transaction that will carry it out: served means until it is removed, expired or not. */
export interface Transaction {
  /** What is kept and not served, as this transaction has it by now. */
  readonly held: HeldReader;
  serves(id: EventId): Awaitable<boolean>;
  /** The served event that holds this address. */
  incumbent(address: Address): Awaitable<Version | undefined>;
  /**
   * The request that shuts this event out: used before unused, then the earliest seen, then the lowest id. Kinds 5 and 62 cannot be deleted (NIP-09,
   * NIP-62), so only a request to vanish shuts them out.
   */
  gateFor(event: NostrEvent): Awaitable<Gate | undefined>;
  /** The remembered request of this id. */
  gate(request: EventId): Awaitable<Gate | undefined>;
  /**
   * What a request to vanish has left to do, in any order, at most `max`: served and held events up to its time that are its author's, or gift wraps to
   * that key (NIP-62). The request itself stays. A request to delete has nothing of this.
   */
  toVanish(gate: Pick<Gate, "request" | "author" | "vanishUntil">, max: number): Awaitable<readonly EventId[]>;
  /** Those of `ids` that are served and by this author, each once, in any order. */
  ownServed(author: PublicKey, ids: readonly EventId[]): Awaitable<readonly (Version & { readonly kind: number })[]>;
  /** Is one of these events or addresses served, and an anchor (`grasp/anchor.ts`)? */
  servesAny(ids: readonly EventId[], addresses: readonly Address[]): Awaitable<boolean>;
  /** Does a served anchor name this event by `e`, `E`, `q`, or by its address in `a`, `A`, `q`? */
  isNamed(event: NostrEvent): Awaitable<boolean>;
  /** Has this key an anchor served here? */
  hasServed(author: PublicKey): Awaitable<boolean>;
  /** Served events that hold this `d` and kind, newest first, at most `max`. */
  servedByIdentifier(kind: number, d: string, max: number): Awaitable<readonly NostrEvent[]>;
  /** How many remembered requests of this author never removed or refused anything. */
  unusedGates(author: PublicKey): Awaitable<number>;
  /** Carries the batch out, and says which numbered changes it made (put of what is served already, or remove of what is not, makes none). */
  apply(batch: Batch): Awaitable<readonly FeedChange[]>;
}

/** The one writer. */
export interface Writer {
  /** Runs `work` alone; what it applied is durable when the promise resolves, and nothing of it happened when it rejects. */
  transact<T>(work: (tx: Transaction) => Awaitable<T>): Promise<T>;
  /** Served and held events whose time is over, oldest first, at most `max` (NIP-40). */
  expired(now: UnixSeconds, max: number): Promise<readonly EventId[]>;
  /** The earliest `expiration` among what is served or held. */
  nextExpiry(): Promise<UnixSeconds | undefined>;
  /** Remembered requests by ascending id, those after `after`. */
  gates(after: EventId | undefined, max: number): Promise<readonly Gate[]>;
}

/** One line of the feed. */
export type FeedChange =
  | { readonly seq: Seq; readonly change: "served"; readonly event: StoredEvent }
  /** Kept and not served: for indexes of our own, never for broadcast (grasp.md 8.4). */
  | { readonly seq: Seq; readonly change: "held"; readonly id: EventId; readonly createdAt: UnixSeconds; readonly text: string }
  /** Served or held by this change, and no longer so: the number is kept so that nobody mistakes it for a hole. */
  | { readonly seq: Seq; readonly change: "passed"; readonly id: EventId }
  | { readonly seq: Seq; readonly change: "removed"; readonly id: EventId };

/** Changes in order, without a hole: what broadcast, indexes and metrics read. */
export interface Feed {
  /** The changes after `after`, in slices, up to the newest at the time of the call. */
  read(after: Seq): AsyncIterable<readonly FeedChange[]>;
}
