import { formatOf, type ObjectFormat } from "../git/oid.ts";
import type { RefName } from "../git/ref-name.ts";
import type { RefUpdate } from "../git/ref-update.ts";
import { isOfNewerState, type OverlayRecord } from "../grasp/overlay.ts";
import type { RepoState } from "../grasp/state.ts";
import { wins } from "../nostr/replaceable.ts";
import type { PushFacts } from "./push-facts.ts";
import { movedByNewer, PUSH_REASONS, stateExpects, stateUnusable } from "./push-reason.ts";

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
  const state = usable.find((one) => moves.every((update) => objection(update, one, overlay, facts) === undefined));
  if (state !== undefined) return { state, refused: new Map() };
  return { state: undefined, refused: refusals(moves, facts, overlay, candidates[0], usable[0]) };
}

function refusals(
  moves: readonly RefUpdate[],
  facts: PushFacts,
  overlay: Overlay,
  newest: RepoState | undefined,
  usable: RepoState | undefined,
): ReadonlyMap<RefUpdate, string> {
  const refused = new Map<RefUpdate, string>();
  const unusable = newest === undefined ? undefined : whyUnusable(newest, facts);
  const general =
    newest === undefined
      ? facts.confirmed.size === 0
        ? PUSH_REASONS.nobody
        : PUSH_REASONS.noState
      : unusable && stateUnusable(newest, unusable);
  for (const update of moves) {
    const found = usable === undefined ? general : objection(update, usable, overlay, facts);
    // A state that can never be fulfilled is the news, even when an older one would have something to say.
    if (found !== undefined) refused.set(update, general ?? found);
  }
  return refused;
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

/** Why this state does not allow this update, whatever the client believes the ref to be. */
function objection(update: RefUpdate, state: RepoState, overlay: Overlay, facts: PushFacts): string | undefined {
  const expected = state.refs.get(update.ref);
  if (expected !== update.to) return stateExpects(state, expected);
  const record = overlay.get(update.ref);
  if (record === undefined || !isOfNewerState(record, state)) return undefined;
  return movedByNewer(record, facts.states.find(({ id }) => id === record.state)?.author);
}
