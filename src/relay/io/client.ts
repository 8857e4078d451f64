import type { Socket } from "node:net";
import type { WebSocket } from "ws";
import { type Bucket, fullBucket, ratePerMinute, spend } from "../../base/rate.ts";
import { type Instant, plus } from "../../base/time.ts";
import type { Answer } from "../../intake/inspect.ts";
import type { NostrEvent } from "../../nostr/event.ts";
import type { Filter } from "../../nostr/filter.ts";
import { formatReason } from "../../nostr/reason.ts";
import { closedText, negErrText, noticeText, okText } from "../../nostr/relay-message.ts";
import type { Ending } from "../../ops/metric-names.ts";
import { connectionMachine, openConnection } from "../connection.ts";
import type { Connection, Effect, Input, Terms } from "../connection-state.ts";
import { eventCost } from "../event-cost.ts";
import { peekEventId } from "../message-look.ts";
import { queryCost } from "../paid-request.ts";
import { LongReads } from "./long-reads.ts";
import { labelOf, verbOf } from "./message-label.ts";
import { Outbox, type OutboxPorts } from "./outbox.ts";
import { BUSY, TOO_MANY } from "./overload-words.ts";
import type { RelayPorts } from "./relay-ports.ts";
import { HIGH_WATER_BYTES, type SubscriptionPorts, Subscriptions } from "./subscriptions.ts";

export interface Shared extends SubscriptionPorts {
  readonly ports: RelayPorts;
  readonly terms: Terms;
  readonly outgoingBytesMax: number;
  readonly held: (bytes: number) => void;
  gone(client: Client): void;
}

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
  readonly #subscriptions: Subscriptions;
  readonly #longReads: LongReads;
  readonly #openedAt: Instant;
  #state: Connection;
  #heardAt: Instant;
  #controls: Bucket;
  #unansweredBytes = 0;
  readonly #pauses = new Set<"resting" | "heavy" | "stopping">();
  /** Of what the socket brought, this much belongs to messages that are whole. */
  #readUpTo: number;
  #unfinishedSince: Instant | undefined;
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
    this.#subscriptions = new Subscriptions(shared, this.#outbox, (sub, epoch, why) =>
      this.feed({ kind: "ended", sub, epoch, reason: why }),
    );
    this.#longReads = new LongReads(shared.ports, number);
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
        return this.#subscriptions.close(effect.sub);
      case "reconcile":
        return this.#reconcile(effect.sub, effect.epoch, effect.filter, effect.message);
      case "reconcile-end":
        return this.#longReads.end(effect.sub);
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
    if (this.#shared.ports.allows(this.#limitKey, "queries", queryCost(filters))) this.#subscriptions.open(sub, epoch, filters);
    else this.feed({ kind: "ended", sub, epoch, reason: TOO_MANY });
  }

  async #count(sub: string, filters: readonly Filter[]): Promise<void> {
    const allowed = this.#shared.ports.allows(this.#limitKey, "queries", queryCost(filters));
    this.#outbox.text(allowed ? await this.#longReads.count(sub, filters) : closedText(sub, TOO_MANY));
  }

  #reconcile(sub: string, epoch: number, filter: Filter | undefined, message: string): void {
    const done = (text: string, over: boolean) => this.feed({ kind: "reconciled", sub, epoch, text, over });
    if (this.#shared.ports.allows(this.#limitKey, "queries")) this.#longReads.reconcile(sub, filter, message, done);
    else done(negErrText(sub, TOO_MANY), true);
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
    this.#subscriptions.closeAll();
    this.#longReads.endAll();
    this.#outbox.close();
  }
}
