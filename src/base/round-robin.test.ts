import fc from "fast-check";
import { expect, test } from "vitest";
import { RoundRobin } from "./round-robin.ts";

const filled = (items: readonly string[], limits = { perKeyMax: 100, totalMax: 1000 }) => {
  const robin = new RoundRobin<string, string>(limits);
  for (const item of items) robin.push(item[0] as string, item);
  return robin;
};
const drain = (robin: RoundRobin<string, string>, isReady?: (key: string) => boolean): string[] => {
  const taken: string[] = [];
  for (let next = robin.take(isReady); next; next = robin.take(isReady)) taken.push(next.item);
  return taken;
};

test("keys take turns, items of a key stay in order", () => {
  expect(drain(filled(["a1", "a2", "a3", "b1", "c1", "c2"]))).toEqual(["a1", "b1", "c1", "a2", "c2", "a3"]);
});

test("a key that comes back goes to the end of the turn", () => {
  const robin = filled(["a1", "b1", "c1"]);
  expect(robin.take()?.item).toBe("a1");
  robin.push("a", "a2");
  expect(drain(robin)).toEqual(["b1", "c1", "a2"]);
});

test("keys that are not ready hold up no other and lose nothing", () => {
  const robin = filled(["a1", "a2", "b1", "c1"]);
  expect(drain(robin, (key) => key !== "a")).toEqual(["b1", "c1"]);
  expect(robin.size).toBe(2);
  expect(drain(robin)).toEqual(["a1", "a2"]);
});

test("is full per key and in all", () => {
  const robin = filled(["a1", "a2", "b1"], { perKeyMax: 2, totalMax: 4 });
  expect(robin.push("a", "a3")).toBe(false);
  expect(robin.push("b", "b2")).toBe(true);
  expect(robin.push("c", "c1")).toBe(false);
  expect(drain(robin)).toEqual(["a1", "b1", "a2", "b2"]);
});

test("a dropped key gives back its items and takes one turn when it returns", () => {
  const robin = filled(["a1", "a2", "b1", "b2"]);
  expect(robin.drop("a")).toEqual(["a1", "a2"]);
  expect(robin.drop("a")).toEqual([]);
  robin.push("a", "a3");
  robin.push("a", "a4");
  expect(drain(robin)).toEqual(["b1", "a3", "b2", "a4"]);
  expect(robin.size).toBe(0);
});

test("fair: while a key waits, no other is taken from twice", () => {
  const pushesAndTakes = fc.array(fc.option(fc.constantFrom("a", "b", "c", "d"), { nil: undefined, freq: 2 }), {
    maxLength: 200,
    size: "max",
  });
  const property = fc.property(pushesAndTakes, (calls) => {
    const robin = new RoundRobin<string, number>({ perKeyMax: 20, totalMax: 50 });
    const passedOver = new Map<string, string[]>();
    for (const [i, key] of calls.entries()) {
      if (key !== undefined) {
        if (robin.push(key, i) && robin.sizeOf(key) === 1) passedOver.set(key, []);
        continue;
      }
      const next = robin.take();
      expect(next === undefined).toBe(passedOver.size === 0);
      if (!next) continue;
      passedOver.delete(next.key);
      for (const others of passedOver.values()) {
        expect(others).not.toContain(next.key);
        others.push(next.key);
      }
      if (robin.sizeOf(next.key) > 0) passedOver.set(next.key, []);
    }
  });
  fc.assert(property, { seed: 1, numRuns: 200 });
});
