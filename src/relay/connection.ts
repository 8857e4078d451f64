import { unreachable } from "../base/machine.ts";
import { type Bucket, fullBucket, type Rate, ratePerMinute, spend } from "../base/rate.ts";
import { type Instant, plus, toUnixSeconds } from "../base/time.ts";
import { checkAuth } from "../nostr/auth.ts";
import { type ClientMessage, type MessageProblem, parseClientMessage } from "../nostr/client-message.ts";
import { type PublicKey, readEvent } from "../nostr/event.ts";
import type { Filter } from "../nostr/filter.ts";
import { formatReason, type Reason, reason } from "../nostr/reason.ts";
import { authText, closedText, negErrText, noticeText, okText } from "../nostr/relay-message.ts";
import type { RelayUrl } from "../nostr/relay-url.ts";
import type { RelayLimits } from "./limits.ts";
import { isPlausible, peekEventId } from "./message-look.ts";
import { isReason, readRequest } from "./subscription.ts";

/**
 * One client's connection: what it may do, what it has open, what it is told. A machine without hands: its driver owns the socket, reads the store and
 * carries the effects out. Events that subscribers are sent do not pass through here; only what opens and closes their flow does.
 */
export interface Connection {
  /** By subscription id. An epoch tells the answers for a replaced subscription from those for its successor. */
  readonly subscriptions: ReadonlyMap<string, { readonly epoch: number; readonly bytes: number }>;
  readonly subscriptionBytes: number;
  readonly reconciliations: ReadonlyMap<string, number>;
  readonly nextEpoch: number;
  readonly challenge: string;
  readonly challenged: boolean;
  readonly authenticated: readonly PublicKey[];
  readonly rates: Readonly<Record<RateName, Bucket>>;
  readonly unanswered: number;
  /** Not read from until then, because it said too much; or while too many of its events are under way. */
  readonly restsUntil: Instant | undefined;
  readonly paused: boolean;
  readonly heardAt: Instant;
  readonly pingedAt: Instant | undefined;
}

export type RateName = "events" | "queries" | "messages" | "auths";

/** What every connection of a relay has in common. */
export interface Terms {
  readonly limits: RelayLimits;
  readonly rates: Readonly<Record<RateName, Rate | undefined>>;
  readonly relayUrls: readonly RelayUrl[];
}

export type Input =
  | { readonly kind: "frame"; readonly text: string }
  | { readonly kind: "binary" }
  /** The answer to an event that was submitted. */
  | { readonly kind: "answered"; readonly text: string }
  | { readonly kind: "proved"; readonly event: unknown; readonly problem: string | undefined }
  /** We ended it: it cost too much, or the client does not read. */
  | { readonly kind: "ended"; readonly sub: string; readonly epoch: number; readonly reason: Reason }
  | { readonly kind: "reconciled"; readonly sub: string; readonly epoch: number; readonly text: string; readonly over: boolean }
  | { readonly kind: "heard"; readonly at: Instant }
  | { readonly kind: "wake" };

export type Effect =
  | { readonly kind: "say"; readonly text: string }
  | { readonly kind: "submit"; readonly frame: string }
  | { readonly kind: "prove"; readonly event: unknown }
  | { readonly kind: "query"; readonly sub: string; readonly epoch: number; readonly filters: readonly Filter[] }
  | { readonly kind: "count"; readonly sub: string; readonly filters: readonly Filter[] }
  | { readonly kind: "forget"; readonly sub: string }
  | { readonly kind: "reconcile"; readonly sub: string; readonly epoch: number; readonly filter: Filter | undefined; readonly message: string }
  | { readonly kind: "reconcile-end"; readonly sub: string; readonly epoch: number }
  | { readonly kind: "pause" }
  | { readonly kind: "resume" }
  | { readonly kind: "ping" }
  | { readonly kind: "hang-up"; readonly code: number; readonly why: string };

export interface Step {
  readonly state: Connection;
  readonly effects: readonly Effect[];
}

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

function wakeAt(terms: Terms, state: Connection): Instant {
  const { pingAfterMs, pongWithinMs } = terms.limits;
  const silence = state.pingedAt === undefined ? plus(state.heardAt, pingAfterMs) : plus(state.pingedAt, pongWithinMs);
  return state.restsUntil !== undefined && state.restsUntil < silence ? state.restsUntil : silence;
}

function step(terms: Terms, state: Connection, input: Input, now: Instant): Step {
  switch (input.kind) {
    case "frame":
      return onFrame(terms, state, input.text, now);
    case "binary":
      return say(state, noticeText("invalid: messages are text, not binary"));
    case "answered":
      return onAnswered(terms, state, input.text);
    case "proved":
      return onProved(terms, state, input.event, input.problem, now);
    case "ended":
      return onEnded(state, input.sub, input.epoch, input.reason);
    case "reconciled":
      return onReconciled(state, input);
    case "heard":
      return input.at <= state.heardAt ? stay(state) : stay({ ...state, heardAt: input.at, pingedAt: undefined });
    case "wake":
      return onWake(terms, state, now);
    default:
      return unreachable(input);
  }
}

const stay = (state: Connection): Step => ({ state, effects: [] });
const say = (state: Connection, text: string): Step => ({ state, effects: [{ kind: "say", text }] });

function spendRate(terms: Terms, state: Connection, name: RateName, now: Instant): { state: Connection; ok: boolean; retryAt: Instant } {
  const rate = terms.rates[name];
  if (rate === undefined) return { state, ok: true, retryAt: now };
  const { bucket, ok, retryAtMs } = spend(rate, state.rates[name], now);
  return { state: { ...state, rates: { ...state.rates, [name]: bucket } }, ok, retryAt: retryAtMs };
}

/** The words for overload (grasp.md 3.4): never a word that makes a peer leave for good. */
const slowDown = (what: string): Reason => reason("rate-limited", `too many ${what} in a minute, slow down`);

function onFrame(terms: Terms, before: Connection, text: string, now: Instant): Step {
  const { state, ok, retryAt } = spendRate(terms, before, "messages", now);
  if (!ok) {
    // Said once, then we do not even read: the client's own socket holds the rest of it back.
    const rested = { ...state, restsUntil: retryAt, paused: true };
    const pause: Effect[] = before.paused ? [] : [{ kind: "pause" }];
    return { state: rested, effects: [{ kind: "say", text: noticeText(formatReason(slowDown("messages"))) }, ...pause] };
  }
  if (text.startsWith('["EVENT"')) return onEvent(terms, state, text, now);
  if (!isPlausible(text)) return say(state, noticeText("invalid: the message is nested too deep or holds too many parts"));
  const message = parseClientMessage(text);
  return message.kind === "problem" ? onProblem(state, message) : onMessage(terms, state, message, text, now);
}

/** An event is not read here: the thread that checks its signature reads it. A frame far larger than any event is not read at all. */
function onEvent(terms: Terms, before: Connection, frame: string, now: Instant): Step {
  const { state, ok } = spendRate(terms, before, "events", now);
  const refusal = !ok
    ? slowDown("events")
    : frame.length > terms.limits.eventBytes * ESCAPED_MAX
      ? reason("invalid", `the event is larger than ${terms.limits.eventBytes} bytes`)
      : undefined;
  if (refusal !== undefined) {
    const id = peekEventId(frame);
    return say(state, id === undefined ? noticeText(formatReason(refusal)) : okText(id, false, refusal));
  }
  const unanswered = state.unanswered + 1;
  const effects: Effect[] = [{ kind: "submit", frame }];
  const full = unanswered >= terms.limits.unansweredEvents && !state.paused;
  if (full) effects.push({ kind: "pause" });
  return { state: { ...state, unanswered, paused: state.paused || full }, effects };
}

/** `\u00e9` for `é`: some clients write six characters for two bytes. */
const ESCAPED_MAX = 4;

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

/** Whoever waits for an answer gets it where it waits; a NOTICE only where there is no better place. */
function onProblem(state: Connection, { verb, sub, text }: MessageProblem): Step {
  const why = reason("invalid", text);
  if (sub !== undefined && (verb === "REQ" || verb === "COUNT")) return say(state, closedText(sub, why));
  if (sub !== undefined && (verb === "NEG-OPEN" || verb === "NEG-MSG")) {
    const closed = closeReconciliation(state, sub);
    return { state: closed.state, effects: [...closed.effects, { kind: "say", text: negErrText(sub, why) }] };
  }
  return say(state, noticeText(`invalid: ${text}`));
}

function onReq(terms: Terms, before: Connection, sub: string, values: readonly unknown[], now: Instant): Step {
  const { state, ok } = spendRate(terms, before, "queries", now);
  const request = ok ? readRequest(sub, values, terms.limits) : slowDown("queries");
  // NIP-01: a REQ with a known id replaces the old one, whatever becomes of the new one.
  const without = closeSubscription(state, sub);
  if (isReason(request)) return refuse(without, sub, request);
  const { limits } = terms;
  if (without.state.subscriptions.size >= limits.subscriptions) {
    return refuse(without, sub, reason("rate-limited", `at most ${limits.subscriptions} subscriptions may be open at once`));
  }
  const subscriptionBytes = without.state.subscriptionBytes + request.bytes;
  if (subscriptionBytes > limits.subscriptionBytes) {
    return refuse(without, sub, reason("rate-limited", `open subscriptions may hold ${limits.subscriptionBytes} bytes in all`));
  }
  const epoch = state.nextEpoch;
  const subscriptions = new Map(without.state.subscriptions).set(sub, { epoch, bytes: request.bytes });
  return {
    state: { ...without.state, subscriptions, subscriptionBytes, nextEpoch: epoch + 1 },
    effects: [...without.effects, { kind: "query", sub, epoch, filters: request.filters }],
  };
}

const refuse = ({ state, effects }: Step, sub: string, why: Reason): Step => ({
  state,
  effects: [...effects, { kind: "say", text: closedText(sub, why) }],
});

function onCount(terms: Terms, before: Connection, sub: string, values: readonly unknown[], now: Instant): Step {
  const { state, ok } = spendRate(terms, before, "queries", now);
  const request = ok ? readRequest(sub, values, terms.limits) : slowDown("queries");
  if (isReason(request)) return say(state, closedText(sub, request));
  return { state, effects: [{ kind: "count", sub, filters: request.filters }] };
}

function closeSubscription(state: Connection, sub: string): Step {
  const open = state.subscriptions.get(sub);
  if (open === undefined) return stay(state);
  const subscriptions = new Map(state.subscriptions);
  subscriptions.delete(sub);
  return {
    state: { ...state, subscriptions, subscriptionBytes: state.subscriptionBytes - open.bytes },
    effects: [{ kind: "forget", sub }],
  };
}

function onEnded(state: Connection, sub: string, epoch: number, why: Reason): Step {
  return state.subscriptions.get(sub)?.epoch === epoch ? refuse(closeSubscription(state, sub), sub, why) : stay(state);
}

function onAnswered(terms: Terms, state: Connection, text: string): Step {
  const unanswered = Math.max(0, state.unanswered - 1);
  const resumes = state.paused && state.restsUntil === undefined && unanswered <= terms.limits.unansweredEvents / 2;
  const asksForAuth = !state.challenged && text.includes('"auth-required:');
  const effects: Effect[] = [];
  // NIP-42: the client must hold a challenge before it is told to answer one.
  if (asksForAuth) effects.push({ kind: "say", text: authText(state.challenge) });
  effects.push({ kind: "say", text });
  if (resumes) effects.push({ kind: "resume" });
  return { state: { ...state, unanswered, paused: state.paused && !resumes, challenged: state.challenged || asksForAuth }, effects };
}

function onAuth(terms: Terms, before: Connection, value: unknown, now: Instant): Step {
  const { state, ok } = spendRate(terms, before, "auths", now);
  const event = readEvent(value);
  if (typeof event === "string") return say(state, noticeText(`invalid: ${event}`));
  if (!ok) return say(state, okText(event.id, false, slowDown("authentications")));
  if (!state.challenged) {
    const why = reason("invalid", "no challenge had been sent on this connection; here is one");
    const challenged = { ...state, challenged: true };
    return { state: challenged, effects: [{ kind: "say", text: authText(state.challenge) }, { kind: "say", text: okText(event.id, false, why) }] };
  }
  return { state, effects: [{ kind: "prove", event }] };
}

/** One key more than any client has is one attack on memory. */
const AUTHENTICATED_MAX = 50;

function onProved(terms: Terms, state: Connection, value: unknown, problem: string | undefined, now: Instant): Step {
  const event = readEvent(value);
  if (typeof event === "string") return stay(state);
  const expected = { challenge: state.challenge, relayUrls: terms.relayUrls, now: toUnixSeconds(now) };
  const why = problem ?? checkAuth(event, expected);
  if (why !== undefined) return say(state, okText(event.id, false, reason("invalid", why)));
  if (!state.authenticated.includes(event.pubkey) && state.authenticated.length >= AUTHENTICATED_MAX) {
    return say(state, okText(event.id, false, reason("rate-limited", `at most ${AUTHENTICATED_MAX} keys may authenticate on one connection`)));
  }
  const authenticated = [...new Set([...state.authenticated, event.pubkey])];
  return say({ ...state, authenticated }, okText(event.id, true, ""));
}

function onNegOpen(terms: Terms, before: Connection, sub: string, value: unknown, message: string, now: Instant): Step {
  const { state, ok } = spendRate(terms, before, "queries", now);
  // NIP-77: an open one of the same id is closed first.
  const without = closeReconciliation(state, sub);
  const request = ok ? readRequest(sub, [value], terms.limits) : slowDown("queries");
  // Peers take *unsupported* as a word about NIP-77 itself and give it up until they restart (grasp.md 3.4).
  if (isReason(request)) return refuseReconciliation(without, sub, request.prefix === "unsupported" ? { ...request, prefix: "invalid" } : request);
  if (without.state.reconciliations.size >= terms.limits.negentropySessions) {
    return refuseReconciliation(without, sub, reason("rate-limited", `at most ${terms.limits.negentropySessions} reconciliations may be open at once`));
  }
  const epoch = state.nextEpoch;
  const [filter] = request.filters;
  return {
    state: { ...without.state, reconciliations: new Map(without.state.reconciliations).set(sub, epoch), nextEpoch: epoch + 1 },
    effects: [...without.effects, { kind: "reconcile", sub, epoch, filter: filter === undefined ? undefined : { ...filter, limit: undefined }, message }],
  };
}

const refuseReconciliation = ({ state, effects }: Step, sub: string, why: Reason): Step => ({
  state,
  effects: [...effects, { kind: "say", text: negErrText(sub, why) }],
});

function onNegMessage(terms: Terms, before: Connection, sub: string, message: string, now: Instant): Step {
  const { state, ok } = spendRate(terms, before, "queries", now);
  if (!ok) return refuseReconciliation(closeReconciliation(state, sub), sub, slowDown("queries"));
  const epoch = state.reconciliations.get(sub);
  if (epoch === undefined) return say(state, negErrText(sub, reason("closed", "no reconciliation of this id is open")));
  return { state, effects: [{ kind: "reconcile", sub, epoch, filter: undefined, message }] };
}

function closeReconciliation(state: Connection, sub: string): Step {
  const epoch = state.reconciliations.get(sub);
  if (epoch === undefined) return stay(state);
  const reconciliations = new Map(state.reconciliations);
  reconciliations.delete(sub);
  return { state: { ...state, reconciliations }, effects: [{ kind: "reconcile-end", sub, epoch }] };
}

function onReconciled(state: Connection, input: Input & { kind: "reconciled" }): Step {
  if (state.reconciliations.get(input.sub) !== input.epoch) return stay(state);
  if (!input.over) return say(state, input.text);
  const closed = closeReconciliation(state, input.sub);
  return { state: closed.state, effects: [...closed.effects, { kind: "say", text: input.text }] };
}

function onWake(terms: Terms, before: Connection, now: Instant): Step {
  const effects: Effect[] = [];
  let state = before;
  if (state.restsUntil !== undefined && state.restsUntil <= now) {
    const resumes = state.unanswered < terms.limits.unansweredEvents;
    state = { ...state, restsUntil: undefined, paused: !resumes };
    if (resumes) effects.push({ kind: "resume" });
  }
  const { pingAfterMs, pongWithinMs } = terms.limits;
  if (state.pingedAt !== undefined && plus(state.pingedAt, pongWithinMs) <= now) {
    // A client that we ourselves do not read cannot be heard: its silence is ours.
    if (state.paused) return { state: { ...state, heardAt: now, pingedAt: undefined }, effects };
    return { state: { ...state, heardAt: now, pingedAt: undefined }, effects: [...effects, { kind: "hang-up", code: 1001, why: "no answer to a ping" }] };
  }
  if (state.pingedAt === undefined && plus(state.heardAt, pingAfterMs) <= now) {
    return { state: { ...state, pingedAt: now }, effects: [...effects, { kind: "ping" }] };
  }
  return { state, effects };
}
