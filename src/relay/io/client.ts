import type { Socket } from "node:net";
import type { WebSocket } from "ws";
import { type Bucket, fullBucket, ratePerMinute, spend } from "../../base/rate.ts";
import { type Instant, plus, toUnixSeconds } from "../../base/time.ts";
import type { Answer } from "../../intake/inspect.ts";
import type { NostrEvent } from "../../nostr/event.ts";
import type { Filter } from "../../nostr/filter.ts";
import { formatReason, reason } from "../../nostr/reason.ts";
import { closedText, countText, eoseText, negErrText, negMsgText, noticeText, okText } from "../../nostr/relay-message.ts";
import type { ClientMessageLabel, Ending, RelayMessageLabel } from "../../ops/metric-names.ts";
import type { Seq, StoredEvent } from "../../store/event-store.ts";
import { connectionMachine, openConnection } from "../connection.ts";
import type { Connection, Effect, Input, Terms } from "../connection-state.ts";
import { eventCost } from "../event-cost.ts";
import { peekEventId } from "../message-look.ts";
import { queryCost } from "../paid-request.ts";
import type { Reconciled } from "../reader-messages.ts";
import type { Listener, SubscriptionIndex } from "../subscription-index.ts";
import type { Flusher } from "./flusher.ts";
import { Outbox, type OutboxPorts, type SharedText } from "./outbox.ts";
import type { RelayPorts } from "./relay-ports.ts";

/** A subscription that is open: where its live events go. */
export interface Subscription extends Listener {
  readonly client: Client;
  readonly sub: string;
  readonly epoch: number;
  /** `["EVENT","…",`: what stands before an event for this subscription. */
  readonly head: string;
  /** Events up to this change belong to its stored part. */
  readonly from: Seq;
  /** Live events that came before EOSE was said. */
  early: SharedText[] | undefined;
  earlyBytes: number;
}

export interface Shared {
  readonly ports: RelayPorts;
  readonly terms: Terms;
  readonly index: SubscriptionIndex<Subscription>;
  readonly flusher: Flusher;
  readonly outgoingBytesMax: number;
  /** The newest change that was broadcast: later ones will be, so they are not read from the store. */
  head(): Seq;
  readonly held: (bytes: number) => void;
  gone(client: Client): void;
}

/** Beyond this, results wait for the client to read: a query never fills memory. */
const HIGH_WATER_BYTES = 262_144;
/** Live events that pile up behind a query still under way; a query that takes longer than these is better asked anew. */
const EARLY_MAX = 1_000;
const EARLY_BYTES_MAX = 1_048_576;
/** Small queries that came together are answered together, in one write; but not for longer than this. */
const TURN_MS = 4;
/** Slices of one query; about ten seconds of reading for a filter that nearly nothing matches. */
const SLICES_MAX = 5_000;

/** A client that broke the protocol and does not hang up either. */
const GOODBYE_MS = 1_000;
/**
 * Events of one connection that are under way, in bytes: beyond it we stop reading from it. A hundred connections of one address stay below what all may
 * have under way, so that nobody can make others hear `too many events under way`.
 */
const UNANSWERED_BYTES_MAX = 262_144;
/** A hundred tags keep the writer as long as so many bytes do: of events with thousands, one or two are under way at a time. */
const COST_BYTES = 16_384;
/** Time for one message to arrive: the largest at the pace of the slowest telephone, 350 kbit/s. */
const MESSAGE_MS = 120_000;
const CONTROL_HEADER_BYTES = 6;
/** Libraries ping every few seconds; ten a second is no heartbeat any more. */
const CONTROL_RATE = ratePerMinute(600);

/** Drives one connection: feeds the machine, carries out its effects, sends what subscriptions want. */
export class Client {
  readonly #limitKey: string | undefined;
  readonly #number: number;
  readonly #shared: Shared;
  readonly #ws: WebSocket;
  readonly #socket: Socket;
  readonly #machine: ReturnType<typeof connectionMachine>;
  readonly #outbox: Outbox;
  readonly #subscriptions = new Map<string, Subscription>();
  readonly #sessions = new Map<string, number>();
  readonly #openedAt: Instant;
  #state: Connection;
  #heardAt: Instant;
  #controls: Bucket;
  #unansweredBytes = 0;
  readonly #pauses = new Set<"resting" | "heavy" | "stopping">();
  /** Of what the socket brought, this much belongs to messages that are whole. */
  #readUpTo: number;
  #unfinishedSince: Instant | undefined;
  /** What subscriptions asked for, in order. One that is closed before its turn leaves nothing behind. */
  readonly #queries = new Map<Subscription, readonly Filter[]>();
  #querying = false;
  #closed = false;
  #gone = false;
  #ending: Ending = "client";

  constructor(ws: WebSocket, socket: Socket, limitKey: string | undefined, number: number, shared: Shared) {
    this.#limitKey = limitKey;
    this.#number = number;
    this.#shared = shared;
    this.#ws = ws;
    this.#openedAt = shared.ports.clock.now();
    this.#heardAt = this.#openedAt;
    this.#controls = fullBucket(CONTROL_RATE, this.#openedAt);
    this.#machine = connectionMachine(shared.terms);
    this.#state = openConnection(shared.terms, shared.ports.challenge(), this.#openedAt);
    const ports: OutboxPorts = {
      dirty: (outbox) => shared.flusher.soon(outbox),
      held: shared.held,
      overflowed: () => this.drop("slow-reader"),
    };
    this.#outbox = new Outbox(socket, shared.outgoingBytesMax, ports);
    this.#socket = socket;
    this.#readUpTo = socket.bytesRead;
    ws.on("message", (data: Buffer, isBinary) => {
      this.#readUpTo = socket.bytesRead;
      this.#heardAt = shared.ports.clock.now();
      const text = isBinary ? "" : data.toString("utf8");
      shared.ports.report.messageReceived(verbOf(text));
      if (isBinary) this.feed({ kind: "binary" });
      else this.feed({ kind: shared.ports.allows(limitKey, "messages") ? "frame" : "crowding-frame", text });
    });
    ws.on("ping", (data) => this.#onControl(data, true));
    ws.on("pong", (data) => this.#onControl(data, false));
    // A protocol error: the library closes the connection with its code, and after that frame nothing may follow.
    ws.on("error", (error: NodeJS.ErrnoException) => {
      this.#ending = error.code === "WS_ERR_UNSUPPORTED_MESSAGE_LENGTH" ? "message-too-large" : "protocol";
      this.#leave();
      shared.ports.clock.at(plus(shared.ports.clock.now(), GOODBYE_MS), () => ws.terminate());
    });
    ws.on("close", () => this.#onClose());
  }

  /** Pings and pongs cost time like messages do, and answers to pings fill memory like answers to messages when nobody reads them. */
  #onControl(data: Buffer, isPing: boolean): void {
    // It may stand between two frames of a message, which is no nearer to its end by that.
    this.#readUpTo = Math.min(this.#readUpTo + CONTROL_HEADER_BYTES + data.length, this.#socket.bytesRead);
    this.#heardAt = this.#shared.ports.clock.now();
    const { bucket, ok } = spend(CONTROL_RATE, this.#controls, this.#heardAt);
    this.#controls = bucket;
    if (!ok) return this.drop("protocol");
    // RFC 6455 5.5.3: it is enough to answer the newest ping, and one who does not read gets none.
    if (isPing && this.#outbox.waiting < HIGH_WATER_BYTES) this.#ws.pong(data);
  }

  get unanswered(): number {
    return this.#state.unanswered;
  }

  get reconciliations(): number {
    return this.#state.reconciliations.size;
  }

  /** What the client says from now on stays in its socket; what it said before is answered. */
  stopReading(): void {
    this.#read("stopping", false);
  }

  /** Whether this speaks for reading on. We read when nothing speaks against it. */
  #read(why: "resting" | "heavy" | "stopping", on: boolean): void {
    const changed = on ? this.#pauses.delete(why) : !this.#pauses.has(why) && this.#pauses.add(why).size === 1;
    if (!changed) return;
    // Through the library, which else resumes the socket by itself when it has worked off what it holds.
    if (this.#pauses.size > 0) this.#ws.pause();
    else this.#ws.resume();
  }

  /** Bytes of a message that has begun and not ended: they wait in memory for the rest. */
  get unfinishedBytes(): number {
    return this.#socket.bytesRead - this.#readUpTo;
  }

  get waitingBytes(): number {
    return this.#outbox.waiting;
  }

  feed(input: Input): void {
    if (this.#closed) return;
    const { state, effects } = this.#machine.step(this.#state, input, this.#shared.ports.clock.now());
    this.#state = state;
    for (const effect of effects) this.#perform(effect);
  }

  /** Called about once a second for every connection. */
  tick(now: Instant): void {
    if (this.unfinishedBytes === 0 || this.#pauses.size > 0) this.#unfinishedSince = undefined;
    else if (this.#unfinishedSince === undefined) this.#unfinishedSince = now;
    else if (now - this.#unfinishedSince > MESSAGE_MS) return this.drop("idle");
    this.feed({ kind: "heard", at: this.#heardAt });
    if (this.#machine.wakeAt(this.#state) <= now) this.feed({ kind: "wake" });
  }

  /** A live event for one of our subscriptions. */
  deliver(subscription: Subscription, event: SharedText): void {
    if (subscription.early === undefined) {
      this.#outbox.shared(subscription.head, event);
      return;
    }
    subscription.early.push(event);
    subscription.earlyBytes += event.bytes.length;
    if (subscription.early.length > EARLY_MAX || subscription.earlyBytes > EARLY_BYTES_MAX)
      this.#end(subscription, "it matched more new events than could wait for its stored ones");
  }

  flushTo(flusher: Flusher): void {
    flusher.inCompany(this.#outbox);
  }

  /** Ends the connection without a farewell: there is no point in talking to who does not listen. */
  drop(why: Ending): void {
    if (!this.#closed) this.#ending = why;
    this.#ws.terminate();
  }

  /** Ends it politely. */
  close(code: number, why: string): void {
    this.#ending = "stopping";
    this.#outbox.flush();
    // RFC 6455 5.5.1: nothing follows a closing frame.
    this.#outbox.close();
    this.#ws.resume();
    this.#ws.close(code, why);
  }

  #perform(effect: Effect): void {
    switch (effect.kind) {
      case "say":
        this.#shared.ports.report.messagesSent(labelOf(effect.text), 1);
        return this.#outbox.text(effect.text);
      case "submit":
        return this.#submit(effect.frame);
      case "prove":
        return this.#prove(effect.event);
      case "query":
        return this.#subscribe(effect.sub, effect.epoch, effect.filters);
      case "count":
        return void this.#count(effect.sub, effect.filters);
      case "forget":
        return this.#forget(effect.sub);
      case "reconcile":
        return this.#reconcile(effect.sub, effect.epoch, effect.filter, effect.message);
      case "reconcile-end":
        return this.#endReconciliation(effect.sub);
      case "pause":
        return this.#read("resting", false);
      case "resume":
        return this.#read("resting", true);
      case "ping":
        return this.#ws.ping();
      case "hang-up":
        return this.drop("idle");
    }
  }

  #submit(frame: string): void {
    const { intake, clock } = this.#shared.ports;
    const since = clock.now();
    const origin = { kind: "direct", authenticated: this.#state.authenticated } as const;
    const cost = eventCost(frame);
    const bytes = frame.length + (cost - 1) * COST_BYTES;
    this.#unansweredBytes += bytes;
    if (this.#unansweredBytes > UNANSWERED_BYTES_MAX) this.#read("heavy", false);
    const done = (answer: Answer) => {
      this.#unansweredBytes -= bytes;
      if (this.#unansweredBytes <= UNANSWERED_BYTES_MAX / 2) this.#read("heavy", true);
      this.#reportAnswer(answer, clock.now() - since);
      this.feed({
        kind: "answered",
        text: answer.kind === "ok" ? okText(answer.id, answer.accepted, answer.message) : noticeText(answer.text),
      });
    };
    const allowed = this.#shared.ports.allows(this.#limitKey, "events", cost);
    if (allowed && intake.submit(frame, origin, this.#number, done)) return;
    const id = peekEventId(frame);
    const message = formatReason(allowed ? BUSY : TOO_MANY);
    done(id === undefined ? { kind: "notice", text: message } : { kind: "ok", id, eventKind: -1, accepted: false, message });
  }

  #reportAnswer(answer: Answer, tookMs: number): void {
    if (answer.kind !== "ok") return;
    const { report } = this.#shared.ports;
    report.eventReceived(answer.eventKind);
    if (!answer.accepted) report.eventRejected(answer.eventKind, answer.message.slice(0, answer.message.indexOf(":")));
    else if (answer.message === "") report.eventStored(answer.eventKind, tookMs);
  }

  #prove(event: NostrEvent): void {
    if (!this.#shared.ports.allows(this.#limitKey, "auths")) return this.#outbox.text(okText(event.id, false, TOO_MANY));
    void this.#shared.ports.intake.prove(event).then((problem) => this.feed({ kind: "proved", event, problem }));
  }

  #subscribe(sub: string, epoch: number, filters: readonly Filter[]): void {
    if (!this.#shared.ports.allows(this.#limitKey, "queries", queryCost(filters))) {
      this.feed({ kind: "ended", sub, epoch, reason: TOO_MANY });
      return;
    }
    const subscription: Subscription = {
      client: this,
      sub,
      epoch,
      head: `["EVENT",${JSON.stringify(sub)},`,
      from: this.#shared.head(),
      early: [],
      earlyBytes: 0,
      lastMatch: 0,
    };
    this.#subscriptions.set(sub, subscription);
    // Open before its history is read: nothing can fall between (what is in both is told apart by its number).
    this.#shared.index.add(subscription, filters);
    this.#queries.set(subscription, filters);
    if (!this.#querying) void this.#work();
  }

  /** One query of a connection at a time, and others get their turn between them, so that a hundred REQs cost others no more than one. */
  async #work(): Promise<void> {
    const { clock } = this.#shared.ports;
    this.#querying = true;
    let since = clock.now();
    for (const [subscription, filters] of this.#queries) {
      this.#queries.delete(subscription);
      if (clock.now() - since >= TURN_MS) {
        await breathe();
        since = clock.now();
      }
      await this.#answer(subscription, filters).catch(() => undefined);
    }
    this.#querying = false;
  }

  async #answer(subscription: Subscription, filters: readonly Filter[]): Promise<void> {
    const { reader, clock, report } = this.#shared.ports;
    const since = clock.now();
    const view = { now: toUnixSeconds(clock.now()), upTo: subscription.from };
    const sent = filters.length > 1 ? new Set<number>() : undefined;
    let slices = 0;
    try {
      for (const filter of filters) {
        for await (const slice of reader.query(filter, view)) {
          if (this.#isOver(subscription)) return;
          if (++slices > SLICES_MAX) return this.#end(subscription, "it takes too long to answer; ask for less at once");
          await this.#sendStored(subscription, slice, sent);
          if (slices % 4 === 0) await breathe();
        }
      }
    } catch (error) {
      report.fault("query", error);
      return this.#end(subscription, "the store could not be read");
    }
    if (this.#isOver(subscription)) return;
    this.#outbox.text(eoseText(subscription.sub));
    report.messagesSent("EOSE", 1);
    report.queryAnswered("REQ", clock.now() - since);
    const early = subscription.early ?? [];
    subscription.early = undefined;
    for (const event of early) this.deliver(subscription, event);
    this.#shared.flusher.soon(this.#outbox);
  }

  async #sendStored(subscription: Subscription, slice: readonly StoredEvent[], sent: Set<number> | undefined): Promise<void> {
    this.#shared.ports.report.messagesSent("EVENT", slice.length);
    for (const event of slice) {
      if (sent?.has(event.seq)) continue;
      sent?.add(event.seq);
      this.#outbox.event(subscription.head, event.text);
      if (this.#outbox.waiting > HIGH_WATER_BYTES) {
        await this.#outbox.roomFor(HIGH_WATER_BYTES);
        if (this.#isOver(subscription)) return;
      }
    }
  }

  #isOver(subscription: Subscription): boolean {
    return this.#closed || this.#subscriptions.get(subscription.sub) !== subscription;
  }

  #end(subscription: Subscription, why: string): void {
    this.feed({ kind: "ended", sub: subscription.sub, epoch: subscription.epoch, reason: reason("error", why) });
  }

  #forget(sub: string): void {
    const subscription = this.#subscriptions.get(sub);
    if (subscription === undefined) return;
    this.#subscriptions.delete(sub);
    this.#queries.delete(subscription);
    this.#shared.index.remove(subscription);
  }

  async #count(sub: string, filters: readonly Filter[]): Promise<void> {
    const { far, clock, allows } = this.#shared.ports;
    if (!allows(this.#limitKey, "queries", queryCost(filters))) return this.#outbox.text(closedText(sub, TOO_MANY));
    const counted = await far.count(this.#number, filters, toUnixSeconds(clock.now()));
    if (counted === "busy") return this.#outbox.text(closedText(sub, WAITING));
    if (counted === undefined) return this.#outbox.text(closedText(sub, reason("error", "the store could not be read")));
    this.#outbox.text(countText(sub, counted.count, counted.hll === undefined ? undefined : { hll: counted.hll }));
  }

  #reconcile(sub: string, epoch: number, filter: Filter | undefined, message: string): void {
    const { far, clock, allows } = this.#shared.ports;
    if (!allows(this.#limitKey, "queries")) {
      this.feed({ kind: "reconciled", sub, epoch, text: negErrText(sub, TOO_MANY), over: true });
      return;
    }
    let session = this.#sessions.get(sub);
    if (session === undefined) {
      session = far.open(this.#number, (outcome) =>
        this.feed({ kind: "reconciled", sub, epoch, text: reconciledText(sub, outcome), over: outcome.kind !== "reply" }),
      );
      this.#sessions.set(sub, session);
    }
    far.reconcile(session, filter, message, toUnixSeconds(clock.now()));
  }

  #endReconciliation(sub: string): void {
    const session = this.#sessions.get(sub);
    if (session !== undefined) this.#shared.ports.far.end(session);
    this.#sessions.delete(sub);
  }

  #onClose(): void {
    if (this.#gone) return;
    this.#gone = true;
    this.#leave();
    this.#shared.ports.report.connectionClosed(this.#number, this.#ending, this.#shared.ports.clock.now() - this.#openedAt);
    this.#shared.gone(this);
  }

  /** Nothing is read or sent any more, though the socket may still be there. */
  #leave(): void {
    if (this.#closed) return;
    this.#closed = true;
    for (const subscription of this.#subscriptions.values()) this.#shared.index.remove(subscription);
    this.#subscriptions.clear();
    for (const sub of this.#sessions.keys()) this.#endReconciliation(sub);
    this.#shared.ports.far.leave(this.#number);
    this.#queries.clear();
    this.#outbox.close();
  }
}

const BUSY = reason("rate-limited", "the server has too many events under way, try again in a moment");
const WAITING = reason("rate-limited", "too many of your requests wait already, slow down");
const TOO_MANY = reason("rate-limited", "too many requests from your address in a minute, slow down");

function reconciledText(sub: string, outcome: Reconciled): string {
  switch (outcome.kind) {
    case "reply":
      return negMsgText(sub, outcome.message);
    case "too-many":
      return negErrText(sub, reason("blocked", "this query is too big"), outcome.max);
    case "malformed":
      return negErrText(sub, reason("invalid", outcome.text));
    case "busy":
      return negErrText(sub, WAITING);
    case "evicted":
      return negErrText(sub, reason("closed", "it was quiet for too long while others needed the room; open it again"));
    case "failed":
      return negErrText(sub, reason("error", "the store could not be read"));
  }
}

/** The verb of a message of ours, by its first letters. */
function labelOf(text: string): RelayMessageLabel {
  switch (text.slice(2, 4)) {
    case "OK":
      return "OK";
    case "NO":
      return "NOTICE";
    case "CL":
      return "CLOSED";
    case "CO":
      return "COUNT";
    case "AU":
      return "AUTH";
    case "NE":
      return text.startsWith('["NEG-MSG') ? "NEG-MSG" : "NEG-ERR";
    default:
      return "EOSE";
  }
}

const VERBS: ReadonlySet<string> = new Set<ClientMessageLabel>([
  "EVENT",
  "REQ",
  "CLOSE",
  "COUNT",
  "AUTH",
  "NEG-OPEN",
  "NEG-MSG",
  "NEG-CLOSE",
]);

/** The verb a client's message seems to begin with. */
function verbOf(text: string): ClientMessageLabel {
  const verb = text.slice(2, text.indexOf('"', 2));
  return VERBS.has(verb) ? (verb as ClientMessageLabel) : "invalid";
}

const breathe = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
