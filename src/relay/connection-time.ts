import { type Instant, plus } from "../base/time.ts";
import type { Connection, Effect, Step, Terms } from "./connection-state.ts";
import { stay } from "./connection-words.ts";

/** When a connection is read from, and when its silence means that nobody is there. */

export function wakeAt(terms: Terms, state: Connection): Instant {
  const { pingAfterMs, pongWithinMs } = terms.limits;
  const silence = state.pingedAt === undefined ? plus(state.heardAt, pingAfterMs) : plus(state.pingedAt, pongWithinMs);
  return state.restsUntil !== undefined && state.restsUntil < silence ? state.restsUntil : silence;
}

/** Not read from until then. */
export function rest(state: Connection, until: Instant): Step {
  const restsUntil = state.restsUntil !== undefined && state.restsUntil > until ? state.restsUntil : until;
  return { state: { ...state, restsUntil, paused: true }, effects: state.paused ? [] : [{ kind: "pause" }] };
}

/** Read from again. What it said while we did not listen is still to come, so its silence begins now. */
export const read = (state: Connection, now: Instant): Connection => ({
  ...state,
  paused: false,
  heardAt: state.heardAt < now ? now : state.heardAt,
  pingedAt: undefined,
});

export function onHeard(state: Connection, at: Instant): Step {
  return at <= state.heardAt ? stay(state) : stay({ ...state, heardAt: at, pingedAt: undefined });
}

export function onWake(terms: Terms, before: Connection, now: Instant): Step {
  const effects: Effect[] = [];
  let state = before;
  if (state.restsUntil !== undefined && state.restsUntil <= now) {
    state = { ...state, restsUntil: undefined };
    if (state.unanswered < terms.limits.unansweredEvents) {
      state = read(state, now);
      effects.push({ kind: "resume" });
    }
  }
  const { pingAfterMs, pongWithinMs } = terms.limits;
  if (state.pingedAt !== undefined && plus(state.pingedAt, pongWithinMs) <= now) {
    const over = { ...state, heardAt: now, pingedAt: undefined };
    // A client that we ourselves do not read cannot be heard: its silence is ours.
    return { state: over, effects: state.paused ? effects : [...effects, { kind: "hang-up", code: 1001, why: "no answer to a ping" }] };
  }
  if (state.pingedAt === undefined && plus(state.heardAt, pingAfterMs) <= now) {
    return { state: { ...state, pingedAt: now }, effects: [...effects, { kind: "ping" }] };
  }
  return { state, effects };
}
