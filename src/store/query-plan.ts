import type { NostrEvent, PublicKey } from "../nostr/event.ts";
import { type Filter, matches } from "../nostr/filter.ts";
import { authorKey, authorKindKey, type KeySeed, kindKey, TIME_KEY, tagKey } from "./keys.ts";
import { PUBKEY_AT } from "./stored-text.ts";

/** One posting list to read, and how to see on an event's text (`eventText`) that it is not there by a shared hash. */
export interface Term {
  readonly key: number;
  /** Must occur in the text of every true hit; `undefined` when the key is exact. */
  readonly needle: string | undefined;
  /** Where it must occur; `undefined`: anywhere. */
  readonly at: number | undefined;
}

/** Is an event with this text really one of the term's, or does it only share the hash? */
export const isTrueHit = ({ needle, at }: Term, text: string): boolean =>
  needle === undefined || (at === undefined ? text.includes(needle) : text.startsWith(needle, at));

/** A way to answer a filter: lists that together hold every match. */
export interface Driver {
  readonly name: "tag" | "author+kind" | "author" | "kind" | "time";
  readonly terms: readonly Term[];
  /** Kinds that a posting must have: known without reading the event. */
  readonly kinds: ReadonlySet<number> | undefined;
  /** What remains to be asked of the event itself; `undefined` when the lists say it all. */
  readonly rest: ((event: NostrEvent) => boolean) | undefined;
}

/** Beyond this, one list per author and kind would be more lists than reading the authors' own and looking at the kind. */
const AUTHOR_KIND_TERMS_MAX = 256;

/** A stored text has an unescaped quote after `[` only where a tag begins, so this needle tells exactly whether a tag has this name and first value. */
export const tagTerm = (seed: KeySeed, letter: string, value: string): Term => ({
  key: tagKey(seed, letter, value),
  needle: `["${letter}",${JSON.stringify(value)}`,
  at: undefined,
});

const authorTerm = (key: number, author: PublicKey): Term => ({ key, needle: author, at: PUBKEY_AT });
const exactTerm = (key: number): Term => ({ key, needle: undefined, at: undefined });

/**
 * Every sensible driver of a filter without ids. The caller picks the one with the fewest postings; the first is the best guess.
 * An empty list in the filter gives a driver without terms: nothing matches.
 */
export function driversOf(filter: Filter, seed: KeySeed): readonly Driver[] {
  const drivers: Driver[] = [];
  const kinds = filter.kinds === undefined ? undefined : new Set(filter.kinds);
  const tags = [...filter.tags].sort((a, b) => a[1].length - b[1].length);
  for (const [letter, values] of tags) {
    drivers.push({
      name: "tag",
      terms: values.map((value) => tagTerm(seed, letter, value)),
      kinds,
      rest: filter.authors === undefined && filter.tags.size === 1 ? undefined : (event) => matches(filter, event),
    });
  }
  const authorRest = filter.tags.size === 0 ? undefined : (event: NostrEvent) => matches(filter, event);
  if (filter.authors !== undefined) {
    const { authors } = filter;
    if (filter.kinds !== undefined && authors.length * filter.kinds.length <= AUTHOR_KIND_TERMS_MAX) {
      const terms = filter.kinds.flatMap((kind) => authors.map((author) => authorTerm(authorKindKey(seed, author, kind), author)));
      drivers.push({ name: "author+kind", terms, kinds: undefined, rest: authorRest });
    } else {
      drivers.push({
        name: "author",
        terms: authors.map((author) => authorTerm(authorKey(seed, author), author)),
        kinds,
        rest: authorRest,
      });
    }
  }
  if (drivers.length > 0) return drivers;
  if (filter.kinds !== undefined) {
    return [{ name: "kind", terms: filter.kinds.map((kind) => exactTerm(kindKey(kind))), kinds: undefined, rest: undefined }];
  }
  return [{ name: "time", terms: [exactTerm(TIME_KEY)], kinds: undefined, rest: undefined }];
}
