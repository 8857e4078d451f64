import { type Step, stay } from "../base/machine.ts";
import type { EventId } from "../nostr/event.ts";
import type { Effect, Entry, FirstRounds, Ledger } from "./ledger-state.ts";
import type { Lifetimes } from "./lifetimes.ts";
import type { ProjectKey, WaitingAnnouncement } from "./waiting.ts";

type Tables = Pick<Ledger, "waiting" | "soft" | "remembered" | "tips" | "fetches">;
type Mutable<M> = M extends ReadonlyMap<infer K, infer V> ? Map<K, V> : never;

/** The next ledger while a step makes it: a table is copied when it is first written to, and the given ledger stays as it was. */
export class LedgerDraft {
  readonly limits: Lifetimes;
  readonly effects: Effect[] = [];
  #ledger: Ledger;
  readonly #base: Ledger;
  readonly #copied = new Set<keyof Tables>();

  constructor(ledger: Ledger, limits: Lifetimes) {
    this.limits = limits;
    this.#base = ledger;
    this.#ledger = ledger;
  }

  get now(): Ledger {
    return this.#ledger;
  }

  edit<K extends keyof Tables>(table: K): Mutable<Tables[K]> {
    if (!this.#copied.has(table)) {
      this.#copied.add(table);
      this.#ledger = { ...this.#ledger, [table]: new Map(this.#ledger[table] as ReadonlyMap<unknown, unknown>) };
    }
    return this.#ledger[table] as unknown as Mutable<Tables[K]>;
  }

  setFirstRounds(firstRounds: FirstRounds | undefined): void {
    this.#ledger = { ...this.#ledger, firstRounds };
  }

  /** Takes an event out of whatever table it stands in. */
  drop(id: EventId): void {
    for (const table of ["waiting", "soft", "remembered"] as const) if (this.now[table].has(id)) this.edit(table).delete(id);
  }

  wait(entry: Entry): void {
    this.edit("waiting").set(entry.waiting.id, entry);
  }

  /** An announcement's second stage. Beyond the limit the one that has been there longest goes. */
  soften(entry: Entry<WaitingAnnouncement>): void {
    const { id, repository } = entry.waiting;
    this.drop(id);
    const soft = this.edit("soft").set(id, entry);
    this.effects.push({ kind: "soft-expire", id, repository, until: entry.until });
    for (const oldest of soft.keys()) {
      if (soft.size <= this.limits.softMax) break;
      soft.delete(oldest);
      this.effects.push({ kind: "forget", id: oldest, from: "soft-expired" });
    }
  }

  need(projects: Iterable<ProjectKey>, why: "held" | "started" | "expired"): void {
    for (const project of new Set(projects)) this.effects.push({ kind: "need", project, why });
  }

  done(): Step<Ledger, Effect> {
    return this.#ledger === this.#base && this.effects.length === 0 ? stay(this.#base) : { state: this.#ledger, effects: this.effects };
  }
}
