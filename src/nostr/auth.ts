import type { UnixSeconds } from "../base/time.ts";
import type { NostrEvent } from "./event.ts";
import { CLIENT_AUTH } from "./kinds.ts";
import { normaliseRelayUrl, type RelayUrl } from "./relay-url.ts";
import { tagValue } from "./tags.ts";

export interface AuthExpectation {
  /** The one we sent on this connection. */
  readonly challenge: string;
  /** Every address under which this relay may be known to a client. */
  readonly relayUrls: readonly RelayUrl[];
  readonly now: UnixSeconds;
  readonly windowSeconds?: number | undefined;
}

/** NIP-42: "within ~10 minutes". */
export const AUTH_WINDOW_SECONDS = 600;

/** NIP-42: what is wrong with an answer to our challenge, or `undefined`. Its id and signature are checked elsewhere. */
export function checkAuth(event: NostrEvent, expected: AuthExpectation): string | undefined {
  if (event.kind !== CLIENT_AUTH) return "an authentication event has kind 22242";
  if (Math.abs(event.created_at - expected.now) > (expected.windowSeconds ?? AUTH_WINDOW_SECONDS)) {
    return "the authentication event is too far from the current time";
  }
  if (tagValue(event, "challenge") !== expected.challenge) return "the challenge is not the one that was sent on this connection";
  const relay = normaliseRelayUrl(tagValue(event, "relay") ?? "");
  if (relay === undefined || !expected.relayUrls.includes(relay)) return "the relay tag does not name this relay";
  return undefined;
}
