import type { Clock } from "../../base/clock.ts";
import { type Instant, instant, plus, toUnixSeconds } from "../../base/time.ts";
import type { EventId } from "../../nostr/event.ts";
import type { FeedChange, Gate, Writer } from "../../store/event-store.ts";
import { type Retentions, stageOf } from "../gate-retention.ts";

/** Events that one commit of a sweep removes: the events that people send must not wait long behind it. */
const SLICE = 200;
/** Expiry is in whole seconds; looking more often finds nothing. */
const LOOK_AGAIN_MS = 1_000;
/** A disk that is full stays so for a while; its log shall be readable. */
const AFTER_FAULT_MS = 10_000;

export interface SweeperOptions {
  readonly retentions: Retentions;
  /** Gates change by days, so once an hour is often enough. */
  readonly gatesEveryMs: number;
}

export interface SweeperPorts {
  changed(changes: readonly FeedChange[]): void;
  fault(error: unknown): void;
}

/** Removes what time ends: expired events (NIP-40), requests past their retention (grasp.md 11.2), and the rest of vanished keys (NIP-62). */
export class Sweeper {
  readonly #writer: Writer;
  readonly #clock: Clock;
  readonly #options: SweeperOptions;
  readonly #ports: SweeperPorts;
  #gatesAt: Instant;
  #cancel: () => void = () => undefined;
  #running: Promise<void> | undefined;
  #stopped = false;

  constructor(writer: Writer, clock: Clock, options: SweeperOptions, ports: SweeperPorts) {
    this.#writer = writer;
    this.#clock = clock;
    this.#options = options;
    this.#ports = ports;
    this.#gatesAt = clock.now();
  }

  start(): void {
    this.look();
  }

  /** Nothing more is begun; resolves when what is under way has ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancel();
    await this.#running;
  }

  /** Something may have changed what is due: sweep, and set the timer anew. A vanish that has more to do makes the gates due too. */
  look(gatesToo = false): void {
    if (gatesToo) this.#gatesAt = this.#clock.now();
    if (this.#stopped || this.#running !== undefined) return;
    this.#running = this.#sweep()
      .then(() => this.#arm())
      .catch((error: unknown) => {
        this.#ports.fault(error);
        this.#wakeAt(plus(this.#clock.now(), AFTER_FAULT_MS));
      })
      .finally(() => {
        this.#running = undefined;
      });
  }

  async #sweep(): Promise<void> {
    const now = this.#clock.now();
    for (;;) {
      const expired = await this.#writer.expired(toUnixSeconds(now), SLICE);
      if (expired.length > 0) await this.#remove(expired);
      if (expired.length < SLICE || this.#stopped) break;
    }
    if (now < this.#gatesAt) return;
    const due = this.#gatesAt;
    // Set before the walk: a vanish that comes during it, behind where it has got to, makes them due again.
    this.#gatesAt = plus(now, this.#options.gatesEveryMs);
    try {
      await this.#sweepGates(now);
    } catch (error) {
      this.#gatesAt = due;
      throw error;
    }
  }

  async #sweepGates(now: Instant): Promise<void> {
    let after: EventId | undefined;
    for (;;) {
      const gates = await this.#writer.gates(after, SLICE);
      for (const gate of gates) {
        if (this.#stopped) return;
        await this.#sweepGate(gate, now);
      }
      after = gates[gates.length - 1]?.request;
      if (gates.length < SLICE || this.#stopped) return;
    }
  }

  async #sweepGate(gate: Gate, now: Instant): Promise<void> {
    if (gate.vanishUntil !== undefined) await this.#finishVanish(gate);
    const stage = stageOf(gate, now, this.#options.retentions);
    if (stage !== "served" && gate.served) await this.#remove([gate.request]);
    if (stage === "gone") await this.#writer.transact((tx) => tx.apply([{ kind: "gate-forget", request: gate.request }]));
  }

  /** A key may have more events than one commit should remove: the request removed the first of them, this removes the rest. */
  async #finishVanish(gate: Gate): Promise<void> {
    for (;;) {
      const removed = await this.#writer.transact(async (tx) => {
        const left = await tx.toVanish(gate, SLICE);
        return { left: left.length, changes: left.length === 0 ? [] : await tx.apply(left.map((id) => ({ kind: "remove", id }))) };
      });
      if (removed.changes.length > 0) this.#ports.changed(removed.changes);
      if (removed.left < SLICE || this.#stopped) return;
    }
  }

  async #remove(ids: readonly EventId[]): Promise<void> {
    const changes = await this.#writer.transact((tx) => tx.apply(ids.map((id) => ({ kind: "remove", id }))));
    if (changes.length > 0) this.#ports.changed(changes);
  }

  async #arm(): Promise<void> {
    const expiry = await this.#writer.nextExpiry();
    const soonest = plus(this.#clock.now(), LOOK_AGAIN_MS);
    const due = expiry === undefined ? this.#gatesAt : Math.min(this.#gatesAt, expiry * 1_000);
    this.#wakeAt(instant(Math.max(soonest, due)));
  }

  #wakeAt(at: Instant): void {
    this.#cancel();
    if (!this.#stopped) this.#cancel = this.#clock.at(at, () => this.look());
  }
}
