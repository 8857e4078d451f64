import type { ObjectFormat, Oid } from "../git/oid.ts";
import { nostrRefId, type RefName } from "../git/ref-name.ts";
import type { RefUpdate } from "../git/ref-update.ts";
import type { PushReport, RefResult } from "../git/report-status.ts";
import type { OverlayRecord } from "../grasp/overlay.ts";
import type { EventId } from "../nostr/event.ts";
import type { PushFacts } from "../policy/push-facts.ts";
import { overlayRecords, type PushVerdict } from "../policy/push-policy.ts";
import { PUSH_REASONS, stoppedBy } from "../policy/push-reason.ts";
import type { ArrivalRequest, PushedTip, RefOutcome, TipProblem, UnsignedTip } from "./push-ports.ts";

/** grasp.md 7.16. */
export interface PackSizes {
  readonly packBytesMax: number;
  /** Of a push with a pull request by a key outside the maintainer set. */
  readonly strangerBytesMax: number;
}

export interface RefuseStep {
  readonly kind: "refuse";
  readonly report: PushReport;
  readonly hint: string;
}

export type FirstStep =
  | RefuseStep
  /** Every ref is as asked: whatever else the client sends is thrown away. */
  | { readonly kind: "answer"; readonly report: PushReport }
  /** Only deletes: no objects are needed. */
  | { readonly kind: "delete" }
  | { readonly kind: "receive"; readonly unsigned: readonly UnsignedTip[]; readonly packBytesMax: number };

/** Taken before the pack is read. */
export function firstStep(verdict: PushVerdict, facts: PushFacts, hasReserve: boolean, sizes: PackSizes): FirstStep {
  if (verdict.kind === "refused") return refuse(reportOf(verdict), HINTS.policy);
  if (isDone(verdict)) return { kind: "answer", report: reportOf(verdict) };
  if (!hasReserve) return refuse(refuseAll(verdict, REASONS.diskReserve));
  if (!needsObjects(verdict)) return { kind: "delete" };
  return { kind: "receive", unsigned: unsignedOf(verdict), packBytesMax: packBytesMax(verdict, facts, sizes) };
}

export interface ApplyStep {
  readonly kind: "apply";
  /** `from` is the value under the lock, whatever the client believes (grasp.md 7.5). */
  readonly updates: readonly RefUpdate[];
  /** Of the updates: what must be here before refs move. */
  readonly tips: readonly Oid[];
  readonly unsigned: readonly UnsignedTip[];
  readonly records: readonly OverlayRecord[];
}

export type LaneStep = RefuseStep | { readonly kind: "answer"; readonly report: PushReport } | ApplyStep;

/** grasp.md 7.10: the verdict once more, under the lock. `received` is what objects were received for; `undefined`: none were. */
export function laneStep(verdict: PushVerdict, facts: PushFacts, received: Pick<ArrivalRequest, "unsigned"> | undefined): LaneStep {
  if (verdict.kind === "refused") return refuse(reportOf(verdict), HINTS.policy);
  if (isDone(verdict)) return { kind: "answer", report: reportOf(verdict) };
  const unsigned = unsignedOf(verdict);
  const isReady = unsigned.every(({ event, tip }) => received?.unsigned.some((other) => other.event === event && other.tip === tip));
  // What was received for one purpose does not do for another: that push comes again.
  if (!isReady || (received === undefined && needsObjects(verdict))) return refuse(refuseAll(verdict, REASONS.changedMeanwhile));
  const updates = verdict.refs.flatMap((ref) =>
    ref.kind === "ok" && ref.deed.kind === "apply" ? [{ ...ref.update, from: facts.present.refs.get(ref.update.ref) }] : [],
  );
  const tips = updates.flatMap(({ to }) => to ?? []);
  return { kind: "apply", updates, tips, unsigned, records: overlayRecords(verdict, facts) };
}

/** What is said behind `ng` for reasons that are not the policy's. */
export const REASONS = {
  diskReserve: "error: disk reserve reached",
  changedMeanwhile: "the repository changed while the push arrived; push again",
  unpack: "the pack was not accepted",
  incomplete: "objects that it needs are no longer here; fetch, then push again",
} as const;

/** grasp.md 7.11: shown behind `remote:`, where `ng` lines say why for each ref. */
const HINTS = {
  plain: "Nothing was changed.",
  policy:
    "Nothing was changed. Branches and tags follow the maintainers' state events (kind 30618), refs/nostr/ follows pull request events.",
} as const;

export const refuse = (report: PushReport, hint: string = HINTS.plain): RefuseStep => ({ kind: "refuse", report, hint });

/** Every command with its own verdict. */
export const reportOf = (verdict: PushVerdict): PushReport => ({
  unpackError: undefined,
  results: verdict.refs.map((ref): RefResult => {
    const name = ref.update.ref;
    return ref.kind === "ok" ? { kind: "ok", ref: name } : { kind: "ng", ref: name, reason: ref.reason };
  }),
});

export const refuseAll = (verdict: PushVerdict, reason: string, unpackError?: string): PushReport => ({
  unpackError,
  results: verdict.refs.map(({ update: { ref } }) => ({ kind: "ng", ref, reason })),
});

/** grasp.md 7.7: one refused command refuses the whole push. */
function refuseFor(verdict: PushVerdict, reasons: ReadonlyMap<RefName, string>): PushReport {
  const [stopper] = reasons.keys();
  const other = stopper === undefined ? REASONS.changedMeanwhile : stoppedBy(stopper);
  return {
    unpackError: undefined,
    results: verdict.refs.map(({ update: { ref } }) => ({ kind: "ng", ref, reason: reasons.get(ref) ?? other })),
  };
}

export const tipsOf = (verdict: PushVerdict): readonly PushedTip[] =>
  verdict.refs.flatMap(({ update: { ref, to } }) => (to === undefined ? [] : [{ ref, oid: to }]));

export function refuseTips(verdict: PushVerdict, problems: readonly TipProblem[]): PushReport {
  const reasons = problems.map((problem): [RefName, string] => {
    const { ref, oid } = problem.tip;
    return [
      ref,
      problem.kind === "missing" ? `${oid} is not in the pack, nor here` : `a commit is wanted, and ${oid} is a ${problem.type}`,
    ];
  });
  return refuseFor(verdict, new Map(reasons));
}

export const refuseStaging = (verdict: PushVerdict, { event }: UnsignedTip, reason: string): PushReport =>
  refuseFor(verdict, new Map([[`refs/nostr/${event}` as RefName, reason]]));

/** grasp.md 7.12: per-ref results are what really happened. */
export function reportAfter(verdict: PushVerdict, outcome: RefOutcome): PushReport {
  switch (outcome.kind) {
    case "applied":
      return reportOf(verdict);
    case "moved":
      return refuseFor(verdict, new Map([[outcome.ref, PUSH_REASONS.notThere(outcome.actual)]]));
    case "clash": {
      const [outer, inner] = outcome.refs;
      return refuseFor(
        verdict,
        new Map([
          [outer, PUSH_REASONS.standsInTheWay(inner)],
          [inner, PUSH_REASONS.standsInTheWay(outer)],
        ]),
      );
    }
  }
}

/** The format is open until a first state is satisfied (grasp.md 6.4); until then it is the client's. */
export const formatFor = (facts: PushFacts, negotiated: ObjectFormat): ObjectFormat => facts.format ?? negotiated;

const isDone = ({ refs }: PushVerdict): boolean => refs.every((ref) => ref.kind === "ok" && ref.deed.kind === "already-there");

const needsObjects = ({ refs }: PushVerdict): boolean =>
  refs.some((ref) => ref.kind === "ok" && ref.update.to !== undefined && ref.deed.kind !== "already-there");

const unsignedOf = ({ refs }: PushVerdict): readonly UnsignedTip[] =>
  refs.flatMap((ref) => (ref.kind === "ok" && ref.deed.kind === "stage" ? [{ event: ref.deed.event, tip: ref.deed.tip }] : []));

function packBytesMax(verdict: PushVerdict, facts: PushFacts, sizes: PackSizes): number {
  const isStrangers = verdict.refs.some(({ update }) => {
    const author = facts.pullRequests.get(nostrRefId(update.ref) as EventId)?.author;
    return author !== undefined && !facts.confirmed.has(author);
  });
  const signed = isStrangers ? Math.min(sizes.packBytesMax, sizes.strangerBytesMax) : sizes.packBytesMax;
  return unsignedOf(verdict).length > 0 ? Math.min(signed, facts.unsigned.bytesLeft) : signed;
}
