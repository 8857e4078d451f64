import type { Filter } from "./filter.ts";

/** All values in all lists: what a subscription index has to hold for it. */
export function filterValues(filter: Filter): number {
  let count = (filter.ids?.length ?? 0) + (filter.authors?.length ?? 0) + (filter.kinds?.length ?? 0);
  for (const values of filter.tags.values()) count += values.length;
  return count;
}

/** The name, quotes, colon, brackets and comma around a list or a number. */
const CONDITION_BYTES = 16;
/** 64 hex digits, two quotes and a comma. */
const HEX_BYTES = 67;
/** Five digits and a comma. */
const KIND_BYTES = 6;

/** About as many bytes as its JSON has, without building it; grasp.md 3.3 bounds the subscription text of a connection. */
export function filterBytes(filter: Filter): number {
  let bytes = 2 + CONDITION_BYTES * conditions(filter);
  bytes += HEX_BYTES * ((filter.ids?.length ?? 0) + (filter.authors?.length ?? 0));
  bytes += KIND_BYTES * (filter.kinds?.length ?? 0);
  for (const values of filter.tags.values()) {
    for (const value of values) bytes += 3 + Buffer.byteLength(value);
  }
  return bytes;
}

function conditions(filter: Filter): number {
  let count = filter.tags.size;
  for (const part of [filter.ids, filter.authors, filter.kinds, filter.since, filter.until, filter.limit]) {
    if (part !== undefined) count += 1;
  }
  return count;
}

/** No event can ever match it, so it costs neither a look-up nor a place in an index. */
export function matchesNothing(filter: Filter): boolean {
  if (filter.ids?.length === 0 || filter.authors?.length === 0 || filter.kinds?.length === 0) return true;
  for (const values of filter.tags.values()) if (values.length === 0) return true;
  return filter.since !== undefined && filter.until !== undefined && filter.since > filter.until;
}

/** How many index ranges a careful reader opens for it: those of its shortest list, or one scan over time when it has none. */
export function filterRanges(filter: Filter): number {
  if (matchesNothing(filter)) return 0;
  let ranges = Number.POSITIVE_INFINITY;
  for (const list of [filter.ids, filter.authors, filter.kinds, ...filter.tags.values()]) {
    if (list !== undefined && list.length < ranges) ranges = list.length;
  }
  return ranges === Number.POSITIVE_INFINITY ? 1 : ranges;
}

/** True when only time bounds it: such a filter may walk through everything that is served. */
export function isUnselective(filter: Filter): boolean {
  return filter.ids === undefined && filter.authors === undefined && filter.kinds === undefined && filter.tags.size === 0;
}
