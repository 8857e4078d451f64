import type { Instant } from "./time.ts";

/** What `io/` code is given instead of the machine's clock, so that tests and the simulator can own time. */
export interface Clock {
  now(): Instant;
  /** Calls `wake` once at or after `at`; the returned function cancels it. */
  at(at: Instant, wake: () => void): () => void;
  /** Resolves at or after `at`; rejects with the signal's reason when aborted first. */
  sleepUntil(at: Instant, signal?: AbortSignal): Promise<void>;
}
