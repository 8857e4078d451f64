import { type Bound, compareBounds } from "./bound.ts";
import { LISTED_BELOW } from "./split.ts";

/** A stretch in which the two sets are known to differ, or not known to agree; `low` and `high` are its place among our items. */
export interface Region {
  readonly lower: Bound;
  readonly upper: Bound;
  readonly low: number;
  readonly high: number;
}

/** Do we ask about it with the ids we have there, rather than with fingerprints? */
export const isListed = (region: Region): boolean => region.high - region.low < LISTED_BELOW;

/** Does `a` end before `b` begins, or just there? */
export const endsBefore = (a: Region, b: Region): boolean => compareBounds(a.upper, b.lower) <= 0;

/** What two stretches share, or undefined. */
export function overlap(a: Region, b: Region): Region | undefined {
  const first = compareBounds(a.lower, b.lower) < 0 ? b : a;
  const last = compareBounds(a.upper, b.upper) < 0 ? a : b;
  if (compareBounds(first.lower, last.upper) >= 0) return undefined;
  return { lower: first.lower, upper: last.upper, low: first.low, high: last.high };
}

export const within = (inner: Region, outer: Region): boolean =>
  compareBounds(outer.lower, inner.lower) <= 0 && compareBounds(inner.upper, outer.upper) <= 0;

/** Adds a region behind the others. Neighbours that would be told id by id anyway become one. */
export function push(regions: Region[], region: Region): void {
  const last = regions.at(-1);
  if (last !== undefined && region.high - last.low < LISTED_BELOW && compareBounds(last.upper, region.lower) === 0) {
    regions[regions.length - 1] = { lower: last.lower, upper: region.upper, low: last.low, high: region.high };
  } else {
    regions.push(region);
  }
}
