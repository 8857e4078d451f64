import { toUnixSeconds } from "../../base/time.ts";
import type { Filter } from "../../nostr/filter.ts";
import { type Reason, reason } from "../../nostr/reason.ts";
import { eoseText } from "../../nostr/relay-message.ts";
import type { Seq, StoredEvent } from "../../store/event-store.ts";
import type { Listener, SubscriptionIndex } from "../subscription-index.ts";
import type { Flusher } from "./flusher.ts";
import type { Outbox, SharedText } from "./outbox.ts";
import type { RelayPorts } from "./relay-ports.ts";

/** A subscription that is open: where its live events go. */
export interface Subscription extends Listener {
  readonly of: Subscriptions;
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

export interface SubscriptionPorts {
  readonly ports: Pick<RelayPorts, "reader" | "clock" | "report">;
  readonly index: SubscriptionIndex<Subscription>;
  readonly flusher: Flusher;
  /** The newest change that was broadcast: later ones will be, so they are not read from the store. */
  head(): Seq;
}

/** Beyond this, results wait for the client to read: a query never fills memory. */
export const HIGH_WATER_BYTES = 262_144;
/** Live events that pile up behind a query still under way; a query that takes longer than these is better asked anew. */
const EARLY_MAX = 1_000;
const EARLY_BYTES_MAX = 1_048_576;
/** Small queries that came together are answered together, in one write; but not for longer than this. */
const TURN_MS = 4;
/** Slices of one query; about ten seconds of reading for a filter that nearly nothing matches. */
const SLICES_MAX = 5_000;

/** What one client has subscribed to: its stored events, read in turns, then live ones. */
export class Subscriptions {
  readonly #shared: SubscriptionPorts;
  readonly #outbox: Outbox;
  readonly #ended: (sub: string, epoch: number, why: Reason) => void;
  readonly #open = new Map<string, Subscription>();
  /** What they asked for, in order. One that is closed before its turn leaves nothing behind. */
  readonly #queries = new Map<Subscription, readonly Filter[]>();
  #querying = false;

  /** `ended` is told of one that we could not go on with. */
  constructor(shared: SubscriptionPorts, outbox: Outbox, ended: (sub: string, epoch: number, why: Reason) => void) {
    this.#shared = shared;
    this.#outbox = outbox;
    this.#ended = ended;
  }

  open(sub: string, epoch: number, filters: readonly Filter[]): void {
    const subscription: Subscription = {
      of: this,
      sub,
      epoch,
      head: `["EVENT",${JSON.stringify(sub)},`,
      from: this.#shared.head(),
      early: [],
      earlyBytes: 0,
      lastMatch: 0,
    };
    this.#open.set(sub, subscription);
    // Open before its history is read: nothing can fall between (what is in both is told apart by its number).
    this.#shared.index.add(subscription, filters);
    this.#queries.set(subscription, filters);
    if (!this.#querying) void this.#work();
  }

  close(sub: string): void {
    const subscription = this.#open.get(sub);
    if (subscription === undefined) return;
    this.#open.delete(sub);
    this.#queries.delete(subscription);
    this.#shared.index.remove(subscription);
  }

  closeAll(): void {
    for (const sub of this.#open.keys()) this.close(sub);
  }

  /** A live event for one of them. */
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

  /** After live events were delivered. */
  flushLive(): void {
    this.#shared.flusher.inCompany(this.#outbox);
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
    return this.#open.get(subscription.sub) !== subscription;
  }

  #end(subscription: Subscription, why: string): void {
    this.#ended(subscription.sub, subscription.epoch, reason("error", why));
  }
}

const breathe = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
