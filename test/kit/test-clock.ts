import { setImmediate } from "node:timers/promises";
import type { Clock } from "../../src/base/clock.ts";
import { sleepUntil } from "../../src/base/io/sleep.ts";
import { type Instant, instant, plus } from "../../src/base/time.ts";

interface Timer {
  readonly at: Instant;
  readonly wake: () => void;
}

/** So many wakes in one `advance` mean that something wakes itself at the same moment for ever. */
const wakesMax = 100_000;

/** A clock that moves only when told: a test owns time and never waits for it. */
export class TestClock implements Clock {
  #now: Instant;
  /** In order of creation, which decides between equal times. */
  readonly #timers = new Set<Timer>();

  constructor(start = 1_700_000_000_000) {
    this.#now = instant(start);
  }

  now(): Instant {
    return this.#now;
  }
  at(at: Instant, wake: () => void): () => void {
    const timer = { at, wake };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  }
  sleepUntil(at: Instant, signal?: AbortSignal): Promise<void> {
    return sleepUntil(this, at, signal);
  }

  /** Timers not yet due. */
  get pending(): number {
    return this.#timers.size;
  }
  get nextAt(): Instant | undefined {
    return this.#earliest()?.at;
  }

  /** Moves time on, stopping at every timer on the way, each time until everything that follows from it is done. */
  async advance(ms: number): Promise<void> {
    const end = plus(this.#now, ms);
    await settled();
    for (let wakes = 0; ; wakes++) {
      const timer = this.#earliest();
      if (!timer || timer.at > end) break;
      if (wakes === wakesMax) throw new Error(`time stands still: ${wakesMax} wakes up to ${this.#now}`);
      this.#timers.delete(timer);
      if (timer.at > this.#now) this.#now = timer.at;
      timer.wake();
      await settled();
    }
    this.#now = end;
    await settled();
  }

  #earliest(): Timer | undefined {
    let earliest: Timer | undefined;
    for (const timer of this.#timers) if (!earliest || timer.at < earliest.at) earliest = timer;
    return earliest;
  }
}

/** Every microtask runs before the next turn of the event loop, however long their chain is. */
export const settled = (): Promise<void> => setImmediate();
