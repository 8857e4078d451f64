import fc from "fast-check";
import { expect, test } from "vitest";
import { available, type Budget, type BudgetLimits, budget, freesAt, release, take, takeMany } from "./budget.ts";
import { type Instant, instant, plus } from "./time.ts";

/** The dumb one: every start is remembered, and the window is counted anew each time. */
class Ledger {
  running = 0;
  readonly starts: number[] = [];
  readonly limits: BudgetLimits;
  constructor(limits: BudgetLimits) {
    this.limits = limits;
  }
  free(now: number): number {
    const inWindow = this.starts.filter((at) => at > now - this.limits.windowMs).length;
    return Math.min(this.limits.concurrent - this.running, this.limits.perWindow - inWindow);
  }
  take(now: number, n: number): number {
    const taken = Math.min(n, this.free(now));
    for (let i = 0; i < taken; i++) this.starts.push(now);
    this.running += taken;
    return taken;
  }
}

const someLimits = fc.record({
  concurrent: fc.integer({ min: 1, max: 500 }),
  perWindow: fc.integer({ min: 1, max: 120 }),
  windowMs: fc.integer({ min: 1, max: 500 }),
});
// Mostly close together, so that windows hold many different moments, with a rest now and then.
const gapMs = fc.oneof(
  { weight: 20, arbitrary: fc.integer({ min: 0, max: 8 }) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 700 }) },
);
const someMoves = fc.array(fc.record({ gapMs, take: fc.nat({ max: 3 }), release: fc.nat({ max: 4 }) }), { minLength: 100, maxLength: 400 });

test("agrees with a ledger of every start, and says exactly when it frees", () => {
  const property = fc.property(someLimits, someMoves, (limits, moves) => {
    const ledger = new Ledger(limits);
    let b = budget(limits);
    let now = instant(1000);
    for (const move of moves) {
      now = plus(now, move.gapMs);
      expect(available(b, now)).toBe(ledger.free(now));
      const step = takeMany(b, now, move.take);
      expect(step.taken).toBe(ledger.take(now, move.take));
      b = release(step.budget, Math.min(move.release, step.budget.running));
      ledger.running -= Math.min(move.release, ledger.running);
      checkFreesAt(b, ledger, now);
    }
    checkWindows(ledger.starts, limits);
  });
  fc.assert(property, { seed: 1, numRuns: 150 });
});

function checkFreesAt(b: Budget, ledger: Ledger, now: Instant): void {
  const at = freesAt(b, now);
  if (at === undefined) return expect(ledger.running).toBe(ledger.limits.concurrent);
  expect(ledger.free(at)).toBeGreaterThan(0);
  if (at > now) expect(ledger.free(at - 1)).toBeLessThanOrEqual(0);
}

function checkWindows(starts: readonly number[], { perWindow, windowMs }: BudgetLimits): void {
  for (const from of starts) expect(starts.filter((at) => at >= from && at < from + windowMs).length).toBeLessThanOrEqual(perWindow);
}

test("is a value: taking leaves the given budget as it was, and it survives being written down", () => {
  let b = budget({ concurrent: 100, perWindow: 100, windowMs: 60_000 });
  for (let i = 0; i < 70; i++) {
    const before = JSON.stringify(b);
    const next = take(b, instant(i * 10)) as Budget;
    expect(JSON.stringify(b)).toBe(before);
    b = JSON.parse(JSON.stringify(next)) as Budget;
  }
  expect(available(b, instant(700))).toBe(30);
});

test("take says undefined when nothing is free, and releasing what was not taken is our mistake", () => {
  const one = take(budget({ concurrent: 1, perWindow: 5, windowMs: 1000 }), instant(0)) as Budget;
  expect(take(one, instant(1))).toBeUndefined();
  expect(freesAt(one, instant(1))).toBeUndefined();
  expect(take(release(one), instant(1))).toBeDefined();
  expect(() => release(one, 2)).toThrow("invariant");
});

test("a clock that is set back shuts the budget for two windows at most, and the moment it names stays", () => {
  const full = takeMany(budget({ concurrent: 9, perWindow: 2, windowMs: 1000 }), instant(9_000_000), 2).budget;
  expect(freesAt(full, instant(8_999_000))).toBe(9_001_000);
  expect(freesAt(full, instant(8_999_999))).toBe(9_001_000);
  expect(take(full, instant(9_000_999))).toBeUndefined();
  expect(available(full, instant(9_001_000))).toBe(2);
  expect(freesAt(full, instant(8_998_999))).toBe(8_998_999);
  expect(available(full, instant(5_000))).toBe(2);
});

test("starts after a small step back count no shorter than those before it", () => {
  const one = take(budget({ concurrent: 9, perWindow: 2, windowMs: 1000 }), instant(10_000)) as Budget;
  const two = take(one, instant(9_500)) as Budget;
  expect(freesAt(two, instant(9_600))).toBe(11_000);
  expect(available(two, instant(11_000))).toBe(2);
});
