import { isOurRelay } from "../grasp/place.ts";
import type { NostrEvent } from "../nostr/event.ts";
import { ANNOUNCEMENT, DELETION, GRASP_LIST, METADATA, RELAY_LIST, STATE, VANISH } from "../nostr/kinds.ts";
import { REASONS, type Reason, reason } from "../nostr/reason.ts";
import { wins } from "../nostr/replaceable.ts";
import { asksToVanish } from "../nostr/vanish.ts";
import { judgeBlocks } from "./block-policy.ts";
import type { Facts } from "./facts.ts";
import { decideHolding } from "./holding-policy.ts";
import { judgeAnnouncement, judgeState } from "./repository-policy.ts";
import type { Rules } from "./rules.ts";
import { ACCEPT, duplicate, reject, type Verdict } from "./verdict.ts";

/** grasp.md 3.6: the order in which an event is judged. The first objection stands. */
export function decide(event: NostrEvent, facts: Facts, rules: Rules): Verdict {
  if (facts.served) return duplicate(REASONS.alreadyHave);
  if (facts.remembered) return duplicate(REASONS.rememberedRequest);
  const { holding } = facts;
  if (holding?.stage === "waiting") return duplicate(REASONS.inPurgatory);
  const shutOut = judgeBlocks(event, rules) ?? judgeGate(facts, rules);
  if (shutOut !== undefined) return reject(shutOut);
  if (holding !== undefined) return decideHolding(event, facts, holding, rules);
  const refusal = judgeKind(event, facts, rules);
  if (refusal !== undefined) return reject(refusal);
  if (facts.incumbent !== undefined && !wins(event, facts.incumbent)) return duplicate(REASONS.superseded);
  return ACCEPT;
}

/** grasp.md 11.1: what its author took back stays away, for as long as we remember that. */
function judgeGate(facts: Facts, rules: Rules): Reason | undefined {
  if (facts.gate === undefined || rules.ignoreDeletions) return undefined;
  return facts.gate.vanishUntil !== undefined ? REASONS.vanished : REASONS.deleted;
}

function judgeKind(event: NostrEvent, facts: Facts, rules: Rules): Reason | undefined {
  if (event.kind === DELETION) return judgeDeletion(facts, rules);
  if (rules.acceptance === "open") return undefined;
  switch (event.kind) {
    case ANNOUNCEMENT:
      return judgeAnnouncement(event, facts, rules);
    case STATE:
      return judgeState(event, facts);
    case VANISH:
      return asksToVanish(event, (relay) => isOurRelay(rules.places, relay))
        ? undefined
        : reason("invalid", "this request to vanish names other relays only");
    case METADATA:
    case RELAY_LIST:
      return facts.participant ? undefined : REASONS.strangersProfile;
    case GRASP_LIST:
      return facts.participant ? undefined : REASONS.strangersGraspList;
    default:
      return facts.related ? undefined : REASONS.orphan;
  }
}

/** grasp.md 11.1: a request that names nothing here may still matter later, so some are kept of each author; not without end. */
function judgeDeletion(facts: Facts, rules: Rules): Reason | undefined {
  if (facts.deletion === undefined || facts.deletion.removes.length > 0) return undefined;
  return facts.deletion.unused < rules.unusedDeletionsMax
    ? undefined
    : reason("rate-limited", "too many deletion requests of yours name nothing that is here");
}
