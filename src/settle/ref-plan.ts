import { clash, type RefMap } from "../git/ref-map.ts";
import { isBranch, isTag, type RefName } from "../git/ref-name.ts";
import { type RefUpdate, withUpdates } from "../git/ref-update.ts";

/** The git half of a settlement, for one repository (grasp.md 6.8). */
export interface RefPlan {
  /**
   * None, one, or two where one name is a directory of another: deletes first, and the intent is on disk before them. Each is sorted by
   * name, and `from` is the value that a ref is expected to have.
   */
  readonly transactions: readonly (readonly RefUpdate[])[];
  /** Set after the refs. */
  readonly head: { readonly from: RefName; readonly to: RefName } | undefined;
}

export const isEmptyPlan = (plan: RefPlan): boolean => plan.transactions.length === 0 && plan.head === undefined;

/**
 * From what is there to what is wanted. `wanted` names every branch and tag that shall stay and the `refs/nostr/*` that shall be placed; every other ref is
 * somebody else's and is not touched (grasp.md 6.9).
 */
export function refPlan(present: RefMap, wanted: RefMap): RefPlan {
  const deletes: RefUpdate[] = [];
  const others: RefUpdate[] = [];
  for (const [ref, from] of present.refs) {
    if ((isBranch(ref) || isTag(ref)) && !wanted.refs.has(ref)) deletes.push({ ref, from, to: undefined });
  }
  for (const [ref, to] of wanted.refs) {
    const from = present.refs.get(ref);
    if (from !== to) others.push({ ref, from, to });
  }
  const isTwofold = clash([...present.refs.keys(), ...wanted.refs.keys()]) !== undefined;
  const transactions = isTwofold ? [deletes, others] : [[...deletes, ...others]];
  return {
    transactions: transactions.filter((changes) => changes.length > 0).map((changes) => changes.toSorted(byName)),
    head: present.head === wanted.head ? undefined : { from: present.head, to: wanted.head },
  };
}

const byName = (a: RefUpdate, b: RefUpdate): number => (a.ref < b.ref ? -1 : 1);

/** The refs that will be there once the plan is carried out. */
export function planned(present: RefMap, plan: RefPlan): RefMap {
  return { refs: withUpdates(present.refs, plan.transactions.flat()), head: plan.head?.to ?? present.head };
}
