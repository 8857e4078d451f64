import type { UnixSeconds } from "../../../src/base/time.ts";
import { type EventId, eventText, type VerifiedEvent } from "../../../src/nostr/event.ts";
import { type Filter, matches } from "../../../src/nostr/filter.ts";
import { addressOf } from "../../../src/nostr/replaceable.ts";
import type { Batch, Change } from "../../../src/store/batch.ts";
import { type FeedChange, seq, type View } from "../../../src/store/event-store.ts";
import type { Step } from "../../kit/arbitrary/history.ts";
import { put } from "./bench.ts";

interface Survivor {
  readonly event: VerifiedEvent;
  readonly seq: number;
  readonly expiresAt: UnixSeconds | undefined;
}

type GateChange = Extract<Change, { kind: "gate" }>;

/** Survivors and a list of changes: the least that says what a store should answer. */
export class PlainModel {
  survivors: readonly Survivor[] = [];
  changes: readonly { readonly put: boolean; readonly id: EventId }[] = [];
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
        case "gate-used":
        case "gate-forget":
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
    return this.changes.map((change, index) => {
      const at = seq(index + 1);
      const survivor = this.survivors.find((one) => one.seq === at);
      if (!change.put) return { seq: at, change: "removed", id: change.id };
      if (survivor === undefined) return { seq: at, change: "passed", id: change.id };
      const { event } = survivor;
      return { seq: at, change: "served", event: { seq: at, id: event.id, createdAt: event.created_at, text: eventText(event) } };
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
    if (this.survivors.some((one) => one.event.id === event.id)) return;
    this.changes = [...this.changes, { put: true, id: event.id }];
    this.survivors = [...this.survivors, { event, seq: this.changes.length, expiresAt }];
  }

  #remove(id: EventId): void {
    if (!this.survivors.some((one) => one.event.id === id)) return;
    this.changes = [...this.changes, { put: false, id }];
    this.survivors = this.survivors.filter((one) => one.event.id !== id);
  }
}
