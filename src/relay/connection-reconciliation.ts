import type { Instant } from "../base/time.ts";
import { type Reason, reason } from "../nostr/reason.ts";
import { negErrText } from "../nostr/relay-message.ts";
import type { Connection, Input, Step, Terms } from "./connection-state.ts";
import { andSay, closeReconciliation, say, slowDown, spendRate, stay, turnAway } from "./connection-words.ts";
import { readPaidRequest } from "./paid-request.ts";
import { isReason } from "./subscription.ts";

/** NIP-77. */

export function onNegOpen(terms: Terms, before: Connection, sub: string, value: unknown, message: string, now: Instant): Step {
  const { state, request } = readPaidRequest(terms, before, sub, [value], now);
  const refuse = (why: Reason): Step => turnAway(state, { verb: "NEG-OPEN", sub }, why);
  // Peers take *unsupported* as a word about NIP-77 itself and give it up until they restart (grasp.md 3.4).
  if (isReason(request)) return refuse(request.prefix === "unsupported" ? { ...request, prefix: "invalid" } : request);
  // NIP-77: an open one of the same id is closed first.
  const without = closeReconciliation(state, sub);
  if (without.state.reconciliations.size >= terms.limits.negentropySessions) {
    return refuse(reason("rate-limited", `at most ${terms.limits.negentropySessions} reconciliations may be open at once`));
  }
  const epoch = state.nextEpoch;
  const [filter] = request.filters;
  return {
    state: { ...without.state, reconciliations: new Map(without.state.reconciliations).set(sub, epoch), nextEpoch: epoch + 1 },
    effects: [
      ...without.effects,
      { kind: "reconcile", sub, epoch, filter: filter === undefined ? undefined : { ...filter, limit: undefined }, message },
    ],
  };
}

export function onNegMessage(terms: Terms, before: Connection, sub: string, message: string, now: Instant): Step {
  const { state, ok } = spendRate(terms, before, "queries", now);
  if (!ok) return turnAway(state, { verb: "NEG-MSG", sub }, slowDown("queries"));
  const epoch = state.reconciliations.get(sub);
  if (epoch === undefined) return say(state, negErrText(sub, reason("closed", "no reconciliation of this id is open")));
  return { state, effects: [{ kind: "reconcile", sub, epoch, filter: undefined, message }] };
}

export function onReconciled(state: Connection, input: Input & { kind: "reconciled" }): Step {
  if (state.reconciliations.get(input.sub) !== input.epoch) return stay(state);
  return input.over ? andSay(closeReconciliation(state, input.sub), input.text) : say(state, input.text);
}
