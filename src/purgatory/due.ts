import type { Instant } from "../base/time.ts";
import type { Entry, Ledger } from "./ledger-state.ts";
import type { ProjectKey } from "./waiting.ts";

/** When the time of this entry is over, as things stand; `undefined`: not by time, or not before something else happens. */
export type Due = (entry: Entry) => Instant | undefined;

export function dueIn({ fetches, firstRounds }: Pick<Ledger, "fetches" | "firstRounds">): Due {
  const fetching = new Set<ProjectKey>();
  for (const { projects } of fetches.values()) for (const project of projects) fetching.add(project);
  return ({ waiting, until, settleUntil }) => {
    // grasp.md 6.7: a state with overlay records is never expired by time.
    if (waiting.what === "state" && waiting.overlaid) return undefined;
    // grasp.md 6.2: never expired while a fetch for it is running.
    if (waiting.projects.some((project) => fetching.has(project))) return undefined;
    const hunted =
      firstRounds === undefined || (waiting.projects.length > 0 && waiting.projects.every((one) => firstRounds.hunted.has(one)));
    const first = hunted ? undefined : firstRounds.until;
    return Math.max(until, settleUntil ?? until, first ?? until) as Instant;
  };
}

/** The earliest of all ends. */
export function nextDue(ledger: Ledger): Instant | undefined {
  const due = dueIn(ledger);
  let next = Number.POSITIVE_INFINITY;
  for (const entry of ledger.waiting.values()) next = Math.min(next, due(entry) ?? next);
  for (const entry of ledger.soft.values()) next = Math.min(next, due(entry) ?? next);
  for (const until of ledger.remembered.values()) next = Math.min(next, until);
  for (const { until } of ledger.tips.values()) next = Math.min(next, until);
  for (const { lostAt } of ledger.fetches.values()) next = Math.min(next, lostAt);
  if (ledger.firstRounds !== undefined) next = Math.min(next, ledger.firstRounds.until);
  return next === Number.POSITIVE_INFINITY ? undefined : (next as Instant);
}
