import fc from "fast-check";
import { expect, test } from "vitest";
import { runs } from "../../test/kit/arbitrary/runs.ts";
import { readIdentifier } from "./identifier.ts";

test.each(["a", "my-repo", "my repo", "...", ".git", "-", "a:b", "%2F", "%2e%2e", "größe", "水".repeat(33), "x".repeat(100), "🐦"])(
  "grasp.md 5.1: %j is safe",
  (text) => expect(readIdentifier(text)).toBe(text),
);

test.each(["", ".", "..", "a/b", "/", "\\", "a\\b", "\0", "a\nb", "a\tb", "\x7f", "\x85", "x".repeat(101), "水".repeat(34), "\ud800"])(
  "grasp.md 5.1: %j is not",
  (text) => expect(readIdentifier(text)).toBeUndefined(),
);

test("whatever passes is one path segment that stays where it is put", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 60 }), (text) => {
      if (readIdentifier(text) === undefined) return;
      const url = new URL(`https://host.example/npub/${encodeURIComponent(text)}.git`);
      expect(url.pathname.split("/")).toHaveLength(3);
      expect(decodeURIComponent(url.pathname)).toBe(`/npub/${text}.git`);
    }),
    runs(500),
  );
});
