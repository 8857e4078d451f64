import { unreachable } from "../base/machine.ts";
import type { Instant } from "../base/time.ts";
import type { Change } from "../store/batch.ts";
import type { Effect } from "./ledger-state.ts";

/** What an effect of the ledger changes in the store; nothing where it only asks somebody to act. */
export function changeFor(effect: Effect, now: Instant): Change | undefined {
  switch (effect.kind) {
    case "expire":
      return { kind: "restage", id: effect.id, from: "waiting", stage: "expired", until: effect.until };
    case "soft-expire":
      return { kind: "restage", id: effect.id, from: "waiting", stage: "soft-expired", until: effect.until };
    case "revive":
      return { kind: "restage", id: effect.id, from: "soft-expired", stage: "waiting", until: effect.until };
    case "extend":
      return { kind: "restage", id: effect.id, from: "waiting", stage: "waiting", until: effect.until };
    case "forget":
      return { kind: "release", id: effect.id, from: effect.from };
    case "refuse":
      return { kind: "release", id: effect.id, from: "waiting" };
    case "unstage":
      return { kind: "unstage-tip", repository: effect.tip.repository, id: effect.tip.id, tip: effect.tip.tip };
    case "shift":
      return { kind: "alive", at: now, shiftMs: effect.byMs };
    case "need":
      return undefined;
    default:
      return unreachable(effect);
  }
}
