import { invariant } from "./assert.ts";
import { type Instant, plus } from "./time.ts";

export interface BudgetLimits {
  readonly concurrent: number;
  readonly perWindow: number;
  readonly windowMs: number;
}

/** Starts that happened in the same millisecond. */
interface Run {
  readonly at: Instant;
  readonly count: number;
}

/**
 * How many may run at once and how many may start in any `windowMs`, exactly, as a plain value that a machine can hold and write down.
 *
 * A ring would have to be copied whole on every start, since values do not change. So starts lie in two arrays: the oldest leave `old` by
 * moving `from`, new ones join the short `fresh`, and only a full `fresh` is joined to `old`. A start copies at most `freshMax` entries,
 * plus `perWindow / freshMax` averaged over many.
 */
export interface Budget {
  readonly limits: BudgetLimits;
  readonly running: number;
  readonly started: number;
  readonly old: readonly Run[];
  readonly from: number;
  readonly fresh: readonly Run[];
}

const freshMax = 32;

export function budget(limits: BudgetLimits): Budget {
  invariant(limits.concurrent > 0 && limits.perWindow > 0 && limits.windowMs > 0, "a budget allows something");
  return { limits, running: 0, started: 0, old: [], from: 0, fresh: [] };
}

/** One start, or undefined when none is free now. */
export function take(b: Budget, now: Instant): Budget | undefined {
  const { budget: next, taken } = takeMany(b, now, 1);
  return taken === 1 ? next : undefined;
}

/** As many starts as are free, up to `n`. */
export function takeMany(b: Budget, now: Instant, n: number): { readonly budget: Budget; readonly taken: number } {
  const at = forgetting(b, now);
  const taken = Math.max(0, Math.min(n, free(at)));
  return { budget: taken === 0 ? at : starting(at, now, taken), taken };
}

/** What was taken is done. The start still counts in its window. */
export function release(b: Budget, n = 1): Budget {
  invariant(n <= b.running, "only what was taken is released");
  return { ...b, running: b.running - n };
}

export const available = (b: Budget, now: Instant): number => Math.max(0, free(forgetting(b, now)));

/** When a start is free: `now`, or when the window lets one go; undefined when only a release can free one. */
export function freesAt(b: Budget, now: Instant): Instant | undefined {
  const at = forgetting(b, now);
  if (at.running >= at.limits.concurrent) return undefined;
  if (at.started < at.limits.perWindow) return now;
  const oldest = at.old[at.from] ?? at.fresh[0];
  invariant(oldest, "a full window holds starts");
  return plus(oldest.at, at.limits.windowMs);
}

const free = (b: Budget): number => Math.min(b.limits.concurrent - b.running, b.limits.perWindow - b.started);

const newest = (b: Budget): Run | undefined => b.fresh.at(-1) ?? b.old.at(-1);

function starting(b: Budget, now: Instant, count: number): Budget {
  const counted = { ...b, running: b.running + count, started: b.started + count };
  // Runs stay in order even when the clock was set back a little.
  const at = later(now, newest(b)?.at);
  const last = b.fresh.at(-1);
  if (last?.at === at) return { ...counted, fresh: [...b.fresh.slice(0, -1), { at, count: last.count + count }] };
  const fresh = [...b.fresh, { at, count }];
  if (fresh.length < freshMax) return { ...counted, fresh };
  return { ...counted, old: [...b.old.slice(b.from), ...fresh], from: 0, fresh: [] };
}

const later = (a: Instant, b: Instant | undefined): Instant => (b !== undefined && b > a ? b : a);

/** Without the starts that have left the window. */
function forgetting(b: Budget, now: Instant): Budget {
  if (later(now, newest(b)?.at) - now > b.limits.windowMs) return forgetting(steppedBack(b, now), now);
  const gone = now - b.limits.windowMs;
  let { from, started } = b;
  for (let run = b.old[from]; run && run.at <= gone; run = b.old[++from]) started -= run.count;
  if (from < b.old.length) return from === b.from ? b : { ...b, from, started };
  let left = 0;
  for (let run = b.fresh[left]; run && run.at <= gone; run = b.fresh[++left]) started -= run.count;
  if (left === 0 && b.old.length === 0) return b;
  return { ...b, old: [], from: 0, started, fresh: left === 0 ? b.fresh : b.fresh.slice(left) };
}

/** The clock was set back: starts more than a window ahead can no longer be placed, and waiting for them might take years. */
function steppedBack(b: Budget, now: Instant): Budget {
  const fresh = [...b.old.slice(b.from), ...b.fresh].filter((run) => run.at - now <= b.limits.windowMs);
  return { ...b, started: fresh.reduce((sum, run) => sum + run.count, 0), old: [], from: 0, fresh };
}
