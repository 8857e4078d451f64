import { type Instant, plus, type UnixSeconds } from "../base/time.ts";
import type { Oid } from "../git/oid.ts";
import type { EventId, PublicKey } from "../nostr/event.ts";
import { type Address, addressOf, type Version, wins } from "../nostr/replaceable.ts";
import type { HoldingChange } from "./batch.ts";
import type { Seq } from "./event-store.ts";
import {
  type HeldEvent,
  type HeldReader,
  type HeldStage,
  type HeldWhat,
  isLive,
  type OverlayRecord,
  type RefIntent,
  type StagedTip,
} from "./held.ts";
import { MemoryOverlay } from "./memory-overlay.ts";

/** A held event and the change that held it; without one it is not in purgatory. */
export interface HeldRow extends HeldEvent {
  readonly seq: Seq | undefined;
}

/** What the memory store keeps beside what it serves. */
export interface HeldTables {
  readonly held: Map<EventId, HeldRow>;
  readonly overlays: Map<string, OverlayRecord>;
  readonly intents: Map<string, RefIntent>;
  readonly tips: Map<string, StagedTip>;
  readonly marks: Map<"alive", Instant>;
}

export const noHeldTables = (): HeldTables => ({
  held: new Map(),
  overlays: new Map(),
  intents: new Map(),
  tips: new Map(),
  marks: new Map(),
});

type Housekeeping = Exclude<HoldingChange, { kind: "hold" | "promote" | "restage" | "release" | "withdraw" }>;

/** A draft over what is held, and the answers from it. Every question is a walk over everything. */
export class MemoryHeld implements HeldReader {
  readonly rows: MemoryOverlay<EventId, HeldRow>;
  readonly #overlays: MemoryOverlay<string, OverlayRecord>;
  readonly #intents: MemoryOverlay<string, RefIntent>;
  readonly #tips: MemoryOverlay<string, StagedTip>;
  readonly #marks: MemoryOverlay<"alive", Instant>;

  constructor(tables: HeldTables) {
    this.rows = new MemoryOverlay(tables.held);
    this.#overlays = new MemoryOverlay(tables.overlays);
    this.#intents = new MemoryOverlay(tables.intents);
    this.#tips = new MemoryOverlay(tables.tips);
    this.#marks = new MemoryOverlay(tables.marks);
  }

  commit(): void {
    for (const table of [this.rows, this.#overlays, this.#intents, this.#tips, this.#marks]) table.commit();
  }

  waits(id: EventId): HeldStage | undefined {
    return this.rows.get(id)?.stage;
  }

  heldEvent(id: EventId): HeldEvent | undefined {
    const row = this.rows.get(id);
    return row === undefined ? undefined : asHeldEvent(row);
  }

  heldFor(author: PublicKey, identifier: string): readonly HeldEvent[] {
    return this.#find((row) => row.event.pubkey === author && row.what !== "pull-request" && identifierOf(row) === identifier);
  }

  heldByIdentifier(what: "announcement" | "state", identifier: string, max: number): readonly HeldEvent[] {
    return this.#find((row) => row.what === what && isLive(row.stage) && identifierOf(row) === identifier).slice(0, max);
  }

  statesOf(identifier: string, authors: readonly PublicKey[]): readonly HeldEvent[] {
    const isCandidate = ({ what, stage }: HeldRow) => what === "state" && (stage === "waiting" || stage === "superseded");
    return this.#find((row) => isCandidate(row) && authors.includes(row.event.pubkey) && identifierOf(row) === identifier);
  }

  pullRequestsFor(repositories: readonly string[]): readonly HeldEvent[] {
    return this.#find((row) => row.stage === "waiting" && row.repositories.some((repository) => repositories.includes(repository)));
  }

  waitingBy(author: PublicKey, what: HeldWhat): number {
    return this.#find((row) => row.event.pubkey === author && row.what === what && row.stage === "waiting").length;
  }

  expiredIds(ids: readonly EventId[]): readonly EventId[] {
    return ids.filter((id) => this.waits(id) === "expired");
  }

  ownHeld(author: PublicKey, ids: readonly EventId[], addresses: readonly Address[], until: UnixSeconds): readonly Version[] {
    const isAt = ({ event }: HeldRow, { kind, pubkey, d }: Address) => {
      const own = addressOf(event);
      return own?.kind === kind && own.pubkey === pubkey && own.d === d && event.created_at <= until;
    };
    const named = (row: HeldRow) => ids.includes(row.event.id) || addresses.some((address) => isAt(row, address));
    return this.#find((row) => row.event.pubkey === author && named(row)).map(({ event: { id, created_at } }) => ({ id, created_at }));
  }

  heldPage(after: EventId | undefined, max: number): readonly HeldEvent[] {
    return this.#find((row) => after === undefined || row.event.id > after)
      .toSorted((a, b) => (a.event.id < b.event.id ? -1 : 1))
      .slice(0, max);
  }

  outlived(now: Instant, max: number): readonly EventId[] {
    return this.rows
      .values()
      .filter((row) => !isLive(row.stage) && row.until !== undefined && row.until <= now)
      .toSorted((a, b) => (a.until ?? 0) - (b.until ?? 0) || (a.event.id < b.event.id ? -1 : 1))
      .slice(0, max)
      .map((row) => row.event.id);
  }

  overlays(repository: string): readonly OverlayRecord[] {
    const inOrder = (a: OverlayRecord, b: OverlayRecord) => (a.ref === b.ref ? a.state < b.state : a.ref < b.ref);
    const own = this.#overlays.values().filter((record) => record.repository === repository);
    return own.toSorted((a, b) => (inOrder(a, b) ? -1 : 1));
  }

  hasOverlay(state: EventId): boolean {
    return this.#overlays.values().some((record) => record.state === state);
  }

  intents(): readonly RefIntent[] {
    return this.#intents.values().toSorted((a, b) => (a.repository < b.repository ? -1 : 1));
  }

  tips(): readonly StagedTip[] {
    const inOrder = (a: StagedTip, b: StagedTip) => (a.until === b.until ? tipKey(a) < tipKey(b) : a.until < b.until);
    return this.#tips.values().toSorted((a, b) => (inOrder(a, b) ? -1 : 1));
  }

  tipsOf(id: EventId): readonly StagedTip[] {
    return this.tips().filter((tip) => tip.id === id);
  }

  aliveAt(): Instant | undefined {
    return this.#marks.get("alive");
  }

  /** grasp.md 11.3: the newest so many stay. */
  trimSuperseded(author: PublicKey, identifier: string, max: number): void {
    const superseded = this.heldFor(author, identifier).filter((row) => row.stage === "superseded");
    for (const { event } of superseded.slice(max)) this.rows.delete(event.id);
  }

  dropOverlays(state: EventId, repository?: string): void {
    for (const record of this.#overlays.values()) {
      if (record.state === state && (repository === undefined || record.repository === repository))
        this.#overlays.delete(overlayKey(record));
    }
  }

  keepHouse(change: Housekeeping): void {
    switch (change.kind) {
      case "overlay": {
        const { repository, ref, value, state } = change;
        this.#overlays.set(overlayKey(change), { repository, ref, value, state });
        return;
      }
      case "overlay-drop":
        this.dropOverlays(change.state, change.repository);
        return;
      case "intend":
        this.#intents.set(change.repository, { repository: change.repository, plan: change.plan });
        return;
      case "intent-done":
        this.#intents.delete(change.repository);
        return;
      case "stage-tip": {
        const { repository, id, tip, until, uploader } = change;
        this.#tips.set(tipKey(change), { repository, id, tip, until, uploader });
        return;
      }
      case "unstage-tip":
        this.#tips.delete(tipKey(change));
        return;
      case "alive":
        this.#marks.set("alive", change.at);
        if (change.shiftMs !== 0) this.#shift(change.shiftMs);
    }
  }

  #shift(ms: number): void {
    for (const row of this.rows.values()) {
      if (!isLive(row.stage)) continue;
      const until = row.until === undefined ? undefined : plus(row.until, ms);
      this.rows.set(row.event.id, { ...row, heldAt: plus(row.heldAt, ms), until });
    }
    for (const tip of this.#tips.values()) this.#tips.set(tipKey(tip), { ...tip, until: plus(tip.until, ms) });
  }

  /** Newest first. */
  #find(wanted: (row: HeldRow) => boolean): HeldEvent[] {
    const found = this.rows.values().filter(wanted);
    return found.toSorted((a, b) => (wins(a.event, b.event) ? -1 : 1)).map(asHeldEvent);
  }
}

const identifierOf = ({ event }: HeldEvent): string | undefined => addressOf(event)?.d;
const overlayKey = ({ repository, ref, state }: OverlayRecord): string => JSON.stringify([repository, ref, state]);
const tipKey = ({ repository, id, tip }: { repository: string; id: EventId; tip: Oid }): string => JSON.stringify([repository, id, tip]);

/** The number is the feed's business. */
function asHeldEvent(row: HeldRow): HeldEvent {
  const { event, text, what, stage, repositories, heldAt, until, expiresAt, provenance } = row;
  return { event, text, what, stage, repositories, heldAt, until, expiresAt, provenance };
}
