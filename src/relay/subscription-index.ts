import type { NostrEvent } from "../nostr/event.ts";
import type { Filter } from "../nostr/filter.ts";

/** A subscription as the index knows it: whose it is does not matter here. */
export interface Listener {
  /** The last event that was handed to it; a subscription with several filters is found more than once and served once. */
  lastMatch: number;
}

interface Entry<L extends Listener> {
  readonly listener: L;
  readonly accepts: (event: NostrEvent) => boolean;
  /** Where it is filed, so that it can be taken out again; nowhere: with those that want anything. */
  readonly lists: Lists<L> | undefined;
  readonly keys: readonly unknown[];
}

/** Most values are asked for by one subscription alone, and a set for each would cost more than the entry. */
type Lists<L extends Listener> = Map<unknown, Entry<L> | Set<Entry<L>>>;

const NO_KEYS: readonly unknown[] = [];

/** A set costs more to make than a few comparisons to do. */
const SET_FROM = 8;

/**
 * Which subscriptions want an event, without asking each of them. A filter is filed under every value of its most selective condition (ids, else a tag,
 * else authors, else kinds, else with those that want anything); an event looks under its own id, tags, author and kind and finds all that may match.
 */
export class SubscriptionIndex<L extends Listener> {
  readonly #byId: Lists<L> = new Map();
  readonly #byTag: Lists<L> = new Map();
  readonly #byAuthor: Lists<L> = new Map();
  readonly #byKind: Lists<L> = new Map();
  readonly #any = new Set<Entry<L>>();
  readonly #filed = new Map<L, readonly Entry<L>[]>();
  #match = 0;

  get size(): number {
    return this.#filed.size;
  }

  add(listener: L, filters: readonly Filter[]): void {
    const entries = filters.map((filter) => this.#entryFor(listener, filter));
    for (const entry of entries) {
      if (entry.lists === undefined) this.#any.add(entry);
      else for (const key of entry.keys) file(entry.lists, key, entry);
    }
    this.#filed.set(listener, entries);
  }

  remove(listener: L): void {
    for (const entry of this.#filed.get(listener) ?? []) {
      if (entry.lists === undefined) this.#any.delete(entry);
      for (const key of entry.keys) {
        const list = entry.lists?.get(key);
        if (list instanceof Set) list.delete(entry);
        if (list === entry || (list instanceof Set && list.size === 0)) entry.lists?.delete(key);
      }
    }
    this.#filed.delete(listener);
  }

  #entryFor(listener: L, filter: Filter): Entry<L> {
    const accepts = compile(filter);
    if (filter.ids !== undefined) return { listener, accepts, lists: this.#byId, keys: filter.ids };
    if (filter.tags.size > 0) {
      const [letter, values] = [...filter.tags].reduce((best, tag) => (tag[1].length < best[1].length ? tag : best));
      return { listener, accepts, lists: this.#byTag, keys: values.map((value) => letter + value) };
    }
    if (filter.authors !== undefined) return { listener, accepts, lists: this.#byAuthor, keys: filter.authors };
    if (filter.kinds !== undefined) return { listener, accepts, lists: this.#byKind, keys: filter.kinds };
    return { listener, accepts, lists: undefined, keys: NO_KEYS };
  }

  /** Calls `deliver` once for every subscription that this event matches. */
  match(event: NostrEvent, deliver: (listener: L) => void): void {
    if (this.#filed.size === 0) return;
    const match = ++this.#match;
    const askOne = ({ listener, accepts }: Entry<L>) => {
      if (listener.lastMatch === match || !accepts(event)) return;
      listener.lastMatch = match;
      deliver(listener);
    };
    const ask = (entries: Entry<L> | Set<Entry<L>> | undefined) => {
      if (entries instanceof Set) for (const entry of entries) askOne(entry);
      else if (entries !== undefined) askOne(entries);
    };
    ask(this.#byId.get(event.id));
    ask(this.#byAuthor.get(event.pubkey));
    ask(this.#byKind.get(event.kind));
    if (this.#byTag.size > 0) {
      for (const [name, value] of event.tags) if (name?.length === 1 && value !== undefined) ask(this.#byTag.get(name + value));
    }
    ask(this.#any);
  }
}

function file<L extends Listener>(lists: Lists<L>, key: unknown, entry: Entry<L>): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, entry);
  else if (list instanceof Set) list.add(entry);
  else if (list !== entry) lists.set(key, new Set([list, entry]));
}

const among = <T>(values: readonly T[]): ((value: T) => boolean) => {
  if (values.length < SET_FROM) return (value) => values.includes(value);
  const set = new Set(values);
  return (value) => set.has(value);
};

const always = (): boolean => true;

/** The same answer as `matches()`, prepared for being asked often. */
export function compile(filter: Filter): (event: NostrEvent) => boolean {
  const { since, until } = filter;
  const isPlain = filter.ids === undefined && filter.authors === undefined && filter.kinds === undefined && filter.tags.size === 0;
  // Who wants everything costs next to nothing, however many there are.
  if (isPlain && since === undefined && until === undefined) return always;
  const isId = filter.ids === undefined ? undefined : among(filter.ids);
  const isAuthor = filter.authors === undefined ? undefined : among(filter.authors);
  const isKind = filter.kinds === undefined ? undefined : among(filter.kinds);
  const tags = [...filter.tags].map(([letter, values]) => ({ letter, has: among(values) }));
  return (event) => {
    if (isKind !== undefined && !isKind(event.kind)) return false;
    if (isAuthor !== undefined && !isAuthor(event.pubkey)) return false;
    if (isId !== undefined && !isId(event.id)) return false;
    if (since !== undefined && event.created_at < since) return false;
    if (until !== undefined && event.created_at > until) return false;
    return tags.every(({ letter, has }) => event.tags.some((tag) => tag[0] === letter && tag[1] !== undefined && has(tag[1])));
  };
}
