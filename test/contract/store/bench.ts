import type { TestContext } from "vitest";
import { instant, unixSeconds } from "../../../src/base/time.ts";
import { type EventId, eventText, type VerifiedEvent } from "../../../src/nostr/event.ts";
import type { Filter } from "../../../src/nostr/filter.ts";
import type { Batch, Change } from "../../../src/store/batch.ts";
import {
  type Feed,
  type FeedChange,
  type Items,
  type Reader,
  type Seq,
  type StoredEvent,
  seq,
  type View,
  type Writer,
} from "../../../src/store/event-store.ts";
import type { HeldReader } from "../../../src/store/held.ts";

/** A store that is open, and empty when `open` made it. */
export interface OpenStore {
  readonly reader: Reader;
  readonly writer: Writer;
  readonly feed: Feed;
  /** What was committed; a transaction has its own. */
  readonly held: HeldReader;
  close(): Promise<void>;
  /** Closes this one and opens what it left behind; absent where nothing is left behind. Close what it returns, not this. */
  readonly reopen?: () => Promise<OpenStore>;
}

export type OpenFunction = () => Promise<OpenStore>;

/** A test body with a store of its own, closed in any case. */
export function withStore(open: OpenFunction, body: (store: OpenStore) => Promise<void>): () => Promise<void> {
  return async () => {
    const store = await open();
    try {
      await body(store);
    } finally {
      await store.close();
    }
  };
}

/** The same for what must outlive a closed store: `before` writes, `after` looks at what is left. */
export function acrossReopen<T>(
  open: OpenFunction,
  before: (store: OpenStore) => Promise<T>,
  after: (store: OpenStore, kept: T) => Promise<void>,
): (context: TestContext) => Promise<void> {
  return async (context) => {
    const first = await open();
    if (first.reopen === undefined) {
      await first.close();
      context.skip("nothing outlives this store");
    } else {
      const kept = await before(first);
      const second = await first.reopen();
      try {
        await after(second, kept);
      } finally {
        await second.close();
      }
    }
  };
}

/** Before any expiration that a test uses. */
export const EARLY: View = { now: unixSeconds(0) };

type Put = Extract<Change, { kind: "put" }>;

export function put(event: VerifiedEvent, more: { readonly expiresAt?: number; readonly provenance?: Put["provenance"] } = {}): Put {
  const expiresAt = more.expiresAt === undefined ? undefined : unixSeconds(more.expiresAt);
  return { kind: "put", event, text: eventText(event), expiresAt, provenance: more.provenance ?? { how: "direct" } };
}

type Hold = Extract<Change, { kind: "hold" }>;

/** What it is follows from its kind, unless the test says otherwise. */
export function hold(event: VerifiedEvent, more: Partial<Omit<Hold, "kind" | "event" | "text">> = {}): Hold {
  const what = event.kind === 30_617 ? "announcement" : event.kind === 30_618 ? "state" : "pull-request";
  const rest = {
    what,
    repositories: [],
    heldAt: instant(1000),
    until: instant(2000),
    expiresAt: undefined,
    provenance: { how: "direct" },
  } as const;
  return { kind: "hold", event, text: eventText(event), ...rest, ...more };
}

export const remove = (...events: readonly { readonly id: EventId }[]): Batch => events.map(({ id }) => ({ kind: "remove", id }));

export const apply = (store: OpenStore, batch: Batch): Promise<readonly FeedChange[]> => store.writer.transact((tx) => tx.apply(batch));

export const serve = (store: OpenStore, ...events: readonly VerifiedEvent[]): Promise<readonly FeedChange[]> =>
  apply(
    store,
    events.map((event) => put(event)),
  );

export async function gather<T>(slices: AsyncIterable<readonly T[]>): Promise<T[]> {
  const all: T[] = [];
  for await (const slice of slices) all.push(...slice);
  return all;
}

export const query = (store: OpenStore, filter: Filter, view: View = EARLY): Promise<StoredEvent[]> =>
  gather(store.reader.query(filter, view));

/** The ids that a filter finds, in their order. */
export async function found(store: OpenStore, filter: Filter, view: View = EARLY): Promise<EventId[]> {
  return (await query(store, filter, view)).map((event) => event.id);
}

export const feedAfter = (store: OpenStore, after: Seq = seq(0)): Promise<FeedChange[]> => gather(store.feed.read(after));

export function idsOf(items: Items): EventId[] {
  const hex = Buffer.from(items.ids.buffer, items.ids.byteOffset, items.length * 32).toString("hex");
  return (hex.match(/.{64}/g) ?? []) as EventId[];
}

export const ids = (...events: readonly { readonly id: EventId }[]): EventId[] => events.map((event) => event.id);
export const sorted = <T extends string>(list: readonly T[]): T[] => list.toSorted();
