import { describe, expect, test } from "vitest";
import { fakeId, fakeKey } from "../../test/kit/arbitrary/fake-event.ts";
import type { Filter } from "./filter.ts";
import { filterBytes, filterRanges, filterValues, isUnselective, matchesNothing } from "./filter-limits.ts";
import { filterText } from "./filter-text.ts";
import { readFilter } from "./read-filter.ts";

const filter = (value: object): Filter => readFilter(value) as Filter;
const many = Array.from({ length: 200 }, (_, n) => fakeId(n));

describe("grasp.md 3.3: what a filter costs", () => {
  test("values of all lists are counted", () => {
    expect(filterValues(filter({}))).toBe(0);
    expect(filterValues(filter({ ids: many, authors: [fakeKey(1)], kinds: [1, 2], "#t": ["a", "b"], "#d": ["c"], limit: 5 }))).toBe(206);
  });

  test.each([
    ["empty", {}],
    ["ids", { ids: many }],
    ["words", { "#t": ["ü".repeat(1_000), "😀".repeat(500)], "#d": ["x"] }],
    ["all", { ids: many, authors: [fakeKey(1)], kinds: [1, 30_617], "#t": ["a"], since: 1_700_000_000, until: 1_800_000_000, limit: 500 }],
  ])("bytes are those of its text, nearly: %s", (_, value) => {
    const truth = Buffer.byteLength(filterText(filter(value)));
    expect(Math.abs(filterBytes(filter(value)) - truth)).toBeLessThan(64 + truth * 0.05);
  });

  test.each<[object, boolean]>([
    [{}, false],
    [{ limit: 0 }, false],
    [{ ids: [] }, true],
    [{ authors: [] }, true],
    [{ kinds: [] }, true],
    [{ "#t": ["x"], "#d": [] }, true],
    [{ since: 5, until: 5 }, false],
    [{ since: 6, until: 5 }, true],
  ])("%o matches nothing: %s", (value, expected) => {
    expect(matchesNothing(filter(value))).toBe(expected);
  });

  test("ranges are those of the shortest list", () => {
    expect(filterRanges(filter({}))).toBe(1);
    expect(filterRanges(filter({ ids: many, kinds: [1, 2, 3], "#t": ["a", "b"] }))).toBe(2);
    expect(filterRanges(filter({ kinds: [] }))).toBe(0);
  });

  test("unselective: bounded by time alone", () => {
    expect(isUnselective(filter({ since: 5, limit: 3 }))).toBe(true);
    for (const value of [{ ids: [] }, { authors: [] }, { kinds: [1] }, { "#t": ["x"] }]) expect(isUnselective(filter(value))).toBe(false);
  });
});
