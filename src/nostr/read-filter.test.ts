import { describe, expect, test } from "vitest";
import { fakeId, fakeKey } from "../../test/kit/arbitrary/fake-event.ts";
import { filterText } from "./filter-text.ts";
import { isFilterProblem, readFilter, readFilters } from "./read-filter.ts";

const id = fakeId("x");
const key = fakeKey("alice");

describe("NIP-01: filters", () => {
  test("every condition is read, values said twice once", () => {
    const value = {
      ids: [id, id],
      authors: [key],
      kinds: [1, 30_617, 1],
      "#e": [id],
      "#d": ["", "ü", ""],
      "#Z": [],
      since: 0,
      until: 2 ** 53 - 1,
      limit: 0,
    };
    expect(readFilter(value)).toEqual({
      ids: [id],
      authors: [key],
      kinds: [1, 30_617],
      tags: new Map([
        ["e", [id]],
        ["d", ["", "ü"]],
        ["Z", []],
      ]),
      since: 0,
      until: 2 ** 53 - 1,
      limit: 0,
    });
  });

  test("an absent condition stays absent, an empty list stays a list", () => {
    expect(readFilter({})).toEqual({ tags: new Map() });
    expect(readFilter({ ids: [], authors: [], kinds: [] })).toEqual({ ids: [], authors: [], kinds: [], tags: new Map() });
  });

  test.each<[string, unknown]>([
    ["null", null],
    ["a list", []],
    ["a string", "{}"],
    ["ids no list", { ids: id }],
    ["a prefix of an id", { ids: [id.slice(0, 8)] }],
    ["an upper-case id", { ids: [id.toUpperCase()] }],
    ["an author that is no string", { authors: [1] }],
    ["kind as text", { kinds: ["1"] }],
    ["kind 65536", { kinds: [65_536] }],
    ["kind -1", { kinds: [-1] }],
    ["kind 1.5", { kinds: [1.5] }],
    ["since null", { since: null }],
    ["since as text", { since: "1" }],
    ["until negative", { until: -1 }],
    ["until 2^53", { until: 2 ** 53 }],
    ["limit 0.5", { limit: 0.5 }],
    ["limit 1e300", { limit: 1e300 }],
    ["#e not hex", { "#e": ["x"] }],
    ["#p short", { "#p": [key.slice(2)] }],
    ["#t a string", { "#t": "x" }],
    ["#t with a number", { "#t": [1] }],
    ["#t null", { "#t": null }],
  ])("invalid: %s", (_, value) => {
    expect(readFilter(value)).toEqual({ kind: "invalid", text: expect.any(String) });
  });

  test.each(["search", "#tt", "#", "#1", "#é", "Ids", "constructor", "__proto__", "&t"])("unsupported: an element named %s", (name) => {
    expect(readFilter(JSON.parse(`{${JSON.stringify(name)}:["x"]}`))).toEqual({
      kind: "unsupported",
      text: "filter contains unknown elements",
    });
  });

  test("several: all of them or the first problem", () => {
    expect(readFilters([{ kinds: [1] }, {}])).toHaveLength(2);
    expect(readFilters([])).toEqual([]);
    expect(readFilters([{}, { search: "x" }, null])).toMatchObject({ kind: "unsupported" });
  });

  test("grasp.md 3.4: a problem repeats nothing that the client wrote and has none of the words peers act on", () => {
    for (const value of [{ "blocked negentropy": 1 }, { "#t": "restricted" }, { ids: "NEG-" }, "envelope"]) {
      const problem = readFilter(value);
      if (!isFilterProblem(problem)) throw new Error("it was taken");
      expect(problem.text).not.toMatch(/envelope|NEG-|negentropy|blocked|restricted|too many|unsupported filter|validation/i);
    }
  });

  test("a filter's text is plain JSON", () => {
    const value = { kinds: [1], "#a": ["x"], limit: 3 };
    const filter = readFilter(value);
    if (isFilterProblem(filter)) throw new Error(filter.text);
    expect(JSON.parse(filterText(filter))).toEqual(value);
  });
});
