import { formatOf } from "../git/oid.ts";
import type { RepoState } from "../grasp/state.ts";
import type { EventId } from "../nostr/event.ts";
import { authoritative, isComplete } from "./authoritative.ts";
import type { AnnouncementEvidence, RepositoryEvidence } from "./evidence.ts";
import type { LiveRecord } from "./overlay.ts";

/** One owner's repository as a settlement sees it. */
export interface View {
  /** As in the evidence; its format is decided where a state is satisfied (grasp.md 6.4). */
  readonly repository: RepositoryEvidence;
  /** The authoritative state. */
  readonly base: RepoState | undefined;
  /** `closes`: the last state was deleted (grasp.md 11.3). */
  readonly turn: "opens" | "closes" | undefined;
  /** Served once it is aligned. */
  readonly isOpen: boolean;
  isComplete(state: RepoState): boolean;
}

/** With what partial pushes have moved ahead in it, newest state first. */
export interface OverlaidView extends View {
  readonly live: readonly LiveRecord[];
}

export function viewOf(repository: RepositoryEvidence, states: readonly RepoState[], announcement: AnnouncementEvidence | undefined): View {
  const known = new Map<EventId, boolean>();
  const complete = (state: RepoState): boolean => {
    const answer = known.get(state.id) ?? isComplete(state, repository);
    known.set(state.id, answer);
    return answer;
  };
  const base = authoritative(states, repository);
  const [first] = base?.refs.values() ?? [];
  const format = repository.format ?? (first === undefined ? undefined : formatOf(first));
  const turn = repository.standing === "served" ? closing(repository, states, base) : opening(announcement, base);
  const isOpen = turn === "opens" || (repository.standing === "served" && turn !== "closes");
  return { repository: { ...repository, format }, base, turn, isOpen, isComplete: complete };
}

/** grasp.md 6.10: a state without refs promotes no announcement. */
const opening = (announcement: AnnouncementEvidence | undefined, base: RepoState | undefined): View["turn"] =>
  announcement !== undefined && base !== undefined && base.refs.size > 0 ? "opens" : undefined;

/** A set that has lost its state's author keeps what it has (grasp.md 6.6); a state that is gone altogether, with none left, was deleted (11.3). */
const closing = ({ aligned }: RepositoryEvidence, states: readonly RepoState[], base: RepoState | undefined): View["turn"] =>
  base === undefined && aligned !== undefined && !states.some(({ id }) => id === aligned.id) ? "closes" : undefined;
