import { unreachable } from "../base/machine.ts";
import { type Bucket, fullBucket, ratePerMinute } from "../base/rate.ts";
import { type Instant, plus } from "../base/time.ts";
import { type ClientMessage, parseClientMessage } from "../nostr/client-message.ts";
import { type Reason, reason } from "../nostr/reason.ts";
import { authText } from "../nostr/relay-message.ts";
import type { RelayUrl } from "../nostr/relay-url.ts";
import { onAuth, onProved } from "./connection-auth.ts";
import { onNegMessage, onNegOpen, onReconciled } from "./connection-reconciliation.ts";
import { onCount, onEnded, onReq } from "./connection-requests.ts";
import type { Connection, Effect, Input, RateName, Step, Terms } from "./connection-state.ts";
import { onHeard, onWake, read, rest, wakeAt } from "./connection-time.ts";
import { closeReconciliation, closeSubscription, type Refused, slowDown, spendRate, turnAway } from "./connection-words.ts";
import { eventCost } from "./event-cost.ts";
import type { RelayLimits } from "./limits.ts";
import { isPlausible, peekEventId } from "./message-look.ts";

export function termsOf(limits: RelayLimits, relayUrls: readonly RelayUrl[]): Terms {
  const rate = (perMinute: number) => (perMinute === 0 ? undefined : ratePerMinute(perMinute));
  return {
    limits,
    relayUrls,
    rates: {
      events: rate(limits.eventsPerMinute),
      queries: rate(limits.queriesPerMinute),
      messages: rate(limits.messagesPerMinute),
      auths: rate(limits.authsPerMinute),
    },
  };
}

export function openConnection(terms: Terms, challenge: string, now: Instant): Connection {
  const full = (name: RateName): Bucket => {
    const rate = terms.rates[name];
    return rate === undefined ? { tokens: 0, at: now } : fullBucket(rate, now);
  };
  return {
    subscriptions: new Map(),
    subscriptionBytes: 0,
    reconciliations: new Map(),
    nextEpoch: 1,
    challenge,
    challenged: false,
    authenticated: [],
    rates: { events: full("events"), queries: full("queries"), messages: full("messages"), auths: full("auths") },
    unanswered: 0,
    restsUntil: undefined,
    paused: false,
    heardAt: now,
    pingedAt: undefined,
  };
}

/** A connection under these terms, as a machine. */
export function connectionMachine(terms: Terms) {
  return {
    step: (state: Connection, input: Input, now: Instant): Step => step(terms, state, input, now),
    wakeAt: (state: Connection): Instant => wakeAt(terms, state),
  };
}

function step(terms: Terms, state: Connection, input: Input, now: Instant): Step {
  switch (input.kind) {
    case "frame":
      return onFrame(terms, state, input.text, now);
    case "crowding-frame":
      return refuseFrame(state, rest(state, plus(now, CROWDED_REST_MS)), input.text);
    case "binary":
      return onBinary(terms, state, now);
    case "answered":
      return onAnswered(terms, state, input.text, now);
    case "proved":
      return onProved(terms, state, input.event, input.problem, now);
    case "ended":
      return onEnded(state, input.sub, input.epoch, input.reason);
    case "reconciled":
      return onReconciled(state, input);
    case "heard":
      return onHeard(state, input.at);
    case "wake":
      return onWake(terms, state, now);
    default:
      return unreachable(input);
  }
}

/** In a second an address earns back a sixtieth of its allowance. */
const CROWDED_REST_MS = 1_000;

/** A long message takes as long to read as many short ones, so it counts as so many: the largest as 80. */
const CHARACTERS_A_MESSAGE = 65_536;

function onFrame(terms: Terms, before: Connection, text: string, now: Instant): Step {
  const { state, ok, retryAt } = spendRate(terms, before, "messages", now, Math.max(1, Math.ceil(text.length / CHARACTERS_A_MESSAGE)));
  if (!ok) return refuseFrame(before, rest(state, retryAt), text);
  if (text.startsWith('["EVENT"')) return onEvent(terms, state, text, now);
  if (!isPlausible(text)) return turnAway(state, {}, IMPLAUSIBLE);
  const message = parseClientMessage(text);
  if (message.kind === "problem") return turnAway(state, message, reason("invalid", message.text));
  return onMessage(terms, state, message, text, now);
}

function onBinary(terms: Terms, before: Connection, now: Instant): Step {
  const { state, ok, retryAt } = spendRate(terms, before, "messages", now);
  if (!ok) return refuseFrame(before, rest(state, retryAt), "");
  return turnAway(state, {}, reason("invalid", "messages are text, not binary"));
}

const IMPLAUSIBLE = reason("invalid", "the message is nested too deep or holds too many parts");

/**
 * Too many messages: from now on we do not even read, and the client's own socket holds the rest back. What had been read before that is refused where
 * its sender waits for the answer (NIP-01: every EVENT has its OK), and what only gives something back is done.
 */
function refuseFrame(before: Connection, rested: Step, text: string): Step {
  const { state, effects } = refused(rested.state, glance(text), text, slowDown("messages"));
  const repeats = before.restsUntil !== undefined;
  return { state, effects: [...rested.effects, ...effects.filter((effect) => !(repeats && isNotice(effect)))] };
}

type Glance = ClientMessage | ({ readonly kind: "problem" } & Refused);

const glance = (text: string): Glance => {
  if (text.startsWith('["EVENT"')) return { kind: "event", event: undefined };
  return isPlausible(text) ? parseClientMessage(text) : { kind: "problem" };
};

function refused(state: Connection, message: Glance, text: string, why: Reason): Step {
  const notice = turnAway(state, {}, why).effects;
  switch (message.kind) {
    case "event":
    case "auth":
      return turnAway(state, { verb: "EVENT", id: peekEventId(text) }, why);
    case "req":
      return turnAway(state, { verb: "REQ", sub: message.sub }, why);
    case "count":
      return turnAway(state, { verb: "COUNT", sub: message.sub }, why);
    case "neg-open":
    case "neg-msg":
      return turnAway(state, { verb: "NEG-MSG", sub: message.sub }, why);
    case "close": {
      const closed = closeSubscription(state, message.sub);
      return { state: closed.state, effects: [...closed.effects, ...notice] };
    }
    case "neg-close": {
      const closed = closeReconciliation(state, message.sub);
      return { state: closed.state, effects: [...closed.effects, ...notice] };
    }
    case "problem":
      return turnAway(state, message, why);
    default:
      return unreachable(message);
  }
}

const isNotice = (effect: Effect): boolean => effect.kind === "say" && effect.text.startsWith('["NOTICE"');

/** An event is not read here: the thread that checks its signature reads it. A frame far larger than any event is not read at all. */
function onEvent(terms: Terms, before: Connection, frame: string, now: Instant): Step {
  const objection = objectionTo(frame, terms.limits);
  const { state, ok } = spendRate(terms, before, "events", now, objection === undefined ? eventCost(frame) : 1);
  const refusal = ok ? objection : slowDown("events");
  if (refusal !== undefined) return turnAway(state, { verb: "EVENT", id: peekEventId(frame) }, refusal);
  const unanswered = state.unanswered + 1;
  const full = unanswered >= terms.limits.unansweredEvents && !state.paused;
  // Paused before it is handed in: an answer that comes at once must find the connection paused, or nothing would ever resume it.
  const effects: Effect[] = full ? [{ kind: "pause" }, { kind: "submit", frame }] : [{ kind: "submit", frame }];
  return { state: { ...state, unanswered, paused: state.paused || full }, effects };
}

/** `\u00e9` for `é`: some clients write six characters for two bytes. */
const ESCAPED_MAX = 4;

function objectionTo(frame: string, { eventBytes }: RelayLimits): Reason | undefined {
  if (frame.length > eventBytes * ESCAPED_MAX) return reason("invalid", `the event is larger than ${eventBytes} bytes`);
  return isPlausible(frame) ? undefined : IMPLAUSIBLE;
}

function onMessage(terms: Terms, state: Connection, message: ClientMessage, text: string, now: Instant): Step {
  switch (message.kind) {
    case "event":
      return onEvent(terms, state, text, now);
    case "req":
      return onReq(terms, state, message.sub, message.filters, now);
    case "count":
      return onCount(terms, state, message.sub, message.filters, now);
    case "close":
      return closeSubscription(state, message.sub);
    case "auth":
      return onAuth(terms, state, message.event, now);
    case "neg-open":
      return onNegOpen(terms, state, message.sub, message.filter, message.message, now);
    case "neg-msg":
      return onNegMessage(terms, state, message.sub, message.message, now);
    case "neg-close":
      return closeReconciliation(state, message.sub);
    default:
      return unreachable(message);
  }
}

function onAnswered(terms: Terms, before: Connection, text: string, now: Instant): Step {
  const asksForAuth = !before.challenged && text.includes('"auth-required:');
  const effects: Effect[] = [];
  // NIP-42: the client must hold a challenge before it is told to answer one.
  if (asksForAuth) effects.push({ kind: "say", text: authText(before.challenge) });
  effects.push({ kind: "say", text });
  const unanswered = Math.max(0, before.unanswered - 1);
  const state = { ...before, unanswered, challenged: before.challenged || asksForAuth };
  const resumes = state.paused && state.restsUntil === undefined && unanswered <= terms.limits.unansweredEvents / 2;
  return resumes ? { state: read(state, now), effects: [...effects, { kind: "resume" }] } : { state, effects };
}
