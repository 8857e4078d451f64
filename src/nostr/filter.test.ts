import { describe, expect, test } from "vitest";
import { fakeEvent, fakeId, fakeKey } from "../../test/kit/arbitrary/fake-event.ts";
import { type Filter, matches } from "./filter.ts";
import { readFilter } from "./read-filter.ts";

const event = fakeEvent({
  pubkey: fakeKey("alice"),
  kind: 1621,
  created_at: 50,
  tags: [["a", "x", "second"], ["a", "y"], ["t"], ["tt", "z"]],
});
const filter = (value: object): Filter => readFilter(value) as Filter;

describe("NIP-01: an event passes a filter", () => {
  test.each<[string, object, boolean]>([
    ["the empty filter", {}, true],
    ["its id", { ids: [fakeId("other"), event.id] }, true],
    ["another id", { ids: [fakeId("other")] }, false],
    ["its author", { authors: [fakeKey("alice")] }, true],
    ["another author", { authors: [fakeKey("bob")] }, false],
    ["its kind", { kinds: [1, 1621] }, true],
    ["another kind", { kinds: [1] }, false],
    ["since is inclusive", { since: 50 }, true],
    ["since later", { since: 51 }, false],
    ["until is inclusive", { until: 50 }, true],
    ["until earlier", { until: 49 }, false],
    ["one of several tags", { "#a": ["y"] }, true],
    ["only the first value of a tag counts", { "#a": ["second"] }, false],
    ["a tag without value", { "#t": [""] }, false],
    ["letters have case", { "#A": ["x"] }, false],
    ["two letters are no condition on one", { "#t": ["z"] }, false],
    ["all conditions must hold", { kinds: [1621], "#a": ["x"], authors: [fakeKey("bob")] }, false],
    ["an empty list matches nothing", { kinds: [] }, false],
    ["an empty tag list matches nothing", { "#a": [] }, false],
    ["limit is no condition", { limit: 0 }, true],
  ])("%s", (_, value, expected) => {
    expect(matches(filter(value), event)).toBe(expected);
  });
});
