import type { UnixSeconds } from "../../base/time.ts";
import { ANCHORLESS_KINDS, isAnchor } from "../../grasp/anchor.ts";
import { formatCoordinate } from "../../nostr/coordinate.ts";
import type { EventId, NostrEvent, PublicKey } from "../../nostr/event.ts";
import { GIFT_WRAP } from "../../nostr/kinds.ts";
import { type Address, addressOf, type Version, wins } from "../../nostr/replaceable.ts";
import type { Batch } from "../batch.ts";
import type { FeedChange, Gate, Transaction } from "../event-store.ts";
import { addressKey, authorKey, type KeySeed, kindKey, tagKey } from "../keys.ts";
import { type Term, tagTerm } from "../query-plan.ts";
import type { Connection } from "./sqlite-file.ts";
import type { SqliteGates } from "./sqlite-gates.ts";
import type { SqliteHeld } from "./sqlite-held.ts";
import type { SqliteHolding } from "./sqlite-holding.ts";
import { type SqliteTables, versionOf } from "./sqlite-tables.ts";

/** grasp.md 3.6: the tags in which one event names another. */
const BY_ID = ["e", "E", "q"];
const BY_ADDRESS = ["a", "A", "q"];

/** What the writer's open transaction can be asked and told. Keys are hashes and may be shared, so every answer is held against the event itself. */
const ANCHORLESS = ANCHORLESS_KINDS.join(", ");

export class SqliteTransaction implements Transaction {
  readonly held: SqliteHeld;
  readonly #holding: SqliteHolding;
  readonly #seed: KeySeed;
  readonly #tables: SqliteTables;
  readonly #gates: SqliteGates;
  readonly #statements;

  constructor(db: Connection, seed: KeySeed, tables: SqliteTables, gates: SqliteGates, held: SqliteHeld, holding: SqliteHolding) {
    this.held = held;
    this.#holding = holding;
    this.#seed = seed;
    this.#tables = tables;
    this.#gates = gates;
    this.#statements = {
      texts: db
        .prepare<[number], string>(
          "SELECT b.text FROM posting p CROSS JOIN body b ON b.seq = p.seq WHERE p.key = ? ORDER BY p.created_at DESC, p.id_rank DESC",
        )
        .pluck(),
      textsOfKind: db
        .prepare<[number, number], [createdAt: number, rank: number, text: string]>(
          `SELECT p.created_at, p.id_rank, b.text FROM posting p CROSS JOIN body b ON b.seq = p.seq
           WHERE p.key = ? AND p.kind = ? ORDER BY p.created_at DESC, p.id_rank DESC`,
        )
        .raw(true),
      underAny: db
        .prepare<number[], [key: number, text: string]>(
          `SELECT p.key, b.text FROM posting p CROSS JOIN body b ON b.seq = p.seq WHERE p.key IN (?, ?, ?, ?, ?, ?) AND p.kind NOT IN (${ANCHORLESS})`,
        )
        .raw(true),
      own: db
        .prepare<[number, Buffer], number>(
          `SELECT 1 FROM posting p CROSS JOIN event e ON e.seq = p.seq
           WHERE p.key = ? AND p.kind NOT IN (${ANCHORLESS}) AND e.pubkey = ? LIMIT 1`,
        )
        .pluck(),
      ownUpTo: db
        .prepare<[number, number, Buffer, number], Buffer>(
          "SELECT e.id FROM posting p CROSS JOIN event e ON e.seq = p.seq WHERE p.key = ? AND p.created_at <= ? AND e.pubkey = ? LIMIT ? + 0",
        )
        .pluck(),
      textsOfKindUpTo: db
        .prepare<[number, number, number], string>(
          "SELECT b.text FROM posting p CROSS JOIN body b ON b.seq = p.seq WHERE p.key = ? AND p.created_at <= ? AND p.kind = ?",
        )
        .pluck(),
      version: db.prepare<[number], { id: Buffer; pubkey: Buffer; created_at: number; kind: number }>(
        "SELECT id, pubkey, created_at, kind FROM event WHERE seq = ?",
      ),
    };
  }

  serves(id: EventId): boolean {
    return this.#tables.find(id) !== undefined;
  }

  incumbent(address: Address): Version | undefined {
    const key = addressKey(this.#seed, address);
    // Nearly always there is none or the right one, and a single row is read in half the time that a walk takes.
    const first = this.#statements.texts.get(key);
    if (first === undefined) return undefined;
    const held = versionAt(address, first);
    if (held !== undefined) return held;
    for (const text of this.#statements.texts.iterate(key)) {
      const shared = versionAt(address, text);
      if (shared !== undefined) return shared;
    }
    return undefined;
  }

  gateFor(event: NostrEvent): Gate | undefined {
    return this.#gates.find(event);
  }

  gate(request: EventId): Gate | undefined {
    return this.#gates.get(request);
  }

  toVanish({ request, author, vanishUntil }: Pick<Gate, "request" | "author" | "vanishUntil">, max: number): EventId[] {
    if (vanishUntil === undefined) return [];
    // One more than asked for, in case the request is among them.
    const own = this.#statements.ownUpTo.all(authorKey(this.#seed, author), vanishUntil, Buffer.from(author, "hex"), max + 1);
    const found = new Set(own.map((id) => id.toString("hex") as EventId));
    if (found.size <= max) this.#addWrapsTo(author, vanishUntil, max, found);
    if (found.size <= max) for (const id of this.held.ownUpTo(author, vanishUntil, max + 1 - found.size)) found.add(id);
    found.delete(request);
    return [...found].slice(0, max);
  }

  /** Fills `found` up to one more than `max`. */
  #addWrapsTo(author: PublicKey, until: UnixSeconds, max: number, found: Set<EventId>): void {
    const { key, needle = "" } = tagTerm(this.#seed, "p", author);
    for (const text of this.#statements.textsOfKindUpTo.iterate(key, until, GIFT_WRAP)) {
      if (found.size > max) return;
      if (text.includes(needle)) found.add((JSON.parse(text) as NostrEvent).id);
    }
  }

  ownServed(author: PublicKey, ids: readonly EventId[]): (Version & { readonly kind: number })[] {
    const own: (Version & { kind: number })[] = [];
    for (const id of new Set(ids)) {
      const number = this.#tables.find(id);
      const row = number === undefined ? undefined : this.#statements.version.get(number);
      if (row !== undefined && row.pubkey.toString("hex") === author) own.push({ ...versionOf(row), kind: row.kind });
    }
    return own;
  }

  servesAny(ids: readonly EventId[], addresses: readonly Address[]): boolean {
    const anchors = (id: EventId) => {
      const number = this.#tables.find(id);
      return number !== undefined && isAnchor(this.#statements.version.get(number)?.kind ?? -1);
    };
    return ids.some(anchors) || addresses.some((address) => isAnchor(address.kind) && this.incumbent(address) !== undefined);
  }

  isNamed(event: NostrEvent): boolean {
    const terms: Term[] = BY_ID.map((letter) => tagTerm(this.#seed, letter, event.id));
    const address = addressOf(event);
    if (address !== undefined) for (const letter of BY_ADDRESS) terms.push(tagTerm(this.#seed, letter, formatCoordinate(address)));
    const keys = terms.map((term) => term.key);
    // The statement has room for six.
    const wanted = keys.length === 6 ? keys : [...keys, ...keys];
    const names = ([key, text]: [number, string]) => terms.some((term) => term.key === key && text.includes(term.needle ?? ""));
    const first = this.#statements.underAny.get(...wanted);
    if (first === undefined) return false;
    if (names(first)) return true;
    for (const row of this.#statements.underAny.iterate(...wanted)) if (names(row)) return true;
    return false;
  }

  hasServed(author: PublicKey): boolean {
    return this.#statements.own.get(authorKey(this.#seed, author), Buffer.from(author, "hex")) !== undefined;
  }

  servedByIdentifier(kind: number, d: string, max: number): NostrEvent[] {
    // An event without a `d` tag has the identifier "" and stands in no list of `d`.
    const key = d === "" ? kindKey(kind) : tagKey(this.#seed, "d", d);
    const found: NostrEvent[] = [];
    let last: { createdAt: number; rank: number } | undefined;
    for (const [createdAt, rank, text] of this.#statements.textsOfKind.iterate(key, kind)) {
      // Lists know only how an id begins: those that tie with the last one are read too, and put in order by the whole id.
      const ties = last?.createdAt === createdAt && last.rank === rank;
      if (found.length >= max && !ties) break;
      const event = JSON.parse(text) as NostrEvent;
      if (addressOf(event)?.d !== d) continue;
      found.push(event);
      last = { createdAt, rank };
    }
    return found.sort((a, b) => (wins(a, b) ? -1 : 1)).slice(0, max);
  }

  unusedGates(author: PublicKey): number {
    return this.#gates.unused(author);
  }

  apply(batch: Batch): FeedChange[] {
    const changes: FeedChange[] = [];
    for (const change of batch) {
      let made: FeedChange | undefined;
      if (change.kind === "put") made = this.#tables.put(change);
      else if (change.kind === "remove") made = this.#tables.remove(change.id) ?? this.#holding.release(change.id);
      else if (change.kind === "gate") this.#gates.put(change);
      else if (change.kind === "gate-used") this.#gates.markUsed(change.request, change.at);
      else if (change.kind === "gate-forget") this.#gates.forget(change.request);
      else this.#holding.apply(change, changes);
      if (made !== undefined) changes.push(made);
    }
    return changes;
  }
}

/** The event of this text, if it holds the address. */
function versionAt(address: Address, text: string): Version | undefined {
  const event = JSON.parse(text) as NostrEvent;
  const held = addressOf(event);
  const holds = held?.kind === address.kind && held.pubkey === address.pubkey && held.d === address.d;
  return holds ? { id: event.id, created_at: event.created_at } : undefined;
}
