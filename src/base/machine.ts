import type { Instant } from "./time.ts";

/** Sent by the driver when `wakeAt` has come; every machine takes it, in every state. */
export interface Wake {
  readonly kind: "wake";
}

export interface Step<State, Effect> {
  readonly state: State;
  readonly effects: readonly Effect[];
}

/** Decides what happens when time meets concurrency: no awaits, timers or chance inside, so every run can be replayed. */
export interface Machine<State, Input, Effect> {
  step(state: State, input: Input | Wake, now: Instant): Step<State, Effect>;
  /** When the machine wants a `wake` if nothing else happens; the driver keeps the one timer. */
  wakeAt(state: State): Instant | undefined;
}

const nothing: readonly never[] = Object.freeze([]);

/** Nothing changes and nothing is to be done: the answer to late or repeated input. */
export const stay = <State>(state: State): Step<State, never> => ({ state, effects: nothing });

/** Ends a `switch` over a union: the compiler proves it is never reached, and at run time it fails loudly. */
export function unreachable(x: never): never {
  throw new Error(`unreachable: ${JSON.stringify(x)}`);
}
