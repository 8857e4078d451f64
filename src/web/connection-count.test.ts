import fc from "fast-check";
import { expect, test } from "vitest";
import { ConnectionCount } from "./connection-count.ts";

test("never more than allowed, and every place comes back", () => {
  const keys = fc.constantFrom("a", "b", undefined);
  fc.assert(
    fc.property(fc.array(fc.record({ key: keys, leave: fc.nat(9) }), { maxLength: 60 }), (steps) => {
      const count = new ConnectionCount(5, 2);
      const open: { key: string | undefined; leave: () => void }[] = [];
      for (const { key, leave } of steps) {
        const same = open.filter((o) => o.key === key && key !== undefined).length;
        const entered = count.enter(key);
        expect(entered === "total").toBe(open.length >= 5);
        if (entered !== "total") expect(entered === "address").toBe(same >= 2);
        if (typeof entered !== "string") open.push({ key, leave: entered });
        const gone = open.splice(leave, 1)[0];
        gone?.leave();
        gone?.leave();
        expect(count.total).toBe(open.length);
        expect(count.addresses).toBe(new Set(open.map((o) => o.key).filter((k) => k !== undefined)).size);
      }
    }),
    { seed: 5, numRuns: 300 },
  );
});

test("crowded addresses are counted from the threshold on", () => {
  const count = new ConnectionCount(10, 10);
  for (const key of ["a", "a", "a", "b"]) count.enter(key);
  expect([1, 2, 3, 4].map((n) => count.crowded(n))).toEqual([2, 1, 1, 0]);
});
