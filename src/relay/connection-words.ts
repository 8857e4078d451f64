import { spend } from "../base/rate.ts";
import type { Instant } from "../base/time.ts";
import type { ClientVerb } from "../nostr/client-message.ts";
import { formatReason, type Reason, reason } from "../nostr/reason.ts";
import { closedText, negErrText, noticeText, okText } from "../nostr/relay-message.ts";
import type { Connection, RateName, Step, Terms } from "./connection-state.ts";

/** What all parts of a connection say and do alike. */

export const stay = (state: Connection): Step => ({ state, effects: [] });
export const say = (state: Connection, text: string): Step => ({ state, effects: [{ kind: "say", text }] });

export const andSay = ({ state, effects }: Step, text: string): Step => ({ state, effects: [...effects, { kind: "say", text }] });

export interface Spent {
  readonly state: Connection;
  readonly ok: boolean;
  readonly retryAt: Instant;
}

/** Where a whole minute's allowance is less than `n`, that much has to do: nobody shall be shut out for good. */
export function spendRate(terms: Terms, state: Connection, name: RateName, now: Instant, n = 1): Spent {
  const rate = terms.rates[name];
  if (rate === undefined) return { state, ok: true, retryAt: now };
  const { bucket, ok, retryAtMs } = spend(rate, state.rates[name], now, Math.min(n, rate.burst));
  return { state: { ...state, rates: { ...state.rates, [name]: bucket } }, ok, retryAt: retryAtMs };
}

/** The words for overload (grasp.md 3.4): never a word that makes a peer leave for good. */
export const slowDown = (what: string): Reason => reason("rate-limited", `too many ${what} in a minute, slow down`);

export function closeSubscription(state: Connection, sub: string): Step {
  const open = state.subscriptions.get(sub);
  if (open === undefined) return stay(state);
  const subscriptions = new Map(state.subscriptions);
  subscriptions.delete(sub);
  return {
    state: { ...state, subscriptions, subscriptionBytes: state.subscriptionBytes - open.bytes },
    effects: [{ kind: "forget", sub }],
  };
}

export function closeReconciliation(state: Connection, sub: string): Step {
  const epoch = state.reconciliations.get(sub);
  if (epoch === undefined) return stay(state);
  const reconciliations = new Map(state.reconciliations);
  reconciliations.delete(sub);
  return { state: { ...state, reconciliations }, effects: [{ kind: "reconcile-end", sub, epoch }] };
}

export interface Refused {
  readonly verb?: ClientVerb | undefined;
  readonly sub?: string | undefined;
  readonly id?: string | undefined;
}

/**
 * Whoever waits for an answer gets it where it waits; a NOTICE only where there is no better place. What is said to be closed is closed: after a CLOSED
 * nothing more comes for that subscription (NIP-01).
 */
export function turnAway(state: Connection, { verb, sub, id }: Refused, why: Reason): Step {
  if (id !== undefined && (verb === "EVENT" || verb === "AUTH")) return say(state, okText(id, false, why));
  if (sub !== undefined && verb === "REQ") return andSay(closeSubscription(state, sub), closedText(sub, why));
  if (sub !== undefined && verb === "COUNT") return say(state, closedText(sub, why));
  if (sub !== undefined && (verb === "NEG-OPEN" || verb === "NEG-MSG"))
    return andSay(closeReconciliation(state, sub), negErrText(sub, why));
  return say(state, noticeText(formatReason(why)));
}
