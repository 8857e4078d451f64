import fc from "fast-check";
import { expect, test } from "vitest";
import { runs } from "../../test/kit/arbitrary/runs.ts";
import { clash, DEFAULT_HEAD, EMPTY_REFS } from "./ref-map.ts";
import type { RefName } from "./ref-name.ts";

const names = (...texts: string[]): RefName[] => texts as RefName[];

test("grasp.md 5.5: a repository begins empty, with HEAD on master", () => {
  expect(EMPTY_REFS.refs.size).toBe(0);
  expect(EMPTY_REFS.head).toBe(DEFAULT_HEAD);
  expect(DEFAULT_HEAD).toBe("refs/heads/master");
});

test.each([
  [names("refs/heads/a", "refs/heads/a/b"), ["refs/heads/a", "refs/heads/a/b"]],
  [names("refs/heads/a/b/c", "refs/heads/a"), ["refs/heads/a", "refs/heads/a/b/c"]],
  [names("refs/heads/a", "refs/heads/ab", "refs/heads/a.b", "refs/tags/a/b"), undefined],
  [names("refs/heads/a", "refs/heads/a"), undefined],
  [[], undefined],
])("grasp.md 6.4, 7.5: %j clash: %j", (given, pair) => {
  expect(clash(given)).toEqual(pair);
});

test("a clash is found exactly when some name is another's directory", () => {
  const name = fc
    .array(fc.constantFrom("a", "b", "ab"), { minLength: 1, maxLength: 4 })
    .map((parts) => `refs/heads/${parts.join("/")}` as RefName);
  fc.assert(
    fc.property(fc.array(name, { maxLength: 6 }), (given) => {
      const expected = given.some((outer) => given.some((inner) => inner.startsWith(`${outer}/`)));
      const found = clash(given);
      expect(found !== undefined).toBe(expected);
      if (found !== undefined) expect(found[1].startsWith(`${found[0]}/`)).toBe(true);
    }),
    runs(500),
  );
});
