import type { RepoState } from "../grasp/state.ts";
import type { EventId, PublicKey } from "../nostr/event.ts";
import { type Evidence, isNewer, newestFirst, type StateEvidence } from "./evidence.ts";
import type { View } from "./view.ts";

/** What became of one author's states. */
export interface StateMoves {
  /** The one that is served from now on, and whether that is new. */
  readonly served: RepoState;
  readonly isPromoted: boolean;
  /** Repositories of which one must be aligned before it may be served. */
  readonly needs: readonly PublicKey[];
  /** Older ones of its author that could be brought back (grasp.md 11.3). */
  readonly superseded: readonly EventId[];
  /** Older waiting ones that can no longer be completed (grasp.md 6.6). */
  readonly dropped: readonly EventId[];
}

/** Per author of the evidence whose states count somewhere; the others' stay as they are (grasp.md 6.6). */
export function stateMoves(evidence: Evidence, views: readonly View[]): readonly StateMoves[] {
  const byAuthor = Map.groupBy(evidence.states, ({ state }) => state.author);
  // What a repository is aligned to is never dropped: if it were gone, it would look deleted (grasp.md 11.3).
  const inUse = new Set(views.map(({ repository }) => repository.aligned?.id));
  const moves: StateMoves[] = [];
  for (const [author, own] of byAuthor) {
    const theirs = views.filter(({ repository }) => repository.maintainers.confirmed.has(author));
    const found = theirs.length === 0 ? undefined : movesOf(own, theirs, inUse);
    if (found !== undefined) moves.push(found);
  }
  return moves;
}

function movesOf(own: readonly StateEvidence[], views: readonly View[], inUse: ReadonlySet<EventId | undefined>): StateMoves | undefined {
  const newest = own.toSorted((a, b) => newestFirst(a.state, b.state));
  const open = views.filter((view) => view.isOpen);
  // Its author's newest complete state is promoted, authoritative or not, unless a newer one is served: relays know one state per author.
  const served = newest.find(({ state, standing }) => standing === "served" || open.some((view) => view.isComplete(state)));
  if (served === undefined) return undefined;
  const older = own.filter(({ state, standing }) => standing !== "superseded" && isNewer(served.state, state));
  const isUsable = ({ state, standing }: StateEvidence) =>
    standing === "served" || inUse.has(state.id) || views.some((view) => view.isComplete(state));
  const ids = (list: readonly StateEvidence[]) => list.map(({ state }) => state.id);
  const isPromoted = served.standing !== "served";
  return {
    served: served.state,
    isPromoted,
    needs: isPromoted ? alignedFirst(served.state, open) : [],
    superseded: ids(older.filter(isUsable)),
    dropped: ids(older.filter((state) => !isUsable(state))),
  };
}

/** Nothing is served before its refs moved (grasp.md 6.5): where it is authoritative they move to it; elsewhere that repository's own are in order first. */
function alignedFirst(state: RepoState, open: readonly View[]): readonly PublicKey[] {
  const decided = open.filter((view) => view.base?.id === state.id);
  const owners = decided.length > 0 ? decided : open.filter((view) => view.isComplete(state));
  return owners.map(({ repository }) => repository.owner).toSorted();
}
