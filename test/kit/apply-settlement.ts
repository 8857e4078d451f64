import type { PublicKey } from "../../src/nostr/event.ts";
import type { Evidence } from "../../src/settle/evidence.ts";
import { planned } from "../../src/settle/ref-plan.ts";
import type { Promotion, Settlement } from "../../src/settle/settlement.ts";

/** The evidence as it is once a settlement was carried out. Where `isCarried` says no, that repository's transaction failed and nothing of it happened. */
export function applySettlement<E extends Evidence>(
  evidence: E,
  settlement: Settlement,
  isCarried: (owner: PublicKey) => boolean = () => true,
): E {
  const promoted = new Set(settlement.promotions.filter((promotion) => promotion.needs.some(isCarried)).map(({ id }) => id));
  const pending = new Set(settlement.promotions.map(({ id }: Promotion) => id).filter((id) => !promoted.has(id)));
  const happened = settlement.superseded.filter(({ by }) => !pending.has(by));
  const superseded = new Set(happened.map(({ id }) => id));
  const dropped = new Set(settlement.dropped.filter(({ by }) => !pending.has(by)).map(({ id }) => id));
  const gone = new Set(settlement.goneRecords.filter(({ repo }) => isCarried(repo.owner)));
  const byOwner = new Map(settlement.repositories.map((one) => [one.owner, one]));
  const withdrawn = new Set(settlement.withdrawn.filter(({ owner }) => isCarried(owner)).map(({ id }) => id));
  const states = evidence.states.filter(({ state }) => !dropped.has(state.id));
  const stopped = new Set(states.filter(({ state }) => promoted.has(state.id) || superseded.has(state.id)).map(({ state }) => state.id));
  return {
    ...evidence,
    announcements: evidence.announcements
      .filter(({ id }) => !superseded.has(id))
      .map((one) => {
        if (promoted.has(one.id)) return { ...one, standing: "served" };
        return withdrawn.has(one.id) ? { ...one, standing: "waiting" } : one;
      }),
    states: states.map((one) => {
      if (promoted.has(one.state.id)) return { ...one, standing: "served" };
      return superseded.has(one.state.id) ? { ...one, standing: "superseded" } : one;
    }),
    pullRequests: evidence.pullRequests.map((one) => (promoted.has(one.request.id) ? { ...one, standing: "served" } : one)),
    // However a state stops waiting, its records go with that.
    overlay: evidence.overlay.filter((record) => !gone.has(record) && !stopped.has(record.state) && !dropped.has(record.state)),
    repositories: evidence.repositories.map((one) => {
      const settled = byOwner.get(one.owner);
      if (settled === undefined || !isCarried(one.owner)) return one;
      const { plan, format, aligned, turn } = settled;
      const standing = turn === undefined ? one.standing : turn === "opens" ? "served" : "waiting";
      return { ...one, refs: planned(one.refs, plan), format, aligned, standing };
    }),
  };
}
