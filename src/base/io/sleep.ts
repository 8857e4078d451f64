import type { Clock } from "../clock.ts";
import type { Instant } from "../time.ts";

/** `Clock.sleepUntil` in terms of `Clock.at`, for every clock. */
export function sleepUntil(clock: Pick<Clock, "at">, at: Instant, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const onAbort = () => {
      cancel();
      reject(signal?.reason);
    };
    const cancel = clock.at(at, () => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    });
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}
