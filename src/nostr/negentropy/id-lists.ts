import { ID_BYTES } from "./bound.ts";
import type { IdPile } from "./id-pile.ts";
import type { ItemSet } from "./items.ts";
import type { Region } from "./region.ts";

/** Compares all ids they have in `span` with ours: `parts` are the stretches of it in which we want to know what they lack. */
export function compareLists(items: ItemSet, span: Region, parts: readonly Region[], theirs: Uint8Array, have: IdPile, need: IdPile): void {
  let low = span.low;
  let high = span.high;
  let from = 0;
  let to = theirs.length;
  // Both lists are in the same order: without what they begin and end with in common, mostly next to nothing is left.
  while (low < high && from < to && sameId(items.ids, low * ID_BYTES, theirs, from)) {
    low += 1;
    from += ID_BYTES;
  }
  while (low < high && from < to && sameId(items.ids, (high - 1) * ID_BYTES, theirs, to - ID_BYTES)) {
    high -= 1;
    to -= ID_BYTES;
  }

  const places = new Map<string, number>();
  for (let at = from; at < to; at += ID_BYTES) places.set(key(theirs, at), at);
  for (const part of parts) {
    const partLow = Math.max(low, part.low);
    const partHigh = Math.min(high, part.high);
    if (places.size === 0 && partLow < partHigh) {
      have.add(items.idBytes(partLow, partHigh));
      continue;
    }
    for (let i = partLow; i < partHigh; i += 1) {
      if (!places.delete(key(items.ids, i * ID_BYTES))) have.add(items.idBytes(i, i + 1));
    }
  }
  for (const at of places.values()) need.add(theirs.subarray(at, at + ID_BYTES));
}

const key = (ids: Uint8Array, at: number): string => Buffer.from(ids.buffer, ids.byteOffset + at, ID_BYTES).toString("latin1");

function sameId(a: Uint8Array, aAt: number, b: Uint8Array, bAt: number): boolean {
  for (let i = 0; i < ID_BYTES; i += 1) if (a[aAt + i] !== b[bAt + i]) return false;
  return true;
}
