import fc from "fast-check";
import { expect, test } from "vitest";
import { backoff, fractionOf } from "./backoff.ts";

const plain = { baseMs: 5_000, maxMs: 3_600_000, spread: 0 };

test("without spread it doubles up to the cap", () => {
  expect([0, 1, 2, 9, 10, 5000].map((attempt) => backoff(plain, attempt, "a"))).toEqual([
    5_000, 10_000, 20_000, 2_560_000, 3_600_000, 3_600_000,
  ]);
});

test("spread shortens only, within its share, and is the same for the same key", () => {
  const cases = fc.tuple(fc.nat({ max: 60 }), fc.string(), fc.double({ min: 0, max: 1, noNaN: true }));
  const property = fc.property(cases, ([attempt, key, spread]) => {
    const full = backoff(plain, attempt, key);
    const wait = backoff({ ...plain, spread }, attempt, key);
    expect(wait).toBeLessThanOrEqual(full);
    expect(wait).toBeGreaterThanOrEqual(Math.floor(full * (1 - spread)));
    expect(backoff({ ...plain, spread }, attempt, key)).toBe(wait);
  });
  fc.assert(property, { seed: 1 });
});

test("keys and attempts that differ in one character fill all tenths evenly", () => {
  const tenths = Array.from({ length: 10 }, () => 0);
  for (let i = 0; i < 10_000; i++) {
    const tenth = Math.floor(fractionOf(`wss://host-${i % 100}.example ${Math.floor(i / 100)}`) * 10);
    tenths[tenth] = (tenths[tenth] as number) + 1;
  }
  for (const count of tenths) expect(Math.abs(count - 1000)).toBeLessThan(150);
});
