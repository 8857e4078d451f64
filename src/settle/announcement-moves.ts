import type { RepoState } from "../grasp/state.ts";
import type { EventId, PublicKey } from "../nostr/event.ts";
import { type AnnouncementEvidence, type Evidence, isNewer, newestAnnouncements } from "./evidence.ts";
import type { Displaced, Promotion, Withdrawal } from "./settlement.ts";
import type { OverlaidView, View } from "./view.ts";

export interface AnnouncementMoves {
  readonly promotions: readonly Promotion[];
  readonly superseded: readonly Displaced[];
  /** Of repositories that close: they wait again (grasp.md 11.3). */
  readonly withdrawn: readonly Withdrawal[];
  /** Not served, and a ref rests on them all the same. */
  readonly keep: readonly EventId[];
}

/**
 * grasp.md 4.7: with a state, every waiting announcement that its author's confirmation rests on is promoted too, and with a repository that opens its own. So
 * no expiry ever rolls refs back. What a partial push rests on is not promoted by it, but kept. `served` are the states that are served from now on.
 */
export function announcementMoves(evidence: Evidence, views: readonly OverlaidView[], served: readonly RepoState[]): AnnouncementMoves {
  const newest = newestAnnouncements(evidence);
  const needed = neededOwners(views, served);
  const kept = new Set(
    views.flatMap((view) => restingOn(view, [...(view.isOpen ? baseOf(view) : []), ...view.live.map(({ state }) => state)])),
  );
  const closing = new Set(views.filter(({ turn }) => turn === "closes").map(({ repository }) => repository.owner));

  const unserved = [...newest.values()].filter(({ standing }) => standing !== "served");
  const promoted = unserved.filter(({ owner }) => needed.has(owner));
  const needs = ({ owner }: AnnouncementEvidence): readonly PublicKey[] => [...(needed.get(owner) ?? [])].toSorted();
  return {
    promotions: promoted.map((one): Promotion => ({ kind: "announcement", id: one.id, needs: needs(one) })),
    superseded: promoted.flatMap((winner) =>
      evidence.announcements
        .filter((other) => other.owner === winner.owner && other.standing === "served" && isNewer(winner, other))
        .map((other): Displaced => ({ kind: "announcement", id: other.id, by: winner.id })),
    ),
    withdrawn: evidence.announcements
      .filter(({ owner, standing }) => standing === "served" && closing.has(owner) && !needed.has(owner))
      .map(({ id, owner }) => ({ id, owner })),
    keep: unserved.filter(({ owner }) => kept.has(owner) && !needed.has(owner)).map(({ id }) => id),
  };
}

/** Whose announcement must be served, and the repositories that ask for it. */
function neededOwners(views: readonly View[], served: readonly RepoState[]): ReadonlyMap<PublicKey, ReadonlySet<PublicKey>> {
  const needed = new Map<PublicKey, Set<PublicKey>>();
  for (const view of views.filter(({ isOpen }) => isOpen)) {
    const { owner } = view.repository;
    // grasp.md 6.10: a state without refs promotes no announcement.
    const base = baseOf(view).filter(({ refs }) => refs.size > 0);
    const others = served.filter((state) => state.refs.size > 0 && view.isComplete(state));
    const keys = [...restingOn(view, [...base, ...others]), ...(base.length > 0 ? [owner] : [])];
    for (const key of keys) needed.set(key, (needed.get(key) ?? new Set()).add(owner));
  }
  return needed;
}

const baseOf = ({ base }: View): readonly RepoState[] => (base === undefined ? [] : [base]);

const restingOn = ({ repository }: View, states: readonly RepoState[]): readonly PublicKey[] =>
  states.flatMap(({ author }) => [...repository.maintainers.restsOn(author)]);
