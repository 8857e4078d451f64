import { expect, test } from "vitest";
import { hasTag, tagLists, tagValue, tagValues } from "./tags.ts";

const event = { tags: [["-"], ["clone"], ["clone", "a", "b"], ["e", "1", "relay"], ["clone", "c"], ["e", "2"]] };

test("tags are read by name; a tag without a value has none", () => {
  expect(hasTag(event, "-")).toBe(true);
  expect(hasTag(event, "x")).toBe(false);
  expect(tagValue(event, "-")).toBeUndefined();
  expect(tagValue(event, "clone")).toBe("a");
  expect(tagValues(event, "e")).toEqual(["1", "2"]);
  expect(tagValues(event, "clone")).toEqual(["a", "c"]);
  expect(tagLists(event, "clone")).toEqual(["a", "b", "c"]);
  expect(tagLists(event, "x")).toEqual([]);
});
