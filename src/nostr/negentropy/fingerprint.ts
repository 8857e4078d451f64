import { hash } from "node:crypto";
import { ID_BYTES } from "./bound.ts";
import type { ItemSet } from "./items.ts";
import { VARINT_BYTES_MAX, writeVarint } from "./varint.ts";

export const FINGERPRINT_BYTES = 16;

// One buffer for every call: nothing here waits, so no two calls can meet in it.
const input = new Uint8Array(ID_BYTES + VARINT_BYTES_MAX);
const sum = new Uint32Array(input.buffer, 0, ID_BYTES / 4);

/** NIP-77: the sum of the ids modulo 2^256 (little-endian) and their count, hashed, first 16 bytes. */
export function fingerprint(items: ItemSet, low: number, high: number): Uint8Array {
  items.sum(low, high, sum);
  const end = writeVarint(input, ID_BYTES, high - low);
  return hash("sha256", input.subarray(0, end), "buffer").subarray(0, FINGERPRINT_BYTES);
}

export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}
