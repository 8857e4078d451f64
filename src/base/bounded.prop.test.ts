import fc from "fast-check";
import { expect, test } from "vitest";
import { BoundedMap, BoundedQueue, BoundedSet } from "./bounded.ts";

test("BoundedMap behaves as a list in order of use, cut at the front", () => {
  const keys = fc.nat({ max: 12 });
  const call = fc.oneof(
    { weight: 10, arbitrary: fc.record({ op: fc.constant("set" as const), key: keys }) },
    { weight: 10, arbitrary: fc.record({ op: fc.constantFrom("get" as const, "delete" as const, "peek" as const), key: keys }) },
    { weight: 1, arbitrary: fc.record({ op: fc.constant("clear" as const), key: keys }) },
  );
  const property = fc.property(fc.integer({ min: 1, max: 6 }), fc.array(call, { maxLength: 200, size: "max" }), (max, calls) => {
    const evicted: number[] = [];
    const map = new BoundedMap<number, string | undefined>(max, (key) => evicted.push(key));
    let model: [number, string | undefined][] = [];
    const modelEvicted: number[] = [];
    for (const [i, { op, key }] of calls.entries()) {
      const entry = model.find(([k]) => k === key);
      const others = model.filter(([k]) => k !== key);
      // Some values are undefined: present and undefined is not absent.
      const value = i % 5 === 0 ? undefined : `v${i}`;
      if (op === "set") {
        map.set(key, value);
        model = [...others, [key, value]];
        if (model.length > max) modelEvicted.push((model.shift() as [number, string])[0]);
      } else if (op === "get") {
        expect(map.get(key)).toBe(entry?.[1]);
        if (entry) model = [...others, entry];
      } else if (op === "delete") {
        expect(map.delete(key)).toBe(entry !== undefined);
        model = others;
      } else if (op === "peek") expect(map.peek(key)).toBe(entry?.[1]);
      else {
        map.clear();
        model = [];
      }
      expect([...map]).toEqual(model);
      expect(evicted).toEqual(modelEvicted);
      expect(map.has(key)).toBe(model.some(([k]) => k === key));
    }
  });
  fc.assert(property, { seed: 1, numRuns: 300 });
});

test("BoundedSet says what is new and forgets the longest unmentioned", () => {
  const set = new BoundedSet<string>(2);
  expect([set.add("a"), set.add("b"), set.add("a"), set.add("c")]).toEqual([true, true, false, true]);
  expect(["a", "b", "c"].map((value) => set.has(value))).toEqual([true, false, true]);
  expect(set.size).toBe(2);
  expect(set.delete("a")).toBe(true);
  expect(set.add("a")).toBe(true);
});

test("BoundedQueue behaves as an array, and is never longer or larger than allowed", () => {
  const item = fc.option(fc.integer({ min: 0, max: 9 }), { nil: undefined, freq: 3 });
  const property = fc.property(fc.nat({ max: 60 }), fc.array(item, { maxLength: 600, size: "max" }), (sizeMax, calls) => {
    const queue = new BoundedQueue<number>({ countMax: 50, sizeMax, sizeOf: (n) => n });
    const model: number[] = [];
    const sum = () => model.reduce((a, b) => a + b, 0);
    for (const call of calls) {
      if (call === undefined) expect(queue.shift()).toBe(model.shift());
      else {
        const fits = model.length < 50 && sum() + call <= sizeMax;
        expect(queue.push(call)).toBe(fits);
        if (fits) model.push(call);
      }
      expect([queue.length, queue.size, queue.peek()]).toEqual([model.length, sum(), model[0]]);
    }
  });
  fc.assert(property, { seed: 2, numRuns: 200 });
});

test("BoundedQueue keeps order over many turns and can be cleared", () => {
  const queue = new BoundedQueue<number>({ countMax: 100 });
  for (let i = 0; i < 100; i++) queue.push(i);
  for (let i = 0; i < 1000; i++) {
    expect(queue.shift()).toBe(i);
    expect(queue.push(i + 100)).toBe(true);
  }
  expect(queue.push(-1)).toBe(false);
  queue.clear();
  expect([queue.length, queue.shift()]).toEqual([0, undefined]);
});
