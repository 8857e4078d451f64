import type { OverlayRecord } from "../grasp/overlay.ts";
import type { EventId } from "../nostr/event.ts";
import { announcementMoves } from "./announcement-moves.ts";
import { type Evidence, newestAnnouncements } from "./evidence.ts";
import { liveRecords } from "./overlay.ts";
import { pullRequestPromotions } from "./pull-request-tips.ts";
import { settleRepository } from "./repository-settlement.ts";
import type { Displaced, Promotion, Settlement } from "./settlement.ts";
import { stateMoves } from "./state-moves.ts";
import { type OverlaidView, viewOf } from "./view.ts";

/**
 * The one decision about git data (grasp.md 6.6), taken again whenever evidence changes. It knows no time, so nothing moves by time alone; it is idempotent,
 * and the order of the evidence means nothing to it.
 */
export function settle(evidence: Evidence): Settlement {
  const announcements = newestAnnouncements(evidence);
  const states = evidence.states.map(({ state }) => state);
  const bare = evidence.repositories.map((repository) => viewOf(repository, states, announcements.get(repository.owner)));

  const moves = stateMoves(evidence, bare);
  const superseded = moves.flatMap(({ served, superseded }) => superseded.map((id): Displaced => ({ kind: "state", id, by: served.id })));
  const dropped = moves.flatMap(({ served, dropped }) => dropped.map((id): Displaced => ({ kind: "state", id, by: served.id })));
  const promoted = moves.filter((move) => move.isPromoted).map(({ served, needs }): Promotion => ({ kind: "state", id: served.id, needs }));

  const past = new Set([...superseded, ...dropped, ...promoted].map(({ id }) => id));
  const current = evidence.states.filter(({ state, standing }) => standing !== "superseded" && !past.has(state.id));
  const byId = new Map(current.map(({ state }) => [state.id, state]));
  const views: readonly OverlaidView[] = bare
    .map((view) => ({ ...view, live: liveRecords(evidence.overlay, view.repository, byId, view.base) }))
    .toSorted((a, b) => (a.repository.owner < b.repository.owner ? -1 : 1));

  const repositories = views.map((view) => settleRepository(evidence, view));
  const announced = announcementMoves(
    evidence,
    views,
    moves.map(({ served }) => served),
  );
  return {
    repositories,
    promotions: [...announced.promotions, ...promoted, ...pullRequestPromotions(evidence, views, repositories)].toSorted(inOrder),
    superseded: [...superseded, ...announced.superseded].toSorted(inOrder),
    dropped: dropped.toSorted(inOrder),
    withdrawn: announced.withdrawn.toSorted(inOrder),
    goneRecords: goneRecords(evidence, views),
    keep: [...new Set([...restedOn(evidence, views), ...announced.keep])].toSorted(),
  };
}

/** grasp.md 6.7. Records of repositories that are not in the evidence are not ours to judge. */
function goneRecords(evidence: Evidence, views: readonly OverlaidView[]): readonly OverlayRecord[] {
  const owners = new Set(views.map(({ repository }) => repository.owner));
  const live = new Set(views.flatMap((view) => view.live.map(({ record }) => record)));
  const key = ({ repo, ref, state }: OverlayRecord) => ({ id: `${repo.owner} ${ref} ${state}` });
  return evidence.overlay
    .filter((record) => owners.has(record.repo.owner) && !live.has(record))
    .toSorted((a, b) => inOrder(key(a), key(b)));
}

/** States that refs come from: those among them that time could take must be kept. */
function restedOn(evidence: Evidence, views: readonly OverlaidView[]): readonly EventId[] {
  const ids = new Set<EventId | undefined>();
  for (const { repository, base, isOpen, live } of views) {
    // Where no state is complete, things stay as the last one left them (grasp.md 6.6).
    if (isOpen) ids.add(base?.id ?? repository.aligned?.id);
    for (const { state } of live) ids.add(state.id);
  }
  return evidence.states.filter(({ state, standing }) => standing !== "served" && ids.has(state.id)).map(({ state }) => state.id);
}

const inOrder = (a: { readonly id: string }, b: { readonly id: string }): number => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
