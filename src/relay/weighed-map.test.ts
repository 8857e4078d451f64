import { expect, test } from "vitest";
import { WeighedMap } from "./weighed-map.ts";

const map = (max: number) => new WeighedMap<string, { readonly weight: number }>(max, ({ weight }) => weight);

test("the least recently used leave when all weigh too much", () => {
  const held = map(10);
  expect(held.set("a", { weight: 4 })).toEqual([]);
  expect(held.set("b", { weight: 4 })).toEqual([]);
  held.get("a");
  expect(held.set("c", { weight: 4 })).toEqual(["b"]);
  expect(held.set("d", { weight: 9 })).toEqual(["a", "c"]);
  expect(held.set("e", { weight: 50 }), "one too heavy is alone").toEqual(["d"]);
  expect([held.size, held.weight]).toEqual([1, 50]);
});

test("a shared value weighs once, and until its last key is gone", () => {
  const held = map(10);
  const shared = { weight: 8 };
  for (const key of ["a", "b", "c"]) expect(held.set(key, shared)).toEqual([]);
  held.delete("a");
  held.set("b", shared);
  expect(held.weight).toBe(8);
  expect(held.set("d", { weight: 8 }), "all its keys must go to make room").toEqual(["c", "b"]);
  expect(held.weight).toBe(8);
  held.delete("d");
  held.delete("d");
  expect([held.size, held.weight]).toEqual([0, 0]);
});
