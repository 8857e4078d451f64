import { isAnchor } from "../grasp/anchor.ts";
import { isDeletable } from "../nostr/deletion.ts";
import type { EventId, NostrEvent, PublicKey, Tag } from "../nostr/event.ts";
import { GIFT_WRAP } from "../nostr/kinds.ts";
import { type Address, addressOf, type Version, wins } from "../nostr/replaceable.ts";
import { tagValues } from "../nostr/tags.ts";
import type { Batch, Change, GateTarget } from "./batch.ts";
import { type FeedChange, type Gate, type Seq, seq, type Transaction } from "./event-store.ts";
import { isLive } from "./held.ts";
import { type HeldRow, MemoryHeld } from "./memory-held.ts";
import { MemoryOverlay } from "./memory-overlay.ts";
import { asFeedChange, asGate, type GateRow, type LogRow, type MemoryTables, type ServedRow } from "./memory-tables.ts";

/** grasp.md 3.6: the tags in which one event names another. */
const BY_ID: readonly string[] = ["e", "E", "q"];
const BY_ADDRESS: readonly string[] = ["a", "A", "q"];

/** A draft over the tables: it sees its own changes, others see them after `commit`. Every question is a walk over everything. */
export class MemoryTransaction implements Transaction {
  readonly held: MemoryHeld;
  readonly #tables: MemoryTables;
  readonly #served: MemoryOverlay<EventId, ServedRow>;
  readonly #gates: MemoryOverlay<EventId, GateRow>;
  readonly #logged: LogRow[] = [];

  constructor(tables: MemoryTables) {
    this.#tables = tables;
    this.held = new MemoryHeld(tables);
    this.#served = new MemoryOverlay(tables.served);
    this.#gates = new MemoryOverlay(tables.gates);
  }

  commit(): void {
    this.#served.commit();
    this.#gates.commit();
    this.held.commit();
    this.#tables.log.push(...this.#logged);
  }

  serves(id: EventId): boolean {
    return this.#served.get(id) !== undefined;
  }

  incumbent(address: Address): Version | undefined {
    const [first] = this.#events()
      .filter((event) => holds(event, address))
      .toSorted(newestFirst);
    return first === undefined ? undefined : { id: first.id, created_at: first.created_at };
  }

  gateFor(event: NostrEvent): Gate | undefined {
    const counts = (target: GateTarget) => (isDeletable(event.kind) || target.kind === "key") && covers(target, event);
    const shutting = this.#gates.values().filter((gate) => gate.author === event.pubkey && gate.targets.some(counts));
    const [first] = shutting.toSorted(byCredit);
    return first === undefined ? undefined : asGate(first, this.serves(first.request));
  }

  gate(request: EventId): Gate | undefined {
    const row = this.#gates.get(request);
    return row === undefined ? undefined : asGate(row, this.serves(request));
  }

  toVanish({ request, author, vanishUntil }: Pick<Gate, "request" | "author" | "vanishUntil">, max: number): readonly EventId[] {
    if (vanishUntil === undefined) return [];
    const isWrapFor = (event: NostrEvent) => event.kind === GIFT_WRAP && tagValues(event, "p").includes(author);
    return [...this.#events(), ...this.held.rows.values().map((row) => row.event)]
      .filter((event) => event.id !== request && event.created_at <= vanishUntil && (event.pubkey === author || isWrapFor(event)))
      .slice(0, max)
      .map((event) => event.id);
  }

  ownServed(author: PublicKey, ids: readonly EventId[]): readonly (Version & { readonly kind: number })[] {
    return this.#events()
      .filter((event) => event.pubkey === author && ids.includes(event.id))
      .map(({ id, created_at, kind }) => ({ id, created_at, kind }));
  }

  servesAny(ids: readonly EventId[], addresses: readonly Address[]): boolean {
    const named = (event: NostrEvent) => ids.includes(event.id) || addresses.some((address) => holds(event, address));
    return this.#events().some((event) => isAnchor(event.kind) && named(event));
  }

  isNamed(event: NostrEvent): boolean {
    const address = addressOf(event);
    // NIP-01: `<kind>:<pubkey>:<d>`, and `<kind>:<pubkey>:` for a replaceable event.
    const coordinate = address === undefined ? undefined : `${address.kind}:${address.pubkey}:${address.d}`;
    const names = ([name = "", value]: Tag): boolean =>
      value !== undefined && ((BY_ID.includes(name) && value === event.id) || (BY_ADDRESS.includes(name) && value === coordinate));
    return this.#events().some((served) => isAnchor(served.kind) && served.tags.some(names));
  }

  hasServed(author: PublicKey): boolean {
    return this.#events().some((event) => event.pubkey === author && isAnchor(event.kind));
  }

  servedByIdentifier(kind: number, d: string, max: number): readonly NostrEvent[] {
    return this.#events()
      .filter((event) => event.kind === kind && addressOf(event)?.d === d)
      .toSorted(newestFirst)
      .slice(0, max);
  }

  unusedGates(author: PublicKey): number {
    return this.#gates.values().filter((gate) => gate.author === author && gate.lastUsedAt === undefined).length;
  }

  apply(batch: Batch): readonly FeedChange[] {
    const before = this.#logged.length;
    for (const change of batch) this.#change(change);
    const first = this.#tables.log.length + before + 1;
    const now = (id: EventId) => [this.#served.get(id), this.held.rows.get(id)] as const;
    return this.#logged.slice(before).map((row, index) => asFeedChange(row, seq(first + index), ...now(row.id)));
  }

  #change(change: Change): void {
    switch (change.kind) {
      case "put": {
        const { event, text, expiresAt, provenance } = change;
        if (this.serves(event.id)) return;
        const stored = { seq: this.#log("put", event.id), id: event.id, createdAt: event.created_at, text };
        this.#served.set(event.id, { event, stored, expiresAt, provenance });
        return;
      }
      case "remove":
        if (this.serves(change.id)) {
          this.#log("remove", change.id);
          this.#served.delete(change.id);
        } else this.#release(change.id);
        return;
      case "gate": {
        const { request, author, targets, seenAt, used } = change;
        // When it was first seen and last used is what its time is counted from (grasp.md 11.2): it must not start anew.
        if (this.#gates.get(request) !== undefined) return;
        this.#gates.set(request, { request, author, targets, seenAt, lastUsedAt: used ? seenAt : undefined });
        return;
      }
      case "gate-used": {
        const gate = this.#gates.get(change.request);
        if (gate !== undefined) this.#gates.set(change.request, { ...gate, lastUsedAt: change.at });
        return;
      }
      case "gate-forget":
        this.#gates.delete(change.request);
        return;
      case "hold": {
        const { event, text, what, repositories, heldAt, until, expiresAt, provenance } = change;
        const before = this.held.rows.get(event.id);
        if (this.serves(event.id) || before?.stage === "waiting") return;
        const number = before?.seq ?? this.#log("hold", event.id);
        const row: HeldRow = { event, text, what, stage: "waiting", repositories, heldAt, until, expiresAt, provenance, seq: number };
        this.held.rows.set(event.id, row);
        return;
      }
      case "promote": {
        const row = this.held.rows.get(change.id);
        if (row === undefined) return;
        this.held.rows.delete(change.id);
        this.held.dropOverlays(change.id);
        const { event, text, expiresAt, provenance } = row;
        this.#change({ kind: "put", event, text, expiresAt, provenance });
        return;
      }
      case "restage": {
        const row = this.held.rows.get(change.id);
        if (row?.stage === change.from) this.#restage(row, change);
        return;
      }
      case "release":
        if (this.held.rows.get(change.id)?.stage === change.from) this.#release(change.id);
        return;
      case "withdraw":
        this.#withdraw(change);
        return;
      default:
        this.held.keepHouse(change);
    }
  }

  #restage(row: HeldRow, { stage, until }: Pick<HeldRow, "stage" | "until">): void {
    const { id } = row.event;
    const lives = isLive(stage);
    if (row.seq !== undefined && !lives) this.#log("remove", id);
    const number = lives ? (row.seq ?? this.#log("hold", id)) : undefined;
    if (!lives) this.held.dropOverlays(id);
    this.held.rows.set(id, { ...row, stage, until, seq: number });
  }

  #withdraw(change: Change & { kind: "withdraw" }): void {
    const served = this.#served.get(change.id);
    if (served !== undefined) {
      this.#log("remove", change.id);
      this.#served.delete(change.id);
      const { event, stored, expiresAt, provenance } = served;
      const { what, stage, at, until } = change;
      const number = isLive(stage) ? this.#log("hold", change.id) : undefined;
      const kept = { event, text: stored.text, what, stage, repositories: [], heldAt: at, until, expiresAt, provenance };
      this.held.rows.set(change.id, { ...kept, seq: number });
    }
    const row = this.held.rows.get(change.id);
    if (row === undefined) return;
    if (served === undefined) this.#restage(row, change);
    if (change.stage === "superseded") this.held.trimSuperseded(row.event.pubkey, addressOf(row.event)?.d ?? "", change.supersededMax);
  }

  #release(id: EventId): void {
    const row = this.held.rows.get(id);
    if (row === undefined) return;
    if (row.seq !== undefined) this.#log("remove", id);
    this.held.rows.delete(id);
    this.held.dropOverlays(id);
  }

  #log(change: LogRow["change"], id: EventId): Seq {
    this.#logged.push({ change, id });
    return seq(this.#tables.log.length + this.#logged.length);
  }

  #events(): NostrEvent[] {
    return this.#served.values().map((row) => row.event);
  }
}

/** grasp.md 3.2: newer first, ties by lower id. */
export function newestFirst(a: Version, b: Version): number {
  if (a.id === b.id) return 0;
  return wins(a, b) ? -1 : 1;
}

function holds(event: NostrEvent, address: Address): boolean {
  const own = addressOf(event);
  return own !== undefined && own.kind === address.kind && own.pubkey === address.pubkey && own.d === address.d;
}

/** grasp.md 11.1: `a` covers versions up to the request's time; NIP-62 covers everything of the key up to it. */
function covers(target: GateTarget, event: NostrEvent): boolean {
  switch (target.kind) {
    case "event":
      return target.id === event.id;
    case "address":
      return holds(event, target.address) && event.created_at <= target.until;
    case "key":
      return event.created_at <= target.until;
  }
}

/** Used before unused, then the earliest seen, then the lowest id: uses gather on few requests and the others can be forgotten (grasp.md 11.2). */
function byCredit(a: GateRow, b: GateRow): number {
  const unused = Number(a.lastUsedAt === undefined) - Number(b.lastUsedAt === undefined);
  if (unused !== 0) return unused;
  if (a.seenAt !== b.seenAt) return a.seenAt - b.seenAt;
  return a.request < b.request ? -1 : 1;
}
