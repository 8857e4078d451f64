import type { RefMap } from "../git/ref-map.ts";
import { isBranch, type RefName } from "../git/ref-name.ts";
import type { RepoState } from "../grasp/state.ts";

/** Where nobody says what HEAD is, people expect these. */
const USUAL = ["refs/heads/main", "refs/heads/master"] as RefName[];

/**
 * The branch that HEAD shall name once these refs are there. `states` are those that may say so, newest first (grasp.md 6.7: HEAD follows the newest waiting
 * state once its branch is there). If none does, it stays if its branch exists, else `main`, `master`, the first by name (6.4).
 */
export function headFor(states: readonly RepoState[], refs: RefMap["refs"], present: RefName): RefName {
  for (const { head, refs: declared } of states) if (head !== undefined && declared.has(head) && refs.has(head)) return head;
  if (refs.has(present)) return present;
  const usual = USUAL.find((name) => refs.has(name));
  if (usual !== undefined) return usual;
  let first: RefName | undefined;
  for (const name of refs.keys()) if (isBranch(name) && (first === undefined || name < first)) first = name;
  return first ?? present;
}
