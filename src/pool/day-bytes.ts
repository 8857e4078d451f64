import { BoundedMap } from "../base/bounded.ts";
import type { Instant } from "../base/time.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

/** Bytes that each key has used since midnight (UTC). At most so many keys; the one that was quiet longest is forgotten first. */
export class DayBytes {
  readonly #used: BoundedMap<string, { readonly day: number; readonly bytes: number }>;

  constructor(keysMax: number) {
    this.#used = new BoundedMap(keysMax);
  }

  used(key: string, now: Instant): number {
    const found = this.#used.peek(key);
    return found?.day === Math.floor(now / DAY_MS) ? found.bytes : 0;
  }

  /** Bytes that came are counted, whether or not what they brought was kept. */
  add(key: string, bytes: number, now: Instant): void {
    this.#used.set(key, { day: Math.floor(now / DAY_MS), bytes: this.used(key, now) + bytes });
  }
}
