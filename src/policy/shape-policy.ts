import type { UnixSeconds } from "../base/time.ts";
import { deletionTargets } from "../nostr/deletion.ts";
import type { NostrEvent, PublicKey } from "../nostr/event.ts";
import { isExpired } from "../nostr/expiration.ts";
import { CLIENT_AUTH, DELETION } from "../nostr/kinds.ts";
import { embedsProtected, isProtected } from "../nostr/protected.ts";
import { REASONS, type Reason, reason } from "../nostr/reason.ts";
import { hasWork } from "../nostr/work.ts";
import type { Rules } from "./rules.ts";

/** Who hands the event in, as far as NIP-70 cares. */
export interface Presenter {
  readonly authenticated: readonly PublicKey[];
}

/**
 * What can be refused by looking at the event alone, before its signature is paid for. Nothing is remembered of what is refused here, so a forged copy
 * shuts nobody out (grasp.md 8.21).
 */
export function judgeShape(event: NostrEvent, rules: Rules, presenter: Presenter, now: UnixSeconds): Reason | undefined {
  if (event.kind === CLIENT_AUTH) return reason("invalid", "kind 22242 authenticates a connection and is sent with AUTH");
  if (isExpired(event, now)) return reason("invalid", "this event has expired");
  if (rules.minPow > 0) {
    const lacking = hasWork(event, rules.minPow);
    if (lacking !== undefined) return lacking;
  }
  if (isProtected(event) && !presenter.authenticated.includes(event.pubkey)) {
    return REASONS.protectedEvent;
  }
  if (embedsProtected(event)) return reason("invalid", "a repost must not embed a protected event");
  if (event.kind === DELETION && deletionTargets(event).count > rules.deletionTargetsMax) return REASONS.tooManyDeletionTargets;
  return undefined;
}
