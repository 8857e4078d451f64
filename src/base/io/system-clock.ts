import { invariant } from "../assert.ts";
import type { Clock } from "../clock.ts";
import { instant } from "../time.ts";
import { sleepUntil } from "./sleep.ts";

/** A timer is set for an hour at most and then again: Node cannot hold more than 24.8 days, and a wall clock that was set is noticed. */
const armMsMax = 3_600_000;

export interface SystemClockOptions {
  /** True: waiting alone does not keep the process alive. */
  readonly unref: boolean;
}

/** The one reader of the machine's clock: wall-clock milliseconds. */
export function systemClockWith(options: SystemClockOptions): Clock {
  const clock: Clock = {
    now: () => instant(Date.now()),
    at(at, wake) {
      invariant(!Number.isNaN(at), "a time to wake at");
      let timer: NodeJS.Timeout;
      const arm = () => {
        timer = setTimeout(ring, Math.min(armMsMax, Math.max(0, at - Date.now())));
        if (options.unref) timer.unref();
      };
      // Timers may ring a millisecond early by the wall clock; a waker is promised "at or after".
      const ring = () => (Date.now() < at ? arm() : wake());
      arm();
      return () => clearTimeout(timer);
    },
    sleepUntil: (at, signal) => sleepUntil(clock, at, signal),
  };
  return clock;
}

export const systemClock: Clock = systemClockWith({ unref: false });
