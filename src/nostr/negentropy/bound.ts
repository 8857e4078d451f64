import type { Flaw } from "./problem.ts";
import { type Cursor, readVarint, VARINT_BYTES_MAX, writeVarint } from "./varint.ts";

export const ID_BYTES = 32;

/** A place between items: before every item of this time whose id is not below the prefix (absent bytes count as 0). */
export interface Bound {
  /** Seconds, or `Infinity` behind every item. */
  readonly timestamp: number;
  readonly prefix: Uint8Array;
}

const NO_PREFIX = new Uint8Array(0);

export const ORIGIN: Bound = { timestamp: 0, prefix: NO_PREFIX };
export const INFINITE: Bound = { timestamp: Number.POSITIVE_INFINITY, prefix: NO_PREFIX };
export const timeBound = (timestamp: number): Bound => ({ timestamp, prefix: NO_PREFIX });

/** The most bytes a bound takes. */
export const BOUND_BYTES_MAX = VARINT_BYTES_MAX + 1 + ID_BYTES;

/** Negative when `a` lies before `b`, 0 when they are the same place. */
export function compareBounds(a: Bound, b: Bound): number {
  if (a.timestamp !== b.timestamp) return a.timestamp < b.timestamp ? -1 : 1;
  const length = Math.max(a.prefix.length, b.prefix.length);
  for (let i = 0; i < length; i += 1) {
    const difference = (a.prefix[i] ?? 0) - (b.prefix[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Reads a bound whose time is told relative to `previous`, the bound before it in the message. */
export function readBound(cursor: Cursor, previous: Bound): Bound | Flaw {
  const encoded = readVarint(cursor);
  if (typeof encoded === "string") return encoded;
  const length = readVarint(cursor);
  if (typeof length === "string") return length;
  if (length > ID_BYTES) return "prefix-too-long";
  if (cursor.bytes.length - cursor.at < length) return "truncated";
  // A copy (a Buffer's slice would not be one), because a kept bound must not keep a peer's whole message alive.
  const prefix = length === 0 ? NO_PREFIX : new Uint8Array(cursor.bytes.subarray(cursor.at, cursor.at + length));
  cursor.at += length;
  if (encoded === 0) return { timestamp: Number.POSITIVE_INFINITY, prefix };
  if (previous.timestamp === Number.POSITIVE_INFINITY) return "after-infinity";
  const timestamp = previous.timestamp + (encoded - 1);
  return timestamp > Number.MAX_SAFE_INTEGER ? "number-too-large" : { timestamp, prefix };
}

/** Writes `bound` and returns the place behind it; `previous` is the bound before it in the message. */
export function writeBound(into: Uint8Array, at: number, bound: Bound, previous: Bound): number {
  const encoded = bound.timestamp === Number.POSITIVE_INFINITY ? 0 : 1 + (bound.timestamp - previous.timestamp);
  const lengthAt = writeVarint(into, at, encoded);
  const prefixAt = writeVarint(into, lengthAt, bound.prefix.length);
  into.set(bound.prefix, prefixAt);
  return prefixAt + bound.prefix.length;
}
