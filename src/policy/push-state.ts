import { formatOf, type ObjectFormat } from "../git/oid.ts";
import type { RefName } from "../git/ref-name.ts";
import type { RefUpdate } from "../git/ref-update.ts";
import { isOfNewerState, type OverlayRecord } from "../grasp/overlay.ts";
import type { RepoState } from "../grasp/state.ts";
import { wins } from "../nostr/replaceable.ts";
import type { PushFacts } from "./push-facts.ts";
import { allowsNoPush, expects, isNewerAndExpects, PUSH_REASONS, stateName } from "./push-reason.ts";

export interface StateChoice {
  readonly state: RepoState | undefined;
  /** Why, for each update that may not be; empty when a state was found, or none is needed. */
  readonly refused: ReadonlyMap<RefUpdate, string>;
}

type Overlay = ReadonlyMap<RefName, OverlayRecord>;

/**
 * grasp.md 7.5: one state decides, the newest authorised one, not older than the served one, that allows all the branches and tags that would move. When
 * there is none, the newest says why: it is the one the pusher most likely means.
 */
export function decidingState(moves: readonly RefUpdate[], facts: PushFacts, overlay: Overlay): StateChoice {
  if (moves.length === 0) return { state: undefined, refused: new Map() };
  const candidates = candidateStates(facts);
  const usable = candidates.filter((state) => whyUnusable(state, facts) === undefined);
  const state = usable.find((one) => moves.every((update) => isAllowed(update, one, overlay)));
  if (state !== undefined) return { state, refused: new Map() };
  const [nearest] = usable;
  const told = whatToTell(candidates[0], facts, overlay);
  const refused = new Map<RefUpdate, string>();
  for (const update of moves) if (nearest === undefined || !isAllowed(update, nearest, overlay)) refused.set(update, told(update));
  return { state: undefined, refused };
}

/** A newest state that can never be fulfilled is the news, even when an older one would have something to say. */
function whatToTell(newest: RepoState | undefined, facts: PushFacts, overlay: Overlay): (update: RefUpdate) => string {
  if (newest === undefined) return () => (facts.confirmed.size === 0 ? PUSH_REASONS.nobody : PUSH_REASONS.noState);
  const named = stateName(newest.id, newest.author);
  const unusable = whyUnusable(newest, facts);
  if (unusable !== undefined) return () => allowsNoPush(named, unusable);
  return ({ ref, to }) => {
    const expected = newest.refs.get(ref);
    const record = overlay.get(ref);
    if (expected !== to || record === undefined) return expects(named, expected);
    return isNewerAndExpects(stateName(record.state, facts.states.find(({ id }) => id === record.state)?.author), record.value);
  };
}

/** Of confirmed keys, newest first, ties to the lower id. The served one is a floor only while its author belongs to the set. */
function candidateStates(facts: PushFacts): readonly RepoState[] {
  const floor = facts.servedState !== undefined && facts.confirmed.has(facts.servedState.author) ? facts.servedState : undefined;
  const byId = new Map<string, RepoState>(floor === undefined ? [] : [[floor.id, floor]]);
  for (const state of facts.states) {
    const isOfThis = state.identifier === facts.repo.identifier && facts.confirmed.has(state.author);
    if (isOfThis && (floor === undefined || !isNewer(floor, state))) byId.set(state.id, state);
  }
  return [...byId.values()].sort((a, b) => (isNewer(a, b) ? -1 : 1));
}

const isNewer = (a: RepoState, b: RepoState): boolean => wins({ id: a.id, created_at: a.createdAt }, { id: b.id, created_at: b.createdAt });

/** A state that can never become what is served authorises nothing on the way there. */
function whyUnusable(state: RepoState, facts: PushFacts): string | undefined {
  if (state.flaw !== undefined) return state.flaw;
  if (facts.format !== undefined && !isOfFormat(state, facts.format)) return "its object format is not the repository's";
  // grasp.md 6.10.
  if (state.refs.size === 0 && state.author !== facts.repo.owner) return "it declares no refs, and only the owner's may empty a repository";
  return undefined;
}

/** One value tells: a state of two formats is flawed. */
function isOfFormat(state: RepoState, format: ObjectFormat): boolean {
  for (const oid of state.refs.values()) return formatOf(oid) === format;
  return true;
}

/** Whatever the client believes the ref to be: the state is the authority, and no ref goes back behind what a newer one has moved (6.7). */
function isAllowed({ ref, to }: RefUpdate, state: RepoState, overlay: Overlay): boolean {
  if (state.refs.get(ref) !== to) return false;
  const record = overlay.get(ref);
  return record === undefined || !isOfNewerState(record, state);
}
