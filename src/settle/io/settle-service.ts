import type { Clock } from "../../base/clock.ts";
import { FaultError } from "../../base/fault.ts";
import { plus } from "../../base/time.ts";
import { type Identifier, readIdentifier } from "../../grasp/identifier.ts";
import { readRepoCoordinate, repoCoordinate } from "../../grasp/repo-id.ts";
import type { EventId, PublicKey } from "../../nostr/event.ts";
import { addressOf } from "../../nostr/replaceable.ts";
import type { Change } from "../../store/batch.ts";
import type { HeldEvent, HeldReader } from "../../store/held.ts";
import type { Evidence } from "../evidence.ts";
import { matesIn } from "../mates.ts";
import type { RepositoryHost, SettlePorts } from "../ports.ts";
import { isEmptyPlan } from "../ref-plan.ts";
import { settle } from "../settle.ts";
import { isSettled, type RepositorySettlement, type Settlement } from "../settlement.ts";
import { KEPT_MS, settlementBatch } from "../settlement-batch.ts";
import type { EvidenceReader } from "./evidence-reader.ts";

/** grasp.md 6.6: what fails so often with unchanged evidence is a fault. */
const TRIES_MAX = 2;
/** Where every round finds other refs than the one before, somebody writes without pause: he will ask for another settlement when he is done. */
const ROUNDS_MAX = 6;
/** Each has a few readings of the store and perhaps a git process; more at once would only make all of them slower. */
const AT_ONCE_MAX = 8;
/** What is held is listed in pages of this size at boot. */
const PAGE = 500;

export interface Settled {
  /** Served from now on. */
  readonly promoted: ReadonlySet<EventId>;
  /** Owners whose repository could not be aligned; each was reported. */
  readonly unaligned: readonly PublicKey[];
  /** Unserved events that a ref rests on: time must not take them (grasp.md 4.7, 6.7). */
  readonly keep: readonly EventId[];
}

export interface SettleParts {
  readonly evidence: EvidenceReader;
  readonly held: HeldReader;
  readonly host: RepositoryHost;
  readonly clock: Clock;
  readonly ports: SettlePorts;
}

interface Turn {
  readonly running: Promise<Settled>;
  next: Promise<Settled> | undefined;
}

/** Gather, decide, apply (grasp.md 6.6): refs first, then what is served (6.5). */
export class SettleService {
  readonly #parts: SettleParts;
  readonly #turns = new Map<Identifier, Turn>();
  #running = 0;
  /** Those that wait for another identifier's settlement to end: at most one for each that has changed. */
  readonly #waitingToRun: (() => void)[] = [];

  constructor(parts: SettleParts) {
    this.#parts = parts;
  }

  /** How many identifiers are being settled. */
  get size(): number {
    return this.#turns.size;
  }

  /**
   * Settles once with evidence that is gathered after this call. Whoever asks while one runs shares the one after it. Rejects when the store or a reading
   * failed (reported too); what could not be aligned is told in the result.
   */
  settle(identifier: Identifier): Promise<Settled> {
    const turn = this.#turns.get(identifier);
    if (turn === undefined) return this.#start(identifier);
    turn.next ??= turn.running.then(
      () => this.#start(identifier),
      () => this.#start(identifier),
    );
    return turn.next;
  }

  /**
   * For boot: everything that a stop may have left between two steps. That is what waits or has moved refs ahead, what is marked in the store as begun, and
   * repositories whose state was deleted before they were settled. Ref transactions themselves are finished by the host, before it shows any refs.
   */
  async settleAll(): Promise<void> {
    const { host, evidence } = this.#parts;
    for (const identifier of await this.#waiting()) await this.#quietly(identifier);
    const orphaned = new Set<Identifier>();
    for await (const { repo, state } of host.aligned()) if (!(await evidence.isKnown(state.id))) orphaned.add(repo.identifier);
    for (const identifier of orphaned) await this.#quietly(identifier);
  }

  /** One that fails was reported, and holds up no other. */
  async #quietly(identifier: Identifier): Promise<void> {
    await this.settle(identifier).catch(() => undefined);
  }

  async #waiting(): Promise<ReadonlySet<Identifier>> {
    const { held } = this.#parts;
    const found = new Set<Identifier>();
    let after: EventId | undefined;
    for (;;) {
      const page = await held.heldPage(after, PAGE);
      for (const one of page) for (const identifier of identifiersOf(one)) found.add(identifier);
      after = page.at(-1)?.event.id;
      if (page.length < PAGE) break;
    }
    for (const { repository } of await held.intents()) {
      const repo = readRepoCoordinate(repository);
      if (repo !== undefined) found.add(repo.identifier);
    }
    return found;
  }

  #start(identifier: Identifier): Promise<Settled> {
    const turn: Turn = { running: this.#run(identifier), next: undefined };
    this.#turns.set(identifier, turn);
    const leave = (): void => {
      if (turn.next === undefined && this.#turns.get(identifier) === turn) this.#turns.delete(identifier);
    };
    turn.running.then(leave, leave);
    return turn.running;
  }

  async #run(identifier: Identifier): Promise<Settled> {
    if (this.#running >= AT_ONCE_MAX) await new Promise<void>((resolve) => this.#waitingToRun.push(resolve));
    else this.#running += 1;
    try {
      return await this.#rounds(identifier);
    } catch (error) {
      this.#parts.ports.fault("settling", error);
      throw error;
    } finally {
      // Whoever waits takes the place over.
      const next = this.#waitingToRun.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }

  async #rounds(identifier: Identifier): Promise<Settled> {
    const { evidence, ports, clock } = this.#parts;
    const tries = new Tries();
    const promoted = new Set<EventId>();
    for (let round = 1; ; round++) {
      const begun = await this.#begun(identifier);
      const facts = await evidence.gather(identifier);
      const whole = settle(facts);
      // A repository that could not be read may still need what nobody else can complete.
      const settlement = facts.unread.length === 0 ? whole : { ...whole, dropped: [] };
      const aligned = isSettled(settlement)
        ? new Set(settlement.repositories.map(({ owner }) => owner))
        : await this.#align(identifier, facts, settlement, tries);
      const isAligned = (owner: PublicKey): boolean => aligned.has(owner);
      const isOpen = (owner: PublicKey): boolean => facts.unread.includes(owner) || facts.repositories.some((one) => one.owner === owner);
      const done = begun.filter((owner) => isAligned(owner) || !isOpen(owner));
      const marks = done.map((owner): Change => ({ kind: "intent-done", repository: repoCoordinate({ owner, identifier }) }));
      const batch = [...settlementBatch(settlement, isAligned, clock.now()), ...marks];
      if (batch.length > 0) await ports.commit(batch);
      for (const change of batch) if (change.kind === "promote") promoted.add(change.id);
      const unaligned = settlement.repositories.filter(({ owner }) => !isAligned(owner));
      const isHopeless = round >= ROUNDS_MAX || unaligned.every((one) => tries.of(one) >= TRIES_MAX);
      if (!isHopeless) continue;
      for (const one of unaligned) ports.fault("aligning a repository", tries.why(one));
      return { promoted, unaligned: [...unaligned.map(({ owner }) => owner), ...facts.unread], keep: settlement.keep };
    }
  }

  /** Every repository by itself: one that fails holds up no other. The answer are those that are in order now. */
  async #align(identifier: Identifier, facts: Evidence, settlement: Settlement, tries: Tries): Promise<ReadonlySet<PublicKey>> {
    const aligned = new Set<PublicKey>();
    const matesOf = matesIn(facts.repositories);
    for (const one of settlement.repositories) {
      const { owner } = one;
      if (isEmptyPlan(one.plan) && one.turn === undefined && !one.isRealigned) {
        aligned.add(owner);
        continue;
      }
      if (tries.of(one) >= TRIES_MAX) continue;
      const before = facts.repositories.find((repository) => repository.owner === owner)?.standing ?? "waiting";
      const { plan, format, retain } = one;
      const standing = one.turn === undefined ? before : one.turn === "opens" ? "served" : "waiting";
      const mates = matesOf(owner).map((mate) => ({ owner: mate, identifier }));
      const retainUntil = plus(this.#parts.clock.now(), KEPT_MS);
      try {
        const alignment = { plan, format, retain, retainUntil, mates, settled: { standing, aligned: one.aligned } } as const;
        const outcome = await this.#parts.host.align({ owner, identifier }, alignment);
        if (outcome.kind === "aligned") aligned.add(owner);
        else tries.failed(one, new FaultError({ kind: "busy", what: outcome.what }));
      } catch (error) {
        tries.failed(one, error);
      }
    }
    return aligned;
  }

  /** Owners whose repository is marked in the store: whoever changed evidence wrote that with it, so that a crash before this settlement is seen. */
  async #begun(identifier: Identifier): Promise<readonly PublicKey[]> {
    const repos = (await this.#parts.held.intents()).map(({ repository }) => readRepoCoordinate(repository));
    return repos.flatMap((repo) => (repo?.identifier === identifier ? [repo.owner] : []));
  }
}

/** What failed already, and with which plan: another plan means that the evidence has changed. */
class Tries {
  readonly #failures = new Map<PublicKey, { readonly plan: string; readonly count: number; readonly error: unknown }>();

  of(one: RepositorySettlement): number {
    const before = this.#failures.get(one.owner);
    return before?.plan === planText(one) ? before.count : 0;
  }

  failed(one: RepositorySettlement, error: unknown): void {
    this.#failures.set(one.owner, { plan: planText(one), count: this.of(one) + 1, error });
  }

  why(one: RepositorySettlement): unknown {
    return this.#failures.get(one.owner)?.error;
  }
}

const planText = ({ plan, aligned, turn }: RepositorySettlement): string => JSON.stringify([plan, aligned, turn]);

function identifiersOf({ event, repositories, what }: HeldEvent): readonly Identifier[] {
  if (what === "pull-request") return repositories.flatMap((text) => readRepoCoordinate(text)?.identifier ?? []);
  const identifier = readIdentifier(addressOf(event)?.d ?? "");
  return identifier === undefined ? [] : [identifier];
}
