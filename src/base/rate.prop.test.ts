import fc from "fast-check";
import { expect, test } from "vitest";
import { fullBucket, ratePerMinute, spend } from "./rate.ts";
import { instant, plus } from "./time.ts";

const minuteMs = 60_000;
const rates = fc
  .tuple(fc.integer({ min: 1, max: 6000 }), fc.integer({ min: 1, max: 100 }))
  .map(([perMinute, burst]) => ratePerMinute(perMinute, burst));
const gap = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 50 }), fc.integer({ min: 0, max: 90_000 }));
const spendings = fc.array(fc.record({ gapMs: gap, n: fc.integer({ min: 1, max: 20 }) }), { maxLength: 120, size: "max" });

test("never exceeded: in any span at most the burst and what the span refills", () => {
  const property = fc.property(rates, spendings, (rate, moves) => {
    let now = instant(0);
    let bucket = fullBucket(rate, now);
    const spent: { at: number; n: number }[] = [];
    for (const { gapMs, n } of moves) {
      now = plus(now, gapMs);
      const result = spend(rate, bucket, now, n);
      bucket = result.bucket;
      if (result.ok) spent.push({ at: now, n });
    }
    for (let from = 0; from < spent.length; from++) {
      let sum = 0;
      for (const { at, n } of spent.slice(from)) {
        sum += n;
        const spanMs = at - (spent[from]?.at ?? 0);
        expect(sum * minuteMs).toBeLessThanOrEqual(rate.burst * minuteMs + spanMs * rate.perMinute);
      }
    }
  });
  fc.assert(property, { seed: 1, numRuns: 150 });
});

test("retryAtMs is the first moment at which it is allowed", () => {
  const property = fc.property(rates, spendings, (rate, moves) => {
    let now = instant(0);
    let bucket = fullBucket(rate, now);
    for (const { gapMs, n } of moves) {
      now = plus(now, gapMs);
      const { ok, retryAtMs, bucket: next } = spend(rate, bucket, now, n);
      bucket = next;
      if (ok) expect(retryAtMs).toBe(now);
      else if (n > rate.burst) expect(retryAtMs).toBe(Number.POSITIVE_INFINITY);
      else {
        expect(spend(rate, bucket, retryAtMs, n).ok).toBe(true);
        expect(spend(rate, bucket, plus(retryAtMs, -1), n).ok).toBe(false);
      }
    }
  });
  fc.assert(property, { seed: 2, numRuns: 150 });
});

test("who keeps the allowance in every minute is never refused", () => {
  const property = fc.property(fc.integer({ min: 1, max: 60 }), fc.array(gap, { maxLength: 300, size: "max" }), (perMinute, gaps) => {
    const rate = ratePerMinute(perMinute);
    let now = instant(0);
    let bucket = fullBucket(rate, now);
    const sent: number[] = [];
    for (const gapMs of gaps) {
      now = plus(now, gapMs);
      if (sent.filter((at) => at > now - minuteMs).length >= perMinute) continue;
      sent.push(now);
      const result = spend(rate, bucket, now);
      expect(result.ok).toBe(true);
      bucket = result.bucket;
    }
  });
  fc.assert(property, { seed: 3, numRuns: 150 });
});

test("a clock that is set back gives nothing away and shuts nobody out", () => {
  const rate = ratePerMinute(60, 1);
  const empty = spend(rate, fullBucket(rate, instant(9_000_000)), instant(9_000_000)).bucket;
  const back = spend(rate, empty, instant(1_000));
  expect(back).toMatchObject({ ok: false, retryAtMs: 2_000 });
  expect(spend(rate, back.bucket, instant(2_000)).ok).toBe(true);
});
