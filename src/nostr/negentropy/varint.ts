import type { Flaw } from "./problem.ts";

/** `1 + offset` for the largest `created_at` (2^53-1); still exact as a number. Bit operators would cut at 2^31, so there are none here. */
export const VARINT_MAX = 2 ** 53;
/** The most bytes that a number up to VARINT_MAX takes. */
export const VARINT_BYTES_MAX = 8;

/** The largest value that can take one more digit, if that digit is 0. */
const APPENDABLE_MAX = VARINT_MAX / 128;

/** A place in a message. */
export interface Cursor {
  readonly bytes: Uint8Array;
  at: number;
}

/** The number at the cursor, which moves behind it; or what is wrong with it. */
export function readVarint(cursor: Cursor): number | Flaw {
  const { bytes } = cursor;
  const first = bytes[cursor.at];
  if (first === undefined) return "truncated";
  cursor.at += 1;
  if (first < 128) return first;
  if (first === 128) return "number-padded";
  let value = first - 128;
  for (;;) {
    const byte = bytes[cursor.at];
    if (byte === undefined) return "truncated";
    cursor.at += 1;
    const digit = byte < 128 ? byte : byte - 128;
    if (value > APPENDABLE_MAX || (value === APPENDABLE_MAX && digit > 0)) return "number-too-large";
    value = value * 128 + digit;
    if (byte < 128) return value;
  }
}

export function varintBytes(value: number): number {
  let bytes = 1;
  for (let rest = value; rest >= 128; rest = Math.floor(rest / 128)) bytes += 1;
  return bytes;
}

/** Writes `value` (a whole number from 0 to VARINT_MAX) and returns the place behind it. */
export function writeVarint(into: Uint8Array, at: number, value: number): number {
  const end = at + varintBytes(value);
  let rest = value;
  for (let i = end - 1; i >= at; i -= 1) {
    const above = Math.floor(rest / 128);
    into[i] = rest - above * 128 + (i === end - 1 ? 0 : 128);
    rest = above;
  }
  return end;
}
