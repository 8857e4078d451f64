import { BoundedMap } from "../base/bounded.ts";
import { type Bucket, fullBucket, type Rate, ratePerMinute, spend } from "../base/rate.ts";
import type { Instant } from "../base/time.ts";
import type { RateName } from "./connection-state.ts";

/** Addresses that are remembered; the one that was quiet longest is forgotten, and with it at most a minute's counting. */
const ADDRESSES_MAX = 100_000;

/** grasp.md 3.3: what all connections of one address may do together, per minute. 0: no limit. */
export class AddressBudgets {
  readonly #rates: Readonly<Record<RateName, Rate | undefined>>;
  readonly #buckets = new BoundedMap<string, Bucket>(ADDRESSES_MAX * 4);

  constructor(perMinute: Readonly<Record<RateName, number>>) {
    const rate = (name: RateName) => (perMinute[name] === 0 ? undefined : ratePerMinute(perMinute[name]));
    this.#rates = { events: rate("events"), queries: rate("queries"), messages: rate("messages"), auths: rate("auths") };
  }

  /** May this address do `n` more, now? Without a key it is not limited. */
  allows(limitKey: string | undefined, what: RateName, now: Instant, n = 1): boolean {
    const rate = this.#rates[what];
    if (limitKey === undefined || rate === undefined) return true;
    const key = `${what}:${limitKey}`;
    const { bucket, ok } = spend(rate, this.#buckets.get(key) ?? fullBucket(rate, now), now, Math.min(n, rate.burst));
    this.#buckets.set(key, bucket);
    return ok;
  }
}
