import { describe, expect, it } from "vitest";
import { fakeEvent, fakeKey } from "../../test/kit/arbitrary/fake-event.ts";
import { type FilterParts, filterOf } from "../../test/kit/arbitrary/filter.ts";
import { eventText, type Tag } from "../nostr/event.ts";
import { authorKey, authorKindKey, TIME_KEY, tagKey } from "./keys.ts";
import { type Driver, driversOf, isTrueHit, tagTerm } from "./query-plan.ts";

const seed = { a: 7, b: 11 };
const [alice, bob] = [fakeKey("alice"), fakeKey("bob")];
const drivers = (parts: FilterParts) => driversOf(filterOf(parts), seed);
const keysOf = (driver: Driver | undefined) => driver?.terms.map((term) => term.key);

describe("driversOf", () => {
  it.each<[string, FilterParts, string[]]>([
    ["nothing", {}, ["time"]],
    ["kinds", { kinds: [1, 5] }, ["kind"]],
    ["authors", { authors: [alice] }, ["author"]],
    ["authors and kinds", { authors: [alice, bob], kinds: [1, 5] }, ["author+kind"]],
    ["a tag", { tags: { t: ["x"] } }, ["tag"]],
    ["a tag and kinds", { tags: { t: ["x"] }, kinds: [1] }, ["tag"]],
    ["tags and authors", { tags: { t: ["x"], p: [bob] }, authors: [alice] }, ["tag", "tag", "author"]],
    ["tags, authors and kinds", { tags: { t: ["x"] }, authors: [alice], kinds: [1] }, ["tag", "author+kind"]],
  ])("a filter on %s can be answered so", (_what, parts, expected) => {
    expect(drivers(parts).map((driver) => driver.name)).toEqual(expected);
  });

  it("reads one list a value, or one a pair of author and kind", () => {
    expect(keysOf(drivers({})[0])).toEqual([TIME_KEY]);
    expect(keysOf(drivers({ kinds: [1, 5] })[0])).toEqual([1, 5]);
    expect(keysOf(drivers({ tags: { t: ["x", "y"] } })[0])).toEqual([tagKey(seed, "t", "x"), tagKey(seed, "t", "y")]);
    expect(keysOf(drivers({ authors: [alice, bob] })[0])).toEqual([authorKey(seed, alice), authorKey(seed, bob)]);
    const pairs = [1, 5].flatMap((kind) => [alice, bob].map((author) => authorKindKey(seed, author, kind)));
    expect(keysOf(drivers({ authors: [alice, bob], kinds: [1, 5] })[0])).toEqual(pairs);
  });

  it("reads authors' own lists and looks at kinds where pairs would be too many", () => {
    const kinds = Array.from({ length: 129 }, (_, n) => n);
    const [driver] = drivers({ authors: [alice, bob], kinds });
    expect(driver?.name).toBe("author");
    expect(driver?.kinds).toEqual(new Set(kinds));
    expect(drivers({ authors: [alice, bob], kinds: kinds.slice(1) })[0]).toMatchObject({ name: "author+kind", kinds: undefined });
  });

  it("puts the tag with the fewest values first", () => {
    const [first] = drivers({ tags: { t: ["x", "y", "z"], p: [alice, bob], e: ["1", "2", "3", "4"] } });
    expect(first?.terms).toHaveLength(2);
  });

  it("has a driver without lists where a condition is empty: nothing matches (NIP-01)", () => {
    for (const parts of [
      { kinds: [] },
      { authors: [] },
      { tags: { t: [] } },
      { authors: [alice], kinds: [] },
      { authors: [alice], tags: { t: [] } },
    ]) {
      expect(
        drivers(parts).some((driver) => driver.terms.length === 0),
        JSON.stringify(parts),
      ).toBe(true);
    }
  });

  it("asks the event itself exactly where lists and kinds do not say it all", () => {
    const rests = (parts: FilterParts) => drivers(parts).map((driver) => driver.rest !== undefined);
    expect(rests({ tags: { t: ["x"] }, kinds: [1] })).toEqual([false]);
    expect(rests({ authors: [alice], kinds: [1] })).toEqual([false]);
    expect(rests({ tags: { t: ["x"], p: [bob] } })).toEqual([true, true]);
    expect(rests({ tags: { t: ["x"] }, authors: [alice] })).toEqual([true, true]);
    const [driver] = drivers({ tags: { t: ["x"] }, authors: [alice] });
    expect(driver?.rest?.(fakeEvent({ tags: [["t", "x"]] }))).toBe(true);
    expect(driver?.rest?.(fakeEvent({ pubkey: bob, tags: [["t", "x"]] }))).toBe(false);
  });
});

describe("needles", () => {
  const has = (tags: readonly Tag[], letter: string, value: string, content = "") =>
    eventText(fakeEvent({ tags, content })).includes(tagTerm(seed, letter, value).needle ?? "nothing");

  it.each(["", "x", '"', "\\", "x\u0000y", "é", "\u{1f426}", '["t","x"', "\ud800"])(
    "a tag with the value %j is found in its event",
    (value) => {
      expect(has([["t", value]], "t", value)).toBe(true);
      expect(
        has(
          [
            ["e", "1"],
            ["t", value, "more"],
          ],
          "t",
          value,
        ),
      ).toBe(true);
      expect(has([["t", `${value}y`], ["T", value], ["e", value], ["e", "t", value], ["t"]], "t", value)).toBe(false);
    },
  );

  it("nothing that only looks like the tag is taken for it", () => {
    expect(
      has(
        [
          ["t", "y"],
          ["alt", '["t","x"'],
        ],
        "t",
        "x",
        '["t","x"]',
      ),
    ).toBe(false);
    expect(has([["t", 'x","y']], "t", "x")).toBe(false);
  });

  it("an author is found in their own events, not where they are only named", () => {
    const [{ terms }] = drivers({ authors: [alice] }) as [Driver];
    const [term] = terms;
    if (term === undefined) throw new Error("no term");
    expect(isTrueHit(term, eventText(fakeEvent()))).toBe(true);
    expect(isTrueHit(term, eventText(fakeEvent({ pubkey: bob, tags: [["p", alice]], content: `"pubkey":"${alice}"` })))).toBe(false);
  });
});
