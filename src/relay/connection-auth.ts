import { type Instant, toUnixSeconds } from "../base/time.ts";
import { checkAuth } from "../nostr/auth.ts";
import { isEventId, type NostrEvent, readEvent } from "../nostr/event.ts";
import { reason } from "../nostr/reason.ts";
import { authText, okText } from "../nostr/relay-message.ts";
import type { Connection, Step, Terms } from "./connection-state.ts";
import { say, slowDown, spendRate, turnAway } from "./connection-words.ts";

/** NIP-42. */

/** One key more than any client has is one attack on memory. */
export const AUTHENTICATED_MAX = 50;

export function onAuth(terms: Terms, before: Connection, value: unknown, now: Instant): Step {
  const { state, ok } = spendRate(terms, before, "auths", now);
  const event = readEvent(value);
  if (typeof event === "string")
    return turnAway(state, { verb: "AUTH", id: idOf(value) }, ok ? reason("invalid", event) : slowDown("authentications"));
  if (!ok) return turnAway(state, { verb: "AUTH", id: event.id }, slowDown("authentications"));
  if (!state.challenged) {
    const why = reason("invalid", "no challenge had been sent on this connection; here is one");
    const challenged = { ...state, challenged: true };
    return {
      state: challenged,
      effects: [
        { kind: "say", text: authText(state.challenge) },
        { kind: "say", text: okText(event.id, false, why) },
      ],
    };
  }
  return { state, effects: [{ kind: "prove", event }] };
}

export function onProved(terms: Terms, state: Connection, event: NostrEvent, problem: string | undefined, now: Instant): Step {
  const expected = { challenge: state.challenge, relayUrls: terms.relayUrls, now: toUnixSeconds(now) };
  const why = problem ?? checkAuth(event, expected);
  if (why !== undefined) return say(state, okText(event.id, false, reason("invalid", why)));
  if (state.authenticated.includes(event.pubkey)) return say(state, okText(event.id, true, ""));
  if (state.authenticated.length >= AUTHENTICATED_MAX) {
    return say(
      state,
      okText(event.id, false, reason("rate-limited", `at most ${AUTHENTICATED_MAX} keys may authenticate on one connection`)),
    );
  }
  return say({ ...state, authenticated: [...state.authenticated, event.pubkey] }, okText(event.id, true, ""));
}

function idOf(value: unknown): string | undefined {
  const id = typeof value === "object" && value !== null ? (value as Record<string, unknown>)["id"] : undefined;
  return typeof id === "string" && isEventId(id) ? id : undefined;
}
