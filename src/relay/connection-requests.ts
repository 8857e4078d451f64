import type { Instant } from "../base/time.ts";
import { type Reason, reason } from "../nostr/reason.ts";
import type { Connection, Step, Terms } from "./connection-state.ts";
import { closeSubscription, stay, turnAway } from "./connection-words.ts";
import { readPaidRequest } from "./paid-request.ts";
import { isReason } from "./subscription.ts";

/** REQ and COUNT (NIP-01, NIP-45). */

export function onReq(terms: Terms, before: Connection, sub: string, values: readonly unknown[], now: Instant): Step {
  const { state, request } = readPaidRequest(terms, before, sub, values, now);
  const refuse = (why: Reason): Step => turnAway(state, { verb: "REQ", sub }, why);
  if (isReason(request)) return refuse(request);
  // NIP-01: a REQ with a known id replaces the old one, whatever becomes of the new one.
  const without = closeSubscription(state, sub);
  const { limits } = terms;
  if (without.state.subscriptions.size >= limits.subscriptions) {
    return refuse(reason("rate-limited", `at most ${limits.subscriptions} subscriptions may be open at once`));
  }
  const subscriptionBytes = without.state.subscriptionBytes + request.bytes;
  if (subscriptionBytes > limits.subscriptionBytes) {
    return refuse(reason("rate-limited", `open subscriptions may hold ${limits.subscriptionBytes} bytes in all`));
  }
  const epoch = state.nextEpoch;
  const subscriptions = new Map(without.state.subscriptions).set(sub, { epoch, bytes: request.bytes });
  return {
    state: { ...without.state, subscriptions, subscriptionBytes, nextEpoch: epoch + 1 },
    effects: [...without.effects, { kind: "query", sub, epoch, filters: request.filters }],
  };
}

export function onCount(terms: Terms, before: Connection, sub: string, values: readonly unknown[], now: Instant): Step {
  const { state, request } = readPaidRequest(terms, before, sub, values, now);
  if (isReason(request)) return turnAway(state, { verb: "COUNT", sub }, request);
  return { state, effects: [{ kind: "count", sub, filters: request.filters }] };
}

export function onEnded(state: Connection, sub: string, epoch: number, why: Reason): Step {
  return state.subscriptions.get(sub)?.epoch === epoch ? turnAway(state, { verb: "REQ", sub }, why) : stay(state);
}
