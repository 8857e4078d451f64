import { invariant } from "./assert.ts";
import { type Instant, instant, plus } from "./time.ts";

/** A fixed allowance per minute; `burst` is how much of it may be spent at one moment after a rest. */
export interface Rate {
  readonly perMinute: number;
  readonly burst: number;
}

/**
 * What one spender has left. Tokens are counted in 60000ths, because then a millisecond adds exactly `perMinute` of them and whole numbers
 * suffice: no rounding error is ever gathered.
 */
export interface Bucket {
  readonly tokens: number;
  readonly at: Instant;
}

export interface Spending {
  readonly bucket: Bucket;
  readonly ok: boolean;
  /** When the same spending would be allowed if nothing else is spent; `now` when it was, never (Infinity) when it exceeds `burst`. */
  readonly retryAtMs: Instant;
}

const partsPerToken = 60_000;

/** With `burst` = the allowance, nobody who stays within it in every minute is ever refused. */
export function ratePerMinute(perMinute: number, burst = perMinute): Rate {
  invariant(perMinute > 0 && burst > 0, "a rate allows something");
  return { perMinute, burst };
}

export const fullBucket = (rate: Rate, now: Instant): Bucket => ({ tokens: rate.burst * partsPerToken, at: now });

/** In any span of `w` minutes at most `burst + w × perMinute` pass. Two small objects per call; no memory of single events. */
export function spend(rate: Rate, bucket: Bucket, now: Instant, n = 1): Spending {
  // A clock set back refills nothing, and counting goes on from there: it must not shut anyone out until the old time returns.
  const refill = now > bucket.at ? (now - bucket.at) * rate.perMinute : 0;
  const tokens = Math.min(rate.burst * partsPerToken, bucket.tokens + refill);
  const cost = n * partsPerToken;
  if (cost <= tokens) return { bucket: { tokens: tokens - cost, at: now }, ok: true, retryAtMs: now };
  const retryAtMs = n > rate.burst ? instant(Number.POSITIVE_INFINITY) : plus(now, Math.ceil((cost - tokens) / rate.perMinute));
  return { bucket: { tokens, at: now }, ok: false, retryAtMs };
}
