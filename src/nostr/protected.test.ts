import { expect, test } from "vitest";
import { embedsProtected, isProtected } from "./protected.ts";

test("NIP-70: the dash makes it protected", () => {
  expect(isProtected({ tags: [["t", "x"], ["-"]] })).toBe(true);
  expect(isProtected({ tags: [["t", "-"]] })).toBe(false);
});

const inner = JSON.stringify({ kind: 1, tags: [["t", "x"], ["-"]] });

test.each<[string, number, string, boolean]>([
  ["a repost", 6, inner, true],
  ["a generic repost", 16, inner, true],
  ["the dash in another spelling", 6, inner.replace('"-"', '"\\u002d"'), true],
  ["another kind may hold any text", 1, inner, false],
  ["an open event", 6, '{"tags":[["t","-"]]}', false],
  ["empty", 6, "", false],
  ["no JSON", 6, "{", false],
  ["null", 6, "null", false],
  ["tags that are none", 6, '{"tags":{"0":["-"]}}', false],
  ["null among tags", 6, '{"tags":[null,7,["-"]]}', true],
  ["a million brackets", 6, "[".repeat(1_000_000), false],
  ["more than any event holds is not read", 6, " ".repeat(1_048_577), true],
])("NIP-70: a repost that carries it along: %s", (_, kind, content, expected) => {
  expect(embedsProtected({ kind, content })).toBe(expected);
});
