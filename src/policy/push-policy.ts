import { formatOf } from "../git/oid.ts";
import { isBranch, isTag, nostrRefId, type RefName } from "../git/ref-name.ts";
import { type RefUpdate, withUpdates } from "../git/ref-update.ts";
import { newestPerRef, type OverlayRecord } from "../grasp/overlay.ts";
import { sameRepo } from "../grasp/repo-id.ts";
import type { RepoState } from "../grasp/state.ts";
import type { EventId } from "../nostr/event.ts";
import { judgePullRequestRef } from "./pull-request-ref-policy.ts";
import type { PushDeed, PushFacts } from "./push-facts.ts";
import { PUSH_REASONS, stoppedBy } from "./push-reason.ts";
import { decidingState } from "./push-state.ts";

export type RefVerdict =
  | { readonly kind: "ok"; readonly update: RefUpdate; readonly deed: PushDeed }
  | { readonly kind: "ng"; readonly update: RefUpdate; readonly reason: string };

/** One verdict per command, in their order. One refused command refuses the whole push (grasp.md 7.7). */
export interface PushVerdict {
  readonly kind: "allowed" | "refused";
  readonly refs: readonly RefVerdict[];
  /** The state that allows the branches and tags which move; `undefined` when none does. */
  readonly state: RepoState | undefined;
}

/** grasp.md 7.5 to 7.9. */
export function judgePush(updates: readonly RefUpdate[], facts: PushFacts): PushVerdict {
  const reasons = new Map<RefUpdate, string>();
  const deeds = new Map<RefUpdate, PushDeed>();
  /** Branches and tags that would move: one state decides about all of them. */
  const moves: RefUpdate[] = [];
  const seen = new Set<RefName>();
  for (const update of updates) {
    const found = seen.has(update.ref) ? PUSH_REASONS.twice : judgeAlone(update, facts);
    seen.add(update.ref);
    if (found === undefined) moves.push(update);
    else if (typeof found === "string") reasons.set(update, found);
    else deeds.set(update, found);
  }
  const overlay = newestPerRef(facts.overlay.filter((record) => sameRepo(record.repo, facts.repo)));
  const { state, refused } = decidingState(moves, facts, overlay);
  for (const update of moves) {
    const reason = refused.get(update);
    if (reason === undefined) deeds.set(update, { kind: "apply" });
    else reasons.set(update, reason);
  }
  if (reasons.size === 0) for (const [update, reason] of obstacles(updates, facts)) reasons.set(update, reason);
  // Fails closed: what has no commands asks for nothing that could be allowed (7.4).
  const isAllowed = reasons.size === 0 && updates.length > 0;
  const [stopper] = reasons.keys();
  const refs = updates.map((update): RefVerdict => {
    const deed = deeds.get(update);
    if (isAllowed && deed !== undefined) return { kind: "ok", update, deed };
    return { kind: "ng", update, reason: reasons.get(update) ?? stoppedBy(stopper?.ref ?? update.ref) };
  });
  return { kind: isAllowed ? "allowed" : "refused", refs, state: isAllowed ? state : undefined };
}

/** What can be said of a command without any state: a reason, a deed, or `undefined` when it takes a state. */
function judgeAlone(update: RefUpdate, facts: PushFacts): string | PushDeed | undefined {
  const { ref, from, to } = update;
  const event = nostrRefId(ref);
  if (event === undefined && !isBranch(ref) && !isTag(ref)) return PUSH_REASONS.outside;
  // grasp.md 7.6: git executes zero to zero as an unconditional delete.
  if (from === undefined && to === undefined) return PUSH_REASONS.zeroToZero;
  if (to !== undefined && facts.format !== undefined && formatOf(to) !== facts.format) return PUSH_REASONS.format(facts.format);
  const now = facts.present.refs.get(ref);
  if (now === to) return { kind: "already-there" };
  if (from === to) return PUSH_REASONS.notThere(now);
  return event === undefined ? undefined : judgePullRequestRef(event as EventId, to, facts);
}

/** grasp.md 7.5: a push that would leave `a` beside `a/b`. Only a ref that is new can do that. */
function obstacles(updates: readonly RefUpdate[], facts: PushFacts): Map<RefUpdate, string> {
  const { refs } = facts.present;
  const created = new Map<string, RefUpdate>();
  for (const update of updates) {
    const isNew = update.to !== undefined && !refs.has(update.ref);
    if (isNew && nostrRefId(update.ref) === undefined) created.set(update.ref, update);
  }
  const found = new Map<RefUpdate, string>();
  if (created.size === 0) return found;
  const after = withUpdates(refs, updates);
  for (const name of after.keys()) {
    for (let slash = name.indexOf("/"); slash >= 0; slash = name.indexOf("/", slash + 1)) {
      const parent = name.slice(0, slash) as RefName;
      if (!after.has(parent)) continue;
      const [inner, outer] = [created.get(name), created.get(parent)];
      if (inner !== undefined) found.set(inner, PUSH_REASONS.standsInTheWay(parent));
      if (outer !== undefined) found.set(outer, PUSH_REASONS.standsInTheWay(name));
    }
  }
  return found;
}

/** grasp.md 6.7: what to remember, durably and before the refs move, of a push that a waiting state allowed. */
export function overlayRecords(
  { state, refs }: PushVerdict,
  { repo, servedState }: Pick<PushFacts, "repo" | "servedState">,
): OverlayRecord[] {
  if (state === undefined || state.id === servedState?.id) return [];
  const records: OverlayRecord[] = [];
  for (const verdict of refs) {
    if (verdict.kind !== "ok" || verdict.deed.kind !== "apply") continue;
    const { ref, to } = verdict.update;
    if (nostrRefId(ref) === undefined) records.push({ repo, ref, value: to, state: state.id, stateCreatedAt: state.createdAt });
  }
  return records;
}
