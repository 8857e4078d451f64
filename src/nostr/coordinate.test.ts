import fc from "fast-check";
import { expect, test } from "vitest";
import { fakeKey } from "../../test/kit/arbitrary/fake-event.ts";
import { runs } from "../../test/kit/arbitrary/runs.ts";
import { formatCoordinate, parseCoordinate } from "./coordinate.ts";

const key = fakeKey("alice");

test("grasp.md §1: the identifier is everything after the second colon", () => {
  expect(parseCoordinate(`30617:${key}:a:b:\n`)).toEqual({ kind: 30_617, pubkey: key, d: "a:b:\n" });
  expect(parseCoordinate(`30617:${key}:`)).toEqual({ kind: 30_617, pubkey: key, d: "" });
  expect(parseCoordinate(`10002:${key}:`)).toEqual({ kind: 10_002, pubkey: key, d: "" });
  expect(parseCoordinate(`0:${key}:`)).toEqual({ kind: 0, pubkey: key, d: "" });
});

test.each([
  ["leading zero", `030617:${key}:x`],
  ["leading zero of a small kind", `03:${key}:`],
  ["zero many times", `00000:${key}:`],
  ["plus", `+30617:${key}:x`],
  ["space", ` 30617:${key}:x`],
  ["no second colon", `30617:${key}`],
  ["upper-case key", `30617:${key.toUpperCase()}:x`],
  ["short key", `30617:${key.slice(1)}:x`],
  ["kind out of range", `99999:${key}:x`],
  ["a kind that nothing replaces", `1:${key}:x`],
  ["a replaceable kind with an identifier", `10002:${key}:x`],
  ["empty", ""],
])("no coordinate: %s", (_, text) => {
  expect(parseCoordinate(text)).toBeUndefined();
});

test("what is written is read again, and what is read has one spelling", () => {
  const address = fc.record({
    kind: fc.integer({ min: 30_000, max: 39_999 }),
    pubkey: fc.nat().map(fakeKey),
    d: fc.string({ unit: "binary" }),
  });
  fc.assert(
    fc.property(address, (given) => {
      expect(parseCoordinate(formatCoordinate(given))).toEqual(given);
    }),
    runs(300),
  );
  const spelling = fc.tuple(fc.stringMatching(/^[+0]?[0-9]{1,6}$/), fc.constantFrom(key, key.toUpperCase()), fc.string());
  fc.assert(
    fc.property(spelling, (parts) => {
      const text = parts.join(":");
      const read = parseCoordinate(text);
      if (read !== undefined) expect(formatCoordinate(read)).toBe(text);
    }),
    runs(300),
  );
});
