import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { WebSocketServer } from "ws";
import { earlier, type Instant, plus } from "../../base/time.ts";
import type { NostrEvent } from "../../nostr/event.ts";
import type { RelayUrl } from "../../nostr/relay-url.ts";
import type { FeedChange, Seq } from "../../store/event-store.ts";
import { termsOf } from "../connection.ts";
import type { RelayLimits } from "../limits.ts";
import { SubscriptionIndex } from "../subscription-index.ts";
import { Client, type Shared } from "./client.ts";
import { Flusher } from "./flusher.ts";
import { SharedText } from "./outbox.ts";
import type { RelayPorts } from "./relay-ports.ts";
import type { Subscription, Subscriptions } from "./subscriptions.ts";

export interface RelayOptions {
  readonly limits: RelayLimits;
  readonly relayUrls: readonly RelayUrl[];
  /** Waiting for one client that does not read, and for all of them together. */
  readonly outgoingBytesMax: number;
  readonly outgoingBytesTotalMax: number;
  /** Sent with the answer to a WebSocket handshake. */
  readonly handshakeHeaders: readonly (readonly [name: string, value: string])[];
}

const TICK_MS = 1_000;
/** A client that is there answers a goodbye at once. */
const GOODBYE_MS = 1_000;

/** The largest message in frames of 1,280 bytes each: smaller ones are not how anybody sends. Each is an object until the message is whole. */
const FRAGMENTS_MAX = 4_096;
/** The same for pieces in which the network brings one frame: 160 bytes each for the largest message. */
const CHUNKS_MAX = 32_768;

/** Parts of messages whose rest has not come, of all clients together: fifty of the largest at once. */
const UNFINISHED_BYTES_MAX = 256 * 1024 * 1024;

/** The relay as clients see it: WebSocket in, the store's answers and everybody's new events out. */
export class RelayServer {
  readonly #options: RelayOptions;
  readonly #ports: RelayPorts;
  readonly #sockets: WebSocketServer;
  readonly #clients = new Set<Client>();
  readonly #index = new SubscriptionIndex<Subscription>();
  readonly #shared: Shared;
  #next = 1;
  #heldBytes = 0;
  #head: Seq;
  #stopTicking: () => void = () => undefined;

  constructor(options: RelayOptions, ports: RelayPorts) {
    this.#options = options;
    this.#ports = ports;
    this.#head = ports.reader.headNow();
    this.#sockets = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      maxPayload: options.limits.messageBytes,
      // The client answers pings itself, because the library would without end to one who never reads.
      autoPong: false,
      maxFragments: FRAGMENTS_MAX,
      maxBufferedChunks: CHUNKS_MAX,
    });
    this.#sockets.on("headers", (headers: string[]) => {
      for (const [name, value] of options.handshakeHeaders) headers.push(`${name}: ${value}`);
    });
    this.#shared = {
      ports,
      terms: termsOf(options.limits, options.relayUrls),
      index: this.#index,
      flusher: new Flusher(ports.clock),
      outgoingBytesMax: options.outgoingBytesMax,
      head: () => this.#head,
      held: (bytes) => this.#onHeld(bytes),
      gone: (client) => this.#clients.delete(client),
    };
    this.#tick();
  }

  get connections(): number {
    return this.#clients.size;
  }

  get outgoingBytes(): number {
    return this.#heldBytes;
  }

  get subscriptions(): number {
    return this.#index.size;
  }

  upgrade(
    request: IncomingMessage,
    socket: Socket,
    head: Buffer,
    address: { readonly ip: string; readonly limitKey: string | undefined },
  ): void {
    this.#sockets.handleUpgrade(request, socket, head, (ws) => {
      socket.setNoDelay(true);
      const number = this.#next++;
      this.#clients.add(new Client(ws, socket, address.limitKey, number, this.#shared));
      this.#ports.report.connectionOpened(number, address.ip);
    });
  }

  /** New changes of the store, in order, after their OKs: subscribers are sent what they asked for. */
  broadcast(changes: readonly FeedChange[], passing: readonly string[]): void {
    const last = changes[changes.length - 1]?.seq;
    if (last !== undefined && last > this.#head) this.#head = last;
    if (this.#index.size === 0) return;
    const touched = new Set<Subscriptions>();
    let delivered = 0;
    const send = (text: string, isLive: (subscription: Subscription) => boolean) => {
      let shared: SharedText | undefined;
      this.#index.match(JSON.parse(text) as NostrEvent, (subscription) => {
        if (!isLive(subscription)) return;
        shared ??= new SharedText(text);
        subscription.of.deliver(subscription, shared);
        touched.add(subscription.of);
        delivered++;
      });
    };
    for (const change of changes) {
      if (change.change === "served") send(change.event.text, (subscription) => change.seq > subscription.from);
    }
    for (const text of passing) send(text, () => true);
    for (const subscriptions of touched) subscriptions.flushLive();
    if (delivered > 0) this.#ports.report.messagesSent("EVENT", delivered);
  }

  get reconciliations(): number {
    let open = 0;
    for (const client of this.#clients) open += client.reconciliations;
    return open;
  }

  /** Answers what is under way, says goodbye to everybody, and cuts off whoever has not left after `graceMs`. */
  async stop(graceMs: number): Promise<void> {
    this.#stopTicking();
    const deadline = plus(this.#ports.clock.now(), graceMs);
    for (const client of this.#clients) client.stopReading();
    const poll = async (done: () => boolean, until: Instant) => {
      while (!done() && this.#ports.clock.now() < until) await this.#ports.clock.sleepUntil(plus(this.#ports.clock.now(), 10));
    };
    await poll(() => [...this.#clients].every((client) => client.unanswered === 0), deadline);
    for (const client of this.#clients) client.close(1001, "the server is stopping");
    await poll(() => this.#clients.size === 0, earlier(deadline, plus(this.#ports.clock.now(), GOODBYE_MS)));
    for (const client of this.#clients) client.drop("stopping");
  }

  #tick(): void {
    const now = this.#ports.clock.now();
    for (const client of this.#clients) client.tick(now);
    this.#boundUnfinished();
    this.#stopTicking = this.#ports.clock.at(plus(now, TICK_MS), () => this.#tick());
  }

  /** When all unfinished messages together hold too much, the largest go: one who really sends has finished meanwhile. */
  #boundUnfinished(): void {
    let held = 0;
    for (const client of this.#clients) held += client.unfinishedBytes;
    if (held <= UNFINISHED_BYTES_MAX) return;
    const senders = [...this.#clients].sort((a, b) => b.unfinishedBytes - a.unfinishedBytes);
    for (const client of senders) {
      if (held <= UNFINISHED_BYTES_MAX) return;
      held -= client.unfinishedBytes;
      client.drop("idle");
    }
  }

  /** When all slow readers together hold too much, the one who holds most goes. */
  #onHeld(bytes: number): void {
    this.#heldBytes += bytes;
    if (bytes <= 0 || this.#heldBytes <= this.#options.outgoingBytesTotalMax) return;
    let slowest: Client | undefined;
    for (const client of this.#clients) if (slowest === undefined || client.waitingBytes > slowest.waitingBytes) slowest = client;
    slowest?.drop("slow-reader");
  }
}
