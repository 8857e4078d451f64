import type { Oid } from "../git/oid.ts";
import { isBranch, isTag, type RefName } from "../git/ref-name.ts";
import { type Evidence, isNewer, type RepositoryEvidence } from "./evidence.ts";
import { headFor } from "./head.ts";
import { overlaid } from "./overlay.ts";
import { tipsFor } from "./pull-request-tips.ts";
import { refPlan } from "./ref-plan.ts";
import type { RepositorySettlement } from "./settlement.ts";
import type { OverlaidView } from "./view.ts";

/** The git half of one repository: what its refs and HEAD shall be, and what is remembered of it. */
export function settleRepository(evidence: Evidence, view: OverlaidView): RepositorySettlement {
  const { repository, base, isOpen, live } = view;
  // Without a complete state refs stay as they are (grasp.md 6.6), but for what partial pushes move ahead (6.7).
  const refs = overlaid(base?.refs ?? branchesAndTags(repository), live, repository);
  const speaking = [...new Set(live.map(({ state }) => state)), ...(base === undefined ? [] : [base])];
  const head = speaking.length === 0 ? repository.refs.head : headFor(speaking, refs, repository.refs.head);
  // A PR belongs to a repository that is served: it does not make one.
  const tips = isOpen ? tipsFor(evidence, repository) : [];
  const plan = refPlan(repository.refs, { refs: new Map([...refs, ...tips]), head });
  const aligned = isOpen && base !== undefined ? { id: base.id, createdAt: base.createdAt } : repository.aligned;
  const moved = plan.transactions.flat().filter(({ from }) => from !== undefined);
  const isOlder = base !== undefined && repository.aligned !== undefined && isNewer(repository.aligned, base);
  const undone = isOlder ? undefined : undoneValues(evidence, view);
  const retain = moved.map(({ from }) => from as Oid).filter((oid) => undone?.has(oid) ?? true);
  return {
    owner: repository.owner,
    plan,
    format: repository.format,
    aligned,
    isRealigned: aligned?.id !== repository.aligned?.id,
    turn: view.turn,
    retain: [...new Set(retain)].toSorted(),
  };
}

function branchesAndTags({ refs }: RepositoryEvidence): ReadonlyMap<RefName, Oid> {
  return new Map([...refs.refs].filter(([ref]) => isBranch(ref) || isTag(ref)));
}

/** What partial pushes had moved ahead, of states that are gone or no longer count and that nothing newer has overtaken. */
function undoneValues(evidence: Evidence, { repository, base, live }: OverlaidView): ReadonlySet<Oid> {
  const states = new Map(evidence.states.map(({ state }) => [state.id, state]));
  const counting = new Set(live.map(({ record }) => record));
  const values = new Set<Oid>();
  for (const record of evidence.overlay) {
    if (record.repo.owner !== repository.owner || record.value === undefined || counting.has(record)) continue;
    const state = states.get(record.state);
    if (state === undefined || base === undefined || isNewer(state, base)) values.add(record.value);
  }
  return values;
}
