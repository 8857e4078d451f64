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
}

/** A set costs more to make than a few comparisons to do. */
const SET_FROM = 8;

/**
 * Which subscriptions want an event, without asking each of them. A filter is filed under every value of its most selective condition (ids, else a tag,
 * else authors, else kinds, else with those that want anything); an event looks under its own id, tags, author and kind and finds all that may match.
 */
export class SubscriptionIndex<L extends Listener> {
  readonly #byId = new Map<string, Set<Entry<L>>>();
  readonly #byTag = new Map<string, Set<Entry<L>>>();
  readonly #byAuthor = new Map<string, Set<Entry<L>>>();
  readonly #byKind = new Map<number, Set<Entry<L>>>();
  readonly #any = new Set<Entry<L>>();
  readonly #places = new Map<L, (() => void)[]>();
  #match = 0;

  get size(): number {
    return this.#places.size;
  }

  add(listener: L, filters: readonly Filter[]): void {
    const undo: (() => void)[] = [];
    for (const filter of filters) {
      const entry = { listener, accepts: compile(filter) };
      if (filter.ids !== undefined) file(this.#byId, filter.ids, entry, undo);
      else if (filter.tags.size > 0) {
        const [letter, values] = [...filter.tags].reduce((best, tag) => (tag[1].length < best[1].length ? tag : best));
        file(
          this.#byTag,
          values.map((value) => letter + value),
          entry,
          undo,
        );
      } else if (filter.authors !== undefined) file(this.#byAuthor, filter.authors, entry, undo);
      else if (filter.kinds !== undefined) file(this.#byKind, filter.kinds, entry, undo);
      else {
        this.#any.add(entry);
        undo.push(() => this.#any.delete(entry));
      }
    }
    this.#places.set(listener, undo);
  }

  remove(listener: L): void {
    for (const undo of this.#places.get(listener) ?? []) undo();
    this.#places.delete(listener);
  }

  /** Calls `deliver` once for every subscription that this event matches. */
  match(event: NostrEvent, deliver: (listener: L) => void): void {
    if (this.#places.size === 0) return;
    const match = ++this.#match;
    const ask = (entries: Set<Entry<L>> | undefined) => {
      if (entries === undefined) return;
      for (const { listener, accepts } of entries) {
        if (listener.lastMatch === match || !accepts(event)) continue;
        listener.lastMatch = match;
        deliver(listener);
      }
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

function file<K, L extends Listener>(map: Map<K, Set<Entry<L>>>, keys: readonly K[], entry: Entry<L>, undo: (() => void)[]): void {
  for (const key of keys) {
    let entries = map.get(key);
    if (entries === undefined) {
      entries = new Set();
      map.set(key, entries);
    }
    entries.add(entry);
  }
  undo.push(() => {
    for (const key of keys) {
      const entries = map.get(key);
      entries?.delete(entry);
      if (entries?.size === 0) map.delete(key);
    }
  });
}

const among = <T>(values: readonly T[]): ((value: T) => boolean) => {
  if (values.length < SET_FROM) return (value) => values.includes(value);
  const set = new Set(values);
  return (value) => set.has(value);
};

/** The same answer as `matches()`, prepared for being asked often. */
export function compile(filter: Filter): (event: NostrEvent) => boolean {
  const isId = filter.ids === undefined ? undefined : among(filter.ids);
  const isAuthor = filter.authors === undefined ? undefined : among(filter.authors);
  const isKind = filter.kinds === undefined ? undefined : among(filter.kinds);
  const tags = [...filter.tags].map(([letter, values]) => ({ letter, has: among(values) }));
  const { since, until } = filter;
  return (event) => {
    if (isKind !== undefined && !isKind(event.kind)) return false;
    if (isAuthor !== undefined && !isAuthor(event.pubkey)) return false;
    if (isId !== undefined && !isId(event.id)) return false;
    if (since !== undefined && event.created_at < since) return false;
    if (until !== undefined && event.created_at > until) return false;
    return tags.every(({ letter, has }) => event.tags.some((tag) => tag[0] === letter && tag[1] !== undefined && has(tag[1])));
  };
}
