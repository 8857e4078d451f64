import type { EventId, NostrEvent, PublicKey } from "../nostr/event.ts";
import { type Address, addressOf } from "../nostr/replaceable.ts";

/**
 * Every index of the disk store is a *posting list*: a key, and below it the events that have it, newest first. One table holds them all, so that an
 * event costs one kind of write and a filter one kind of read. Kinds and time have keys of their own; authors, addresses and tag values, which strangers
 * choose, are hashed to 47 bits (SQLite stores such an integer in six bytes) with a seed that only this store knows. Two values may share a key:
 * whoever reads a list looks at the event as well.
 */
export const TIME_KEY = 65_536;
const HASHED_FROM = 131_072;

export interface KeySeed {
  readonly a: number;
  readonly b: number;
}

const DIMENSION = { author: 1, authorKind: 2, address: 3, tag: 4 } as const;

function hash(seed: KeySeed, dimension: number, first: string, second: string): number {
  let h1 = seed.a ^ dimension;
  let h2 = seed.b ^ Math.imul(dimension, 0x9e3779b1);
  for (let i = 0; i < first.length; i++) {
    const c = first.charCodeAt(i);
    h1 = Math.imul(h1 ^ c, 2_654_435_761);
    h2 = Math.imul(h2 ^ c, 1_597_334_677);
  }
  h1 = Math.imul(h1 ^ 0x1ffff, 2_654_435_761);
  h2 = Math.imul(h2 ^ 0x1ffff, 1_597_334_677);
  for (let i = 0; i < second.length; i++) {
    const c = second.charCodeAt(i);
    h1 = Math.imul(h1 ^ c, 2_654_435_761);
    h2 = Math.imul(h2 ^ c, 1_597_334_677);
  }
  h1 = Math.imul(h1 ^ (h1 >>> 16), 2_246_822_507) ^ Math.imul(h2 ^ (h2 >>> 13), 3_266_489_909);
  h2 = Math.imul(h2 ^ (h2 >>> 16), 2_246_822_507) ^ Math.imul(h1 ^ (h1 >>> 13), 3_266_489_909);
  const key = (h2 & 0x7fff) * 4_294_967_296 + (h1 >>> 0);
  return key < HASHED_FROM ? key + HASHED_FROM : key;
}

export const kindKey = (kind: number): number => kind;
export const authorKey = (seed: KeySeed, author: PublicKey): number => hash(seed, DIMENSION.author, author, "");
export const authorKindKey = (seed: KeySeed, author: PublicKey, kind: number): number =>
  hash(seed, DIMENSION.authorKind, author, `${kind}`);
export const tagKey = (seed: KeySeed, letter: string, value: string): number => hash(seed, DIMENSION.tag, letter, value);
export const addressKey = (seed: KeySeed, address: Address): number =>
  hash(seed, DIMENSION.address, address.pubkey, `${address.kind}:${address.d}`);

const ID_RANK_MAX = 2 ** 47 - 1;

/**
 * The first 47 bits of an id, turned round: lists are read backwards (newest first), and with this beside the time, ties come out lowest id first, as
 * NIP-01 wants it.
 */
export function idRank(id: EventId): number {
  return ID_RANK_MAX - Math.floor(Number.parseInt(id.slice(0, 12), 16) / 2);
}

/** NIP-01: single-letter tags are indexed, by their first value. */
export const isIndexedTag = (name: string | undefined): name is string =>
  name !== undefined && name.length === 1 && /^[a-zA-Z]$/.test(name);

/** The keys of every list that an event stands in, each once. */
export function postingKeys(seed: KeySeed, event: NostrEvent): number[] {
  const keys = [TIME_KEY, kindKey(event.kind), authorKey(seed, event.pubkey), authorKindKey(seed, event.pubkey, event.kind)];
  const address = addressOf(event);
  if (address !== undefined) keys.push(addressKey(seed, address));
  const fixed = keys.length;
  for (const tag of event.tags) {
    const value = tag[1];
    if (value !== undefined && isIndexedTag(tag[0])) keys.push(tagKey(seed, tag[0], value));
  }
  return keys.length - fixed < 2 ? keys : [...new Set(keys)];
}
