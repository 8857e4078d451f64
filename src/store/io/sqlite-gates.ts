import { type Instant, instant, unixSeconds } from "../../base/time.ts";
import { formatCoordinate } from "../../nostr/coordinate.ts";
import { isDeletable } from "../../nostr/deletion.ts";
import type { EventId, NostrEvent, PublicKey } from "../../nostr/event.ts";
import { type Address, addressOf } from "../../nostr/replaceable.ts";
import type { Change, GateTarget } from "../batch.ts";
import type { Gate } from "../event-store.ts";
import type { Connection } from "./sqlite-file.ts";

interface GateRow {
  request: Buffer;
  author: Buffer;
  vanish_until: number | null;
  seen_at: number;
  last_used_at: number | null;
}

/** Remembered deletion and vanish requests (grasp.md 11.2). */
export class SqliteGates {
  readonly #statements;
  readonly #isServed: (id: EventId) => boolean;
  /** Who has a gate at all: an event by anybody else, which is nearly every event, costs one look into this set. */
  readonly #authors = new Set<string>();

  constructor(db: Connection, isServed: (id: EventId) => boolean) {
    this.#isServed = isServed;
    this.#statements = {
      find: db.prepare<[Buffer, string, string, string, number], GateRow>(
        `SELECT g.* FROM gate_target t JOIN gate g ON g.request = t.request
         WHERE t.author = ? AND t.target IN (?, ?, ?) AND (t.until IS NULL OR t.until >= ?)
         ORDER BY g.last_used_at IS NULL, g.seen_at, g.request LIMIT 1`,
      ),
      get: db.prepare<[Buffer], GateRow>("SELECT * FROM gate WHERE request = ?"),
      put: db.prepare("INSERT OR IGNORE INTO gate (request, author, vanish_until, seen_at, last_used_at) VALUES (?, ?, ?, ?, ?)"),
      putTarget: db.prepare("INSERT OR IGNORE INTO gate_target (author, target, request, until) VALUES (?, ?, ?, ?)"),
      used: db.prepare("UPDATE gate SET last_used_at = ? WHERE request = ?"),
      drop: db.prepare("DELETE FROM gate WHERE request = ?"),
      dropTargets: db.prepare("DELETE FROM gate_target WHERE request = ?"),
      unused: db.prepare<[Buffer], number>("SELECT count(*) FROM gate WHERE author = ? AND last_used_at IS NULL").pluck(),
      page: db.prepare<[Buffer, number], GateRow>("SELECT * FROM gate WHERE request > ? ORDER BY request LIMIT ? + 0"),
      authors: db.prepare<[], Buffer>("SELECT DISTINCT author FROM gate").pluck(),
    };
    this.reload();
  }

  /** Reads the set of authors again: at the start, and after a transaction that failed. */
  reload(): void {
    this.#authors.clear();
    for (const author of this.#statements.authors.iterate()) this.#authors.add(author.toString("hex"));
  }

  find(event: NostrEvent): Gate | undefined {
    if (!this.#authors.has(event.pubkey)) return undefined;
    if (!isDeletable(event.kind)) return this.#first(event, "", "");
    const address = addressOf(event);
    const byAddress = address === undefined ? "" : addressTarget(address);
    return this.#first(event, `e${event.id}`, byAddress);
  }

  /** The remembered request of this id. */
  get(request: EventId): Gate | undefined {
    const row = this.#statements.get.get(bytes(request));
    return row === undefined ? undefined : this.#gateOf(row);
  }

  #first(event: NostrEvent, byId: string, byAddress: string): Gate | undefined {
    const row = this.#statements.find.get(bytes(event.pubkey), byId, byAddress, KEY_TARGET, event.created_at);
    return row === undefined ? undefined : this.#gateOf(row);
  }

  put(change: Change & { kind: "gate" }): void {
    const request = bytes(change.request);
    const author = bytes(change.author);
    const vanish = change.targets.find((target) => target.kind === "key");
    const { changes } = this.#statements.put.run(request, author, vanish?.until ?? null, change.seenAt, change.used ? change.seenAt : null);
    if (changes === 0) return;
    for (const target of change.targets) this.#statements.putTarget.run(author, targetText(target), request, untilOf(target));
    this.#authors.add(change.author);
  }

  markUsed(request: EventId, at: Instant): void {
    this.#statements.used.run(at, bytes(request));
  }

  forget(request: EventId): void {
    this.#statements.drop.run(bytes(request));
    this.#statements.dropTargets.run(bytes(request));
  }

  unused(author: PublicKey): number {
    return this.#statements.unused.get(bytes(author)) ?? 0;
  }

  page(after: EventId | undefined, max: number): Gate[] {
    return this.#statements.page.all(after === undefined ? Buffer.alloc(0) : bytes(after), max).map((row) => this.#gateOf(row));
  }

  #gateOf(row: GateRow): Gate {
    const request = row.request.toString("hex") as EventId;
    return {
      request,
      author: row.author.toString("hex") as PublicKey,
      seenAt: instant(row.seen_at),
      lastUsedAt: row.last_used_at === null ? undefined : instant(row.last_used_at),
      served: this.#isServed(request),
      vanishUntil: row.vanish_until === null ? undefined : unixSeconds(row.vanish_until),
    };
  }
}

const KEY_TARGET = "k";

const bytes = (hex: string): Buffer => Buffer.from(hex, "hex");

function targetText(target: GateTarget): string {
  if (target.kind === "event") return `e${target.id}`;
  if (target.kind === "address") return addressTarget(target.address);
  return KEY_TARGET;
}

const addressTarget = (address: Address): string => `a${formatCoordinate(address)}`;

const untilOf = (target: GateTarget): number | null => (target.kind === "event" ? null : target.until);
