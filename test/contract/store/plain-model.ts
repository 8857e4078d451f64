import type { UnixSeconds } from "../../../src/base/time.ts";
import { type EventId, eventText, type VerifiedEvent } from "../../../src/nostr/event.ts";
import { type Filter, matches } from "../../../src/nostr/filter.ts";
import { addressOf } from "../../../src/nostr/replaceable.ts";
import type { Batch, Change } from "../../../src/store/batch.ts";
import { type FeedChange, seq, type View } from "../../../src/store/event-store.ts";
import { type HeldStage, isLive } from "../../../src/store/held.ts";
import type { Step } from "../../kit/arbitrary/history.ts";
import { hold, put } from "./bench.ts";

interface Survivor {
  readonly event: VerifiedEvent;
  readonly seq: number;
  readonly expiresAt: UnixSeconds | undefined;
}

interface Held {
  readonly event: VerifiedEvent;
  readonly stage: HeldStage;
  /** The change that holds it, while it is in purgatory. */
  readonly seq: number | undefined;
  readonly expiresAt: UnixSeconds | undefined;
}

/** What is ever held (grasp.md 6.1). */
const HELD_KINDS: readonly number[] = [1618, 30_617, 30_618];

type GateChange = Extract<Change, { kind: "gate" }>;

/** Survivors and a list of changes: the least that says what a store should answer. */
export class PlainModel {
  survivors: readonly Survivor[] = [];
  held: ReadonlyMap<EventId, Held> = new Map();
  changes: readonly { readonly did: "put" | "hold" | "remove"; readonly id: EventId }[] = [];
  requests: ReadonlyMap<EventId, Pick<GateChange, "author" | "targets">> = new Map();

  copy(): PlainModel {
    return Object.assign(new PlainModel(), { ...this });
  }

  /** The batch that a list of wishes comes to, carried out here; one by one, because a put has to make room first (NIP-01: one event per address). */
  perform(events: readonly VerifiedEvent[], steps: readonly Step[]): Batch {
    return steps.flatMap((step): Batch => {
      switch (step.kind) {
        case "put": {
          const event = events[step.pick % events.length] as VerifiedEvent;
          // What is held is promoted, never put.
          if (this.held.has(event.id)) return [];
          const room = this.#inTheWayOf(event);
          for (const id of room) this.#remove(id);
          this.#put(event, step.expiresAt);
          const change = { ...put(event), expiresAt: step.expiresAt, provenance: step.provenance };
          return [...room.map((id) => ({ kind: "remove", id }) as const), change];
        }
        case "remove":
          this.#remove(step.id);
          return [step];
        case "gate": {
          // An id stands for one event: a request that comes again has the author and the targets it had.
          const { author, targets } = this.requests.get(step.request) ?? step;
          this.requests = new Map([...this.requests, [step.request, { author, targets }]]);
          return [{ ...step, author, targets }];
        }
        case "hold": {
          const heldKinds = events.filter((event) => HELD_KINDS.includes(event.kind));
          const event = heldKinds[step.pick % heldKinds.length];
          if (event === undefined) return [];
          this.#hold(event, step.more.expiresAt);
          return [hold(event, step.more)];
        }
        case "promote": {
          const held = this.held.get(step.id);
          if (held === undefined) return [step];
          const room = this.#inTheWayOf(held.event);
          for (const id of room) this.#remove(id);
          this.#keep(step.id, undefined);
          this.#put(held.event, held.expiresAt);
          return [...room.map((id) => ({ kind: "remove", id }) as const), step];
        }
        case "restage": {
          const from = step.from ?? this.held.get(step.id)?.stage ?? "waiting";
          if (this.held.get(step.id)?.stage === from) this.#restage(step.id, step.stage);
          return [{ ...step, from }];
        }
        case "release": {
          const from = step.from ?? this.held.get(step.id)?.stage ?? "waiting";
          if (this.held.get(step.id)?.stage === from) this.#remove(step.id);
          return [{ ...step, from }];
        }
        case "withdraw": {
          const event = events.find((one) => one.id === step.id);
          if (event === undefined || !HELD_KINDS.includes(event.kind)) return [];
          this.#withdraw(event, step.stage, step.supersededMax);
          return [{ ...step, what: event.kind === 30_617 ? "announcement" : "state", until: step.at }];
        }
        default:
          return [step];
      }
    });
  }

  find(filter: Filter, view: View): EventId[] {
    return this.#seen(view)
      .filter((event) => matches(filter, event))
      .toSorted((a, b) => b.created_at - a.created_at || (a.id < b.id ? -1 : 1))
      .map((event) => event.id)
      .slice(0, filter.limit);
  }

  count(filters: readonly Filter[], view: View): number {
    return this.#seen(view).filter((event) => filters.some((filter) => matches(filter, event))).length;
  }

  feed(): FeedChange[] {
    return this.changes.map(({ did, id }, index) => {
      const at = seq(index + 1);
      if (did === "remove") return { seq: at, change: "removed", id };
      const event = this.survivors.find((one) => one.seq === at)?.event;
      if (event !== undefined) {
        return { seq: at, change: "served", event: { seq: at, id: event.id, createdAt: event.created_at, text: eventText(event) } };
      }
      const held = this.held.get(id);
      if (held?.seq === at) return { seq: at, change: "held", id, createdAt: held.event.created_at, text: eventText(held.event) };
      return { seq: at, change: "passed", id };
    });
  }

  #seen({ now, upTo = seq(Number.MAX_SAFE_INTEGER) }: View): VerifiedEvent[] {
    return this.survivors.filter((one) => (one.expiresAt ?? Number.POSITIVE_INFINITY) > now && one.seq <= upTo).map((one) => one.event);
  }

  #inTheWayOf(event: VerifiedEvent): EventId[] {
    const address = JSON.stringify(addressOf(event));
    if (address === undefined) return [];
    const others = this.survivors.map((one) => one.event).filter((other) => other.id !== event.id);
    return others.filter((other) => JSON.stringify(addressOf(other)) === address).map((other) => other.id);
  }

  #put(event: VerifiedEvent, expiresAt: UnixSeconds | undefined): void {
    if (this.#serves(event.id)) return;
    this.survivors = [...this.survivors, { event, seq: this.#number("put", event.id), expiresAt }];
  }

  #remove(id: EventId): void {
    const held = this.held.get(id);
    if (this.#serves(id) || held?.seq !== undefined) this.#number("remove", id);
    this.survivors = this.survivors.filter((one) => one.event.id !== id);
    this.#keep(id, undefined);
  }

  #hold(event: VerifiedEvent, expiresAt: UnixSeconds | undefined): void {
    const before = this.held.get(event.id);
    if (this.#serves(event.id) || before?.stage === "waiting") return;
    this.#keep(event.id, { event, stage: "waiting", seq: before?.seq ?? this.#number("hold", event.id), expiresAt });
  }

  #restage(id: EventId, stage: HeldStage): void {
    const held = this.held.get(id);
    if (held === undefined) return;
    if (held.seq !== undefined && !isLive(stage)) this.#number("remove", id);
    this.#keep(id, { ...held, stage, seq: isLive(stage) ? (held.seq ?? this.#number("hold", id)) : undefined });
  }

  #withdraw(event: VerifiedEvent, stage: HeldStage, supersededMax: number): void {
    const survivor = this.survivors.find((one) => one.event.id === event.id);
    if (survivor === undefined) {
      if (!this.held.has(event.id)) return;
      this.#restage(event.id, stage);
    } else {
      this.#remove(event.id);
      const number = isLive(stage) ? this.#number("hold", event.id) : undefined;
      this.#keep(event.id, { event, stage, seq: number, expiresAt: survivor.expiresAt });
    }
    if (stage !== "superseded") return;
    const d = addressOf(event)?.d;
    const rivals = [...this.held.values()]
      .filter((held) => held.stage === stage && held.event.pubkey === event.pubkey && addressOf(held.event)?.d === d && d !== undefined)
      .map((held) => held.event)
      .toSorted((a, b) => b.created_at - a.created_at || (a.id < b.id ? -1 : 1));
    for (const { id } of rivals.slice(supersededMax)) this.#keep(id, undefined);
  }

  #keep(id: EventId, held: Held | undefined): void {
    const all = new Map(this.held);
    if (held === undefined) all.delete(id);
    else all.set(id, held);
    this.held = all;
  }

  #serves(id: EventId): boolean {
    return this.survivors.some((one) => one.event.id === id);
  }

  #number(did: "put" | "hold" | "remove", id: EventId): number {
    this.changes = [...this.changes, { did, id }];
    return this.changes.length;
  }
}
