import { unreachable } from "../../base/machine.ts";
import type { EventId } from "../../nostr/event.ts";
import { addressOf } from "../../nostr/replaceable.ts";
import type { HoldingChange } from "../batch.ts";
import { type FeedChange, seq } from "../event-store.ts";
import { type HeldEvent, isLive } from "../held.ts";
import { howNumber } from "./provenance-columns.ts";
import type { Connection } from "./sqlite-file.ts";
import { type HeldRow, heldEventOf, type SqliteHeld, STAGES, WHATS } from "./sqlite-held.ts";
import { GONE_HELD, GONE_PASSED, GONE_REMOVED, type SqliteTables } from "./sqlite-tables.ts";

type Of<K extends HoldingChange["kind"]> = Extract<HoldingChange, { kind: K }>;

/** Changes what is kept and not served, inside a transaction that somebody else opened. Whatever enters or leaves purgatory takes a number of the feed. */
export class SqliteHolding {
  readonly #tables: SqliteTables;
  readonly #held: SqliteHeld;
  readonly #statements;

  constructor(db: Connection, tables: SqliteTables, held: SqliteHeld) {
    this.#tables = tables;
    this.#held = held;
    this.#statements = {
      put: db.prepare(
        `INSERT INTO held (id, seq, stage, what, author, identifier, created_at, held_at, until, expires_at, how, relay, repositories, text)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      ),
      putRepository: db.prepare("INSERT OR IGNORE INTO held_repository (repository, id) VALUES (?, ?)"),
      drop: db.prepare("DELETE FROM held WHERE id = ?"),
      dropRepository: db.prepare("DELETE FROM held_repository WHERE repository = ? AND id = ?"),
      restage: db.prepare("UPDATE held SET seq = ?, stage = ?, until = ? WHERE id = ?"),
      passed: db.prepare(`UPDATE gone SET change = ${GONE_PASSED} WHERE seq = ?`),
      served: db.prepare<[number], ServedRow>(
        `SELECT b.text, b.expires_at, e.how, r.url AS relay FROM event e CROSS JOIN body b ON b.seq = e.seq
         LEFT JOIN relay r ON r.number = e.relay WHERE e.seq = ?`,
      ),
      overlay: db.prepare("INSERT OR REPLACE INTO overlay (repository, ref, state, value) VALUES (?, ?, ?, ?)"),
      dropOverlays: db.prepare("DELETE FROM overlay WHERE state = ?"),
      dropOverlaysAt: db.prepare("DELETE FROM overlay WHERE state = ? AND repository = ?"),
      intend: db.prepare("INSERT OR REPLACE INTO intent (repository, plan) VALUES (?, ?)"),
      intentDone: db.prepare("DELETE FROM intent WHERE repository = ?"),
      stageTip: db.prepare("INSERT OR REPLACE INTO tip (repository, id, tip, until, uploader) VALUES (?, ?, ?, ?, ?)"),
      unstageTip: db.prepare("DELETE FROM tip WHERE repository = ? AND id = ? AND tip = ?"),
      alive: db.prepare("INSERT OR REPLACE INTO setting (name, value) VALUES ('alive-at', ?)"),
      shiftHeld: db.prepare("UPDATE held SET held_at = held_at + ?, until = until + ? WHERE seq IS NOT NULL"),
      shiftTips: db.prepare("UPDATE tip SET until = until + ?"),
    };
  }

  apply(change: HoldingChange, made: FeedChange[]): void {
    switch (change.kind) {
      case "hold":
        return this.#hold(change, made);
      case "promote":
        return this.#promote(change.id, made);
      case "restage": {
        const row = this.#held.row(change.id);
        if (row !== undefined && STAGES[row.stage] === change.from) this.#restage(change.id, row, change, made);
        return;
      }
      case "release": {
        const removed = this.#held.waits(change.id) === change.from ? this.release(change.id) : undefined;
        if (removed !== undefined) made.push(removed);
        return;
      }
      case "withdraw":
        return this.#withdraw(change, made);
      case "overlay":
        return void this.#statements.overlay.run(change.repository, change.ref, bytes(change.state), change.value ?? null);
      case "overlay-drop": {
        const { state, repository } = change;
        if (repository === undefined) this.#statements.dropOverlays.run(bytes(state));
        else this.#statements.dropOverlaysAt.run(bytes(state), repository);
        return;
      }
      case "intend":
        return void this.#statements.intend.run(change.repository, change.plan);
      case "intent-done":
        return void this.#statements.intentDone.run(change.repository);
      case "stage-tip":
        return void this.#statements.stageTip.run(change.repository, bytes(change.id), change.tip, change.until, change.uploader);
      case "unstage-tip":
        return void this.#statements.unstageTip.run(change.repository, bytes(change.id), change.tip);
      case "alive":
        return this.#alive(change);
      default:
        unreachable(change);
    }
  }

  /** Drops what is held under this id; nothing when nothing is. */
  release(id: EventId): FeedChange | undefined {
    const row = this.#held.row(id);
    if (row === undefined) return undefined;
    this.#forget(id, row);
    return row.seq === null ? undefined : { seq: seq(this.#tables.number(GONE_REMOVED, id)), change: "removed", id };
  }

  #hold(change: Of<"hold">, made: FeedChange[]): void {
    const { event } = change;
    const before = this.#held.row(event.id);
    if (STAGES[before?.stage ?? -1] === "waiting" || this.#tables.find(event.id) !== undefined) return;
    if (before !== undefined) this.#drop(event.id, heldEventOf(before).repositories);
    const number = before?.seq ?? this.#number(change, made);
    this.#put({ ...change, stage: "waiting" }, number);
  }

  #promote(id: EventId, made: FeedChange[]): void {
    const row = this.#held.row(id);
    if (row === undefined) return;
    this.#forget(id, row);
    const { event, text, expiresAt, provenance } = heldEventOf(row);
    const served = this.#tables.put({ kind: "put", event, text, expiresAt, provenance });
    if (served !== undefined) made.push(served);
  }

  #restage(id: EventId, row: HeldRow, { stage, until }: Pick<HeldEvent, "stage" | "until">, made: FeedChange[]): void {
    let number: number | null = row.seq;
    if (isLive(stage)) {
      number ??= this.#number(heldEventOf(row), made);
    } else {
      this.#statements.dropOverlays.run(bytes(id));
      if (number !== null) {
        this.#statements.passed.run(number);
        made.push({ seq: seq(this.#tables.number(GONE_REMOVED, id)), change: "removed", id });
      }
      number = null;
    }
    this.#statements.restage.run(number, STAGES.indexOf(stage), until ?? null, bytes(id));
  }

  #withdraw(change: Of<"withdraw">, made: FeedChange[]): void {
    const { id, what, stage, until } = change;
    const number = this.#tables.find(id);
    const served = number === undefined ? undefined : this.#statements.served.get(number);
    if (served !== undefined) {
      const removed = this.#tables.remove(id);
      if (removed !== undefined) made.push(removed);
      const kept = heldEventOf({
        ...served,
        seq: null,
        stage: STAGES.indexOf(stage),
        what: WHATS.indexOf(what),
        held_at: change.at,
        until: until ?? null,
        repositories: "[]",
      });
      this.#put(kept, isLive(stage) ? this.#number(kept, made) : null);
    }
    const row = this.#held.row(id);
    if (row === undefined) return;
    if (served === undefined) this.#restage(id, row, change, made);
    if (stage === "superseded") this.#trimSuperseded(heldEventOf(row), change.supersededMax);
  }

  /** grasp.md 11.3: the newest so many stay. */
  #trimSuperseded({ event }: HeldEvent, max: number): void {
    const superseded = this.#held.heldFor(event.pubkey, addressOf(event)?.d ?? "").filter((held) => held.stage === "superseded");
    for (const { event: old, repositories } of superseded.slice(max)) this.#drop(old.id, repositories);
  }

  #alive({ at, shiftMs }: Of<"alive">): void {
    this.#statements.alive.run(at);
    if (shiftMs === 0) return;
    this.#statements.shiftHeld.run(shiftMs, shiftMs);
    this.#statements.shiftTips.run(shiftMs);
  }

  #put(held: HeldEvent, number: number | null): void {
    const { event, provenance } = held;
    const id = bytes(event.id);
    this.#statements.put.run(
      id,
      number,
      STAGES.indexOf(held.stage),
      WHATS.indexOf(held.what),
      bytes(event.pubkey),
      addressOf(event)?.d ?? "",
      event.created_at,
      held.heldAt,
      held.until ?? null,
      held.expiresAt ?? null,
      howNumber(provenance),
      provenance.how === "direct" ? null : provenance.relay,
      JSON.stringify(held.repositories),
      held.text,
    );
    for (const repository of held.repositories) this.#statements.putRepository.run(repository, id);
  }

  /** Numbers the beginning of a wait. */
  #number({ event, text }: Pick<HeldEvent, "event" | "text">, made: FeedChange[]): number {
    const number = this.#tables.number(GONE_HELD, event.id);
    made.push({ seq: seq(number), change: "held", id: event.id, createdAt: event.created_at, text });
    return number;
  }

  /** All that belongs to a held event, and the number that held it no longer does. */
  #forget(id: EventId, row: HeldRow): void {
    this.#drop(id, heldEventOf(row).repositories);
    this.#statements.dropOverlays.run(bytes(id));
    if (row.seq !== null) this.#statements.passed.run(row.seq);
  }

  #drop(id: EventId, repositories: readonly string[]): void {
    this.#statements.drop.run(bytes(id));
    for (const repository of repositories) this.#statements.dropRepository.run(repository, bytes(id));
  }
}

interface ServedRow {
  text: string;
  expires_at: number | null;
  how: number;
  relay: string | null;
}

const bytes = (hex: string): Buffer => Buffer.from(hex, "hex");
