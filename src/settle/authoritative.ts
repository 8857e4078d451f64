import { formatOf, type Oid } from "../git/oid.ts";
import { isBranch, type RefName } from "../git/ref-name.ts";
import type { RepoState } from "../grasp/state.ts";
import { isNewer, type RepositoryEvidence } from "./evidence.ts";

/** Can this ref have this value here? A branch is a commit, and a repository has one object format (grasp.md 6.4). */
export function isHere(ref: RefName, oid: Oid, repository: RepositoryEvidence): boolean {
  if (repository.format !== undefined && formatOf(oid) !== repository.format) return false;
  const found = repository.objects(oid);
  return found === "commit" || (found === "other" && !isBranch(ref));
}

/** grasp.md 6.10: without any refs, only the owner's own state counts; of others it is skipped, authorises nothing, and waits. */
export const isIdleHere = (state: RepoState, repository: RepositoryEvidence): boolean =>
  state.flaw === undefined && state.refs.size === 0 && state.author !== repository.owner;

/** Is this a state of the maintainer set, all of whose objects are here? */
export function isComplete(state: RepoState, repository: RepositoryEvidence): boolean {
  if (state.flaw !== undefined || !repository.maintainers.confirmed.has(state.author)) return false;
  if (isIdleHere(state, repository)) return false;
  for (const [ref, oid] of state.refs) if (!isHere(ref, oid, repository)) return false;
  return true;
}

/** grasp.md 6.6: the newest complete state of the maintainer set, ties to the lower id; served, waiting or kept makes no difference. */
export function authoritative(states: Iterable<RepoState>, repository: RepositoryEvidence): RepoState | undefined {
  let newest: RepoState | undefined;
  for (const state of states) {
    // Age is cheaper to compare than objects are to look up.
    if ((newest === undefined || isNewer(state, newest)) && isComplete(state, repository)) newest = state;
  }
  return newest;
}
