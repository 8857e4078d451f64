import { type Instant, instant, type UnixSeconds, unixSeconds } from "../../base/time.ts";
import type { Oid } from "../../git/oid.ts";
import type { RefName } from "../../git/ref-name.ts";
import type { EventId, PublicKey, VerifiedEvent } from "../../nostr/event.ts";
import { type Address, addressOf, type Version, wins } from "../../nostr/replaceable.ts";
import type { HeldEvent, HeldReader, HeldStage, HeldWhat, OverlayRecord, RefIntent, StagedTip } from "../held.ts";
import { provenanceOf } from "./provenance-columns.ts";
import type { Connection } from "./sqlite-file.ts";

export const STAGES: readonly HeldStage[] = ["waiting", "soft-expired", "expired", "superseded"];
export const WHATS: readonly HeldWhat[] = ["announcement", "state", "pull-request"];
const LIVE = "stage IN (0, 1)";
const WAITING = 0;
const EXPIRED = 2;
const SUPERSEDED = 3;

export interface HeldRow {
  seq: number | null;
  stage: number;
  what: number;
  held_at: number;
  until: number | null;
  expires_at: number | null;
  how: number;
  relay: string | null;
  repositories: string;
  text: string;
}

interface TipRow {
  repository: string;
  id: Buffer;
  tip: string;
  until: number;
  uploader: string;
}

/** Reads what is kept and not served, on any connection. */
export class SqliteHeld implements HeldReader {
  readonly #statements;

  constructor(db: Connection) {
    this.#statements = {
      stage: db.prepare<[Buffer], number>("SELECT stage FROM held WHERE id = ?").pluck(),
      get: db.prepare<[Buffer], HeldRow>("SELECT * FROM held WHERE id = ?"),
      byAuthor: db.prepare<[Buffer, string], HeldRow>("SELECT * FROM held WHERE author = ? AND identifier = ? AND what <> 2"),
      byIdentifier: db.prepare<[string, number], HeldRow>(
        `SELECT * FROM held WHERE identifier = ? AND what = ? AND ${LIVE} ORDER BY created_at DESC, id`,
      ),
      byRepository: db.prepare<[string], HeldRow>(
        `SELECT h.* FROM held_repository r CROSS JOIN held h ON h.id = r.id WHERE r.repository = ? AND h.stage = ${WAITING}`,
      ),
      waitingBy: db
        .prepare<[Buffer, number], number>(`SELECT count(*) FROM held WHERE author = ? AND what = ? AND stage = ${WAITING}`)
        .pluck(),
      ownUpTo: db.prepare<[Buffer, number, number], Buffer>("SELECT id FROM held WHERE author = ? AND created_at <= ? LIMIT ? + 0").pluck(),
      page: db.prepare<[Buffer, number], HeldRow>("SELECT * FROM held WHERE id > ? ORDER BY id LIMIT ? + 0"),
      outlived: db
        .prepare<[number, number], Buffer>("SELECT id FROM held WHERE seq IS NULL AND until <= ? ORDER BY until, id LIMIT ? + 0")
        .pluck(),
      overlays: db.prepare<[string], { ref: string; state: Buffer; value: string | null }>(
        "SELECT ref, state, value FROM overlay WHERE repository = ? ORDER BY ref, state",
      ),
      hasOverlay: db.prepare<[Buffer], number>("SELECT 1 FROM overlay WHERE state = ? LIMIT 1").pluck(),
      intents: db.prepare<[], RefIntent>("SELECT repository, plan FROM intent ORDER BY repository"),
      tips: db.prepare<[], TipRow>("SELECT * FROM tip ORDER BY until, repository, id, tip"),
      tipsOf: db.prepare<[Buffer], TipRow>("SELECT * FROM tip WHERE id = ? ORDER BY until, repository, tip"),
      alive: db.prepare<[], number>("SELECT value FROM setting WHERE name = 'alive-at'").pluck(),
    };
  }

  row(id: EventId): HeldRow | undefined {
    return this.#statements.get.get(bytes(id));
  }

  waits(id: EventId): HeldStage | undefined {
    const stage = this.#statements.stage.get(bytes(id));
    return stage === undefined ? undefined : STAGES[stage];
  }

  heldEvent(id: EventId): HeldEvent | undefined {
    const row = this.row(id);
    return row === undefined ? undefined : heldEventOf(row);
  }

  heldFor(author: PublicKey, identifier: string): HeldEvent[] {
    return this.#statements.byAuthor
      .all(bytes(author), identifier)
      .map(heldEventOf)
      .filter(({ event }) => addressOf(event)?.d === identifier)
      .sort(newestFirst);
  }

  heldByIdentifier(what: "announcement" | "state", identifier: string, max: number): HeldEvent[] {
    const found: HeldEvent[] = [];
    if (max <= 0) return found;
    for (const row of this.#statements.byIdentifier.iterate(identifier, WHATS.indexOf(what))) {
      const held = heldEventOf(row);
      if (addressOf(held.event)?.d === identifier && found.push(held) >= max) break;
    }
    return found;
  }

  statesOf(identifier: string, authors: readonly PublicKey[]): HeldEvent[] {
    const isCandidate = ({ what, stage }: HeldEvent) => what === "state" && (stage === STAGES[WAITING] || stage === STAGES[SUPERSEDED]);
    const found = [...new Set(authors)].flatMap((author) => this.heldFor(author, identifier).filter(isCandidate));
    return found.sort(newestFirst);
  }

  pullRequestsFor(repositories: readonly string[]): HeldEvent[] {
    const found = new Map<EventId, HeldEvent>();
    for (const repository of new Set(repositories)) {
      for (const row of this.#statements.byRepository.all(repository)) {
        const held = heldEventOf(row);
        found.set(held.event.id, held);
      }
    }
    return [...found.values()].sort(newestFirst);
  }

  waitingBy(author: PublicKey, what: HeldWhat): number {
    return this.#statements.waitingBy.get(bytes(author), WHATS.indexOf(what)) ?? 0;
  }

  expiredIds(ids: readonly EventId[]): EventId[] {
    return ids.filter((id) => this.#statements.stage.get(bytes(id)) === EXPIRED);
  }

  ownHeld(author: PublicKey, ids: readonly EventId[], addresses: readonly Address[], until: UnixSeconds): Version[] {
    const found = new Map<EventId, Version>();
    for (const id of ids) {
      const event = this.heldEvent(id)?.event;
      if (event?.pubkey === author) found.set(id, { id, created_at: event.created_at });
    }
    for (const { kind, pubkey, d } of addresses) {
      if (pubkey !== author) continue;
      for (const { event } of this.heldFor(author, d)) {
        if (event.kind === kind && event.created_at <= until) found.set(event.id, { id: event.id, created_at: event.created_at });
      }
    }
    return [...found.values()].sort((a, b) => (wins(a, b) ? -1 : 1));
  }

  /** For a request to vanish (NIP-62): whatever is held of this author up to that time, in any order. */
  ownUpTo(author: PublicKey, until: UnixSeconds, max: number): EventId[] {
    return this.#statements.ownUpTo.all(bytes(author), until, max).map((id) => id.toString("hex") as EventId);
  }

  heldPage(after: EventId | undefined, max: number): HeldEvent[] {
    return this.#statements.page.all(after === undefined ? Buffer.alloc(0) : bytes(after), max).map(heldEventOf);
  }

  outlived(now: Instant, max: number): EventId[] {
    return this.#statements.outlived.all(now, max).map((id) => id.toString("hex") as EventId);
  }

  overlays(repository: string): OverlayRecord[] {
    return this.#statements.overlays.all(repository).map(({ ref, state, value }) => ({
      repository,
      ref: ref as RefName,
      value: value === null ? undefined : (value as Oid),
      state: state.toString("hex") as EventId,
    }));
  }

  hasOverlay(state: EventId): boolean {
    return this.#statements.hasOverlay.get(bytes(state)) !== undefined;
  }

  intents(): RefIntent[] {
    return this.#statements.intents.all();
  }

  tips(): StagedTip[] {
    return this.#statements.tips.all().map(stagedTipOf);
  }

  tipsOf(id: EventId): StagedTip[] {
    return this.#statements.tipsOf.all(bytes(id)).map(stagedTipOf);
  }

  aliveAt(): Instant | undefined {
    const at = this.#statements.alive.get();
    return at === undefined ? undefined : instant(at);
  }
}

const bytes = (hex: string): Buffer => Buffer.from(hex, "hex");

const newestFirst = (a: HeldEvent, b: HeldEvent): number => (wins(a.event, b.event) ? -1 : 1);

export function heldEventOf(row: HeldRow): HeldEvent {
  return {
    event: JSON.parse(row.text) as VerifiedEvent,
    text: row.text,
    what: WHATS[row.what] ?? "announcement",
    stage: STAGES[row.stage] ?? "waiting",
    repositories: JSON.parse(row.repositories) as string[],
    heldAt: instant(row.held_at),
    until: row.until === null ? undefined : instant(row.until),
    expiresAt: row.expires_at === null ? undefined : unixSeconds(row.expires_at),
    provenance: provenanceOf(row.how, row.relay),
  };
}

const stagedTipOf = ({ repository, id, tip, until, uploader }: TipRow): StagedTip => ({
  repository,
  id: id.toString("hex") as EventId,
  tip: tip as Oid,
  until: instant(until),
  uploader,
});
