import { type Machine, type Step, unreachable } from "../base/machine.ts";
import { earlier, type Instant, plus } from "../base/time.ts";
import { nextDue } from "./due.ts";
import { expire } from "./expiry.ts";
import { announcementOf, hold, showLife } from "./holding.ts";
import { LedgerDraft } from "./ledger-draft.ts";
import type { Effect, Entry, Input, Ledger, LedgerInput, Standing } from "./ledger-state.ts";
import type { Lifetimes } from "./lifetimes.ts";
import { isHunted, type ProjectKey, tipKey, type Waiting } from "./waiting.ts";

/** What waits, and until when. Its invariants and its table stand in SPEC.md. */
export const ledgerMachine = (limits: Lifetimes): Machine<Ledger, Input, Effect> => ({
  step: (ledger, input, now) => step(new LedgerDraft(ledger, limits), input, now),
  wakeAt: nextDue,
});

function step(draft: LedgerDraft, input: LedgerInput, now: Instant): Step<Ledger, Effect> {
  switch (input.kind) {
    case "held":
      hold(draft, input.waiting, now);
      break;
    case "sign-of-life":
      for (const repository of new Set(input.repositories)) {
        const entry = announcementOf(draft, repository);
        if (entry !== undefined) showLife(draft, entry, now);
      }
      break;
    case "fetch-began":
      if (draft.now.fetches.has(input.fetch) || draft.now.fetches.size < draft.limits.fetchesMax) {
        draft.edit("fetches").set(input.fetch, { projects: input.projects, lostAt: plus(now, draft.limits.fetchLostMs) });
      }
      break;
    case "fetch-ended":
      endFetch(draft, input.fetch, now);
      break;
    case "round-ended":
      endRound(draft, input.project);
      break;
    case "settled":
      for (const id of [...input.promoted, ...input.dropped]) draft.drop(id);
      for (const standing of input.standing) stand(draft, standing, now);
      break;
    case "deleted":
      for (const id of input.ids) draft.drop(id);
      break;
    case "staged":
      stage(draft, input.tip, now);
      break;
    case "unstaged":
      if (draft.now.tips.has(tipKey(input.tip))) draft.edit("tips").delete(tipKey(input.tip));
      break;
    case "started":
      start(draft, Math.max(0, input.downMs), now);
      break;
    case "wake":
      expire(draft, now);
      break;
    default:
      unreachable(input);
  }
  return draft.done();
}

/** What the fetch brought is settled next: what would be over meanwhile gets that long. */
function endFetch(draft: LedgerDraft, fetch: string, now: Instant): void {
  const ended = draft.now.fetches.get(fetch);
  if (ended === undefined) return;
  draft.edit("fetches").delete(fetch);
  const settleUntil = plus(now, draft.limits.settleMs);
  const concerns = ({ waiting, until }: Entry): boolean =>
    until < settleUntil && waiting.projects.some((project) => ended.projects.includes(project));
  for (const [id, entry] of draft.now.waiting) if (concerns(entry)) draft.edit("waiting").set(id, { ...entry, settleUntil });
  for (const [id, entry] of draft.now.soft) if (concerns(entry)) draft.edit("soft").set(id, { ...entry, settleUntil });
}

/** grasp.md 6.2: nothing expires before one full hunting round after a start. */
function endRound(draft: LedgerDraft, project: ProjectKey): void {
  const { firstRounds } = draft.now;
  if (firstRounds === undefined || firstRounds.hunted.has(project)) return;
  // Only projects that something waits for, so that the set stays as small as what waits.
  const waits = [...draft.now.waiting.values(), ...draft.now.soft.values()].some(({ waiting }) => waiting.projects.includes(project));
  if (waits) draft.setFirstRounds({ ...firstRounds, hunted: new Set([...firstRounds.hunted, project]) });
}

function stand(draft: LedgerDraft, { id, projects, invited, overlaid }: Standing, now: Instant): void {
  const entry = draft.now.waiting.get(id);
  if (entry === undefined) {
    const soft = draft.now.soft.get(id);
    if (soft !== undefined && !isSame(soft.waiting, { ...soft.waiting, projects })) {
      draft.edit("soft").set(id, { ...soft, waiting: { ...soft.waiting, projects } });
    }
    return;
  }
  const { waiting } = entry;
  const next: Waiting = waiting.what === "state" ? { ...waiting, projects, invited, overlaid } : { ...waiting, projects };
  if (isSame(waiting, next)) return;
  const until = untilAfter(draft.limits, entry, next, now);
  draft.wait({ ...entry, waiting: next, until });
  if (until !== entry.until) draft.effects.push({ kind: "extend", id, until });
  if (isHunted(next) && !isHunted(waiting)) draft.need(projects, "held");
}

/** grasp.md 4.5: a key that is confirmed has from then on as long as any other; one that is only invited again, its 7 days from the beginning. */
function untilAfter(limits: Lifetimes, { waiting, heldAt, until }: Entry, next: Waiting, now: Instant): Instant {
  if (waiting.what !== "state" || next.what !== "state" || waiting.invited === next.invited) return until;
  const invitedUntil = plus(heldAt, limits.invitedMs);
  return next.invited ? invitedUntil : earlier(plus(now, limits.waitMs), plus(invitedUntil, limits.waitMs));
}

const isSame = (a: Waiting, b: Waiting): boolean =>
  a.projects.join("\n") === b.projects.join("\n") &&
  (a.what !== "state" || b.what !== "state" || (a.invited === b.invited && a.overlaid === b.overlaid));

/** grasp.md 7.9: at most 4 tips an id, so that nobody can overwrite another's; a tip that comes again keeps its deadline. */
function stage(draft: LedgerDraft, tip: Parameters<typeof tipKey>[0], now: Instant): void {
  const { limits } = draft;
  if (draft.now.tips.has(tipKey(tip))) return;
  let ofId = 0;
  for (const { tip: other } of draft.now.tips.values()) if (other.id === tip.id && other.repository === tip.repository) ofId++;
  if (ofId >= limits.tipsPerId || draft.now.tips.size >= limits.tipsMax) draft.effects.push({ kind: "unstage", tip });
  else draft.edit("tips").set(tipKey(tip), { tip, until: plus(now, limits.tipMs) });
}

/** grasp.md 6.2: time that we were down does not count. Fetches of the process before are gone with it. */
function start(draft: LedgerDraft, downMs: number, now: Instant): void {
  const wanted = new Set<ProjectKey>();
  const shifted = <E extends Entry>(entry: E): E => ({
    ...entry,
    heldAt: plus(entry.heldAt, downMs),
    until: plus(entry.until, downMs),
    settleUntil: undefined,
  });
  for (const [id, entry] of draft.now.waiting) {
    draft.edit("waiting").set(id, shifted(entry));
    if (isHunted(entry.waiting)) for (const project of entry.waiting.projects) wanted.add(project);
  }
  for (const [id, entry] of draft.now.soft) draft.edit("soft").set(id, shifted(entry));
  for (const [key, { tip, until }] of draft.now.tips) draft.edit("tips").set(key, { tip, until: plus(until, downMs) });
  draft.edit("fetches").clear();
  draft.setFirstRounds({ until: plus(now, draft.limits.firstRoundMs), hunted: new Set() });
  if (downMs > 0) draft.effects.push({ kind: "shift", byMs: downMs });
  draft.need(wanted, "started");
}
