import { expect, test } from "vitest";
import { unixSeconds } from "../base/time.ts";
import { expirationOf, isExpired } from "./expiration.ts";

test.each<[string, readonly (readonly string[])[], number | undefined]>([
  ["none", [["t", "x"]], undefined],
  ["a time", [["expiration", "1600000000"]], 1_600_000_000],
  ["zero", [["expiration", "0"]], 0],
  ["the end of time", [["expiration", "9007199254740991"]], Number.MAX_SAFE_INTEGER],
  ["beyond it", [["expiration", "9007199254740992"]], undefined],
  ["no value", [["expiration"]], undefined],
  ["words", [["expiration", "soon"]], undefined],
  ["a fraction", [["expiration", "1.5"]], undefined],
  ["an exponent", [["expiration", "1e9"]], undefined],
  ["a sign", [["expiration", "-1"]], undefined],
  ["a space", [["expiration", " 5"]], undefined],
  [
    "a malformed one before",
    [
      ["expiration", "x"],
      ["expiration", "7"],
      ["expiration", "3"],
    ],
    7,
  ],
])("NIP-40: %s", (_, tags, expected) => {
  expect(expirationOf({ tags })).toBe(expected);
});

test("NIP-40: over from the second it names", () => {
  const event = { tags: [["expiration", "100"]] };
  expect(isExpired(event, unixSeconds(99))).toBe(false);
  expect(isExpired(event, unixSeconds(100))).toBe(true);
  expect(isExpired({ tags: [] }, unixSeconds(100))).toBe(false);
});
