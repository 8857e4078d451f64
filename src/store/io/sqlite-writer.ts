import { unixSeconds, type UnixSeconds } from "../../base/time.ts";
import type { EventId, NostrEvent, PublicKey } from "../../nostr/event.ts";
import { type Address, addressOf, type Version } from "../../nostr/replaceable.ts";
import type { Batch } from "../batch.ts";
import type { Awaitable, FeedChange, Gate, Transaction, Writer } from "../event-store.ts";
import { addressKey, authorKey, authorKindKey, type KeySeed, tagKey } from "../keys.ts";
import { SqliteGates } from "./sqlite-gates.ts";
import { type Connection, readSeed } from "./sqlite-file.ts";
import { SqliteTables, versionOf } from "./sqlite-tables.ts";

/** The one writer of a store directory. Everything of one `transact` is one commit, synced to disk before the promise resolves. */
export class SqliteWriter implements Writer {
  readonly #db: Connection;
  readonly #tables: SqliteTables;
  readonly #gates: SqliteGates;
  readonly #transaction: SqliteTransaction;
  readonly #statements;
  #queue: Promise<unknown> = Promise.resolve();

  constructor(db: Connection) {
    this.#db = db;
    const seed = readSeed(db);
    this.#tables = new SqliteTables(db, seed);
    this.#gates = new SqliteGates(db, (id) => this.#tables.find(id) !== undefined);
    this.#transaction = new SqliteTransaction(db, seed, this.#tables, this.#gates);
    this.#statements = {
      begin: db.prepare("BEGIN IMMEDIATE"),
      commit: db.prepare("COMMIT"),
      rollback: db.prepare("ROLLBACK"),
      expired: db
        .prepare<[number, number], Buffer>(
          "SELECT e.id FROM body b CROSS JOIN event e ON e.seq = b.seq WHERE b.expires_at <= ? ORDER BY b.expires_at LIMIT ?",
        )
        .pluck(),
      nextExpiry: db.prepare<[], number | null>("SELECT min(expires_at) FROM body WHERE expires_at IS NOT NULL").pluck(),
      ofKey: db
        .prepare<[number, number, Buffer, number], Buffer>(
          "SELECT e.id FROM posting p CROSS JOIN event e ON e.seq = p.seq WHERE p.key = ? AND p.created_at <= ? AND e.pubkey = ? LIMIT ?",
        )
        .pluck(),
    };
    this.#seed = seed;
  }

  readonly #seed: KeySeed;

  transact<T>(work: (tx: Transaction) => Awaitable<T>): Promise<T> {
    const turn = this.#queue.then(() => this.#alone(work));
    this.#queue = turn.catch(() => undefined);
    return turn;
  }

  async #alone<T>(work: (tx: Transaction) => Awaitable<T>): Promise<T> {
    const head = this.#tables.head;
    this.#statements.begin.run();
    try {
      const result = await work(this.#transaction);
      this.#statements.commit.run();
      return result;
    } catch (error) {
      if (this.#db.inTransaction) this.#statements.rollback.run();
      this.#tables.forgetLearnt(head);
      this.#gates.reload();
      throw error;
    }
  }

  async expired(now: UnixSeconds, max: number): Promise<readonly EventId[]> {
    return this.#statements.expired.all(now, max).map((id) => id.toString("hex") as EventId);
  }

  async nextExpiry(): Promise<UnixSeconds | undefined> {
    const at = this.#statements.nextExpiry.get();
    return at === null || at === undefined ? undefined : unixSeconds(at);
  }

  async ofKey(author: PublicKey, until: UnixSeconds, max: number): Promise<readonly EventId[]> {
    const rows = this.#statements.ofKey.all(authorKey(this.#seed, author), until, Buffer.from(author, "hex"), max);
    return rows.map((id) => id.toString("hex") as EventId);
  }

  async gates(after: EventId | undefined, max: number): Promise<readonly Gate[]> {
    return this.#gates.page(after, max);
  }
}

class SqliteTransaction implements Transaction {
  readonly #seed: KeySeed;
  readonly #tables: SqliteTables;
  readonly #gates: SqliteGates;
  readonly #statements;

  constructor(db: Connection, seed: KeySeed, tables: SqliteTables, gates: SqliteGates) {
    this.#seed = seed;
    this.#tables = tables;
    this.#gates = gates;
    this.#statements = {
      first: db.prepare<[number], number>("SELECT seq FROM posting WHERE key = ? LIMIT 1").pluck(),
      list: db.prepare<[number, number], { seq: number; kind: number }>(
        "SELECT seq, kind FROM posting WHERE key = ? ORDER BY created_at DESC, id_rank DESC LIMIT ?",
      ),
      listOfKind: db
        .prepare<[number, number, number], number>(
          "SELECT seq FROM posting WHERE key = ? AND kind = ? ORDER BY created_at DESC, id_rank DESC LIMIT ?",
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
    // Two addresses may share a key, so each candidate is looked at; more than a handful would need a made collision.
    for (const { seq } of this.#statements.list.all(addressKey(this.#seed, address), 16)) {
      const event = this.#tables.load(seq);
      const held = addressOf(event);
      if (held?.kind === address.kind && held.pubkey === address.pubkey && held.d === address.d) {
        return { id: event.id, created_at: event.created_at };
      }
    }
    return undefined;
  }

  gateFor(event: NostrEvent): (Gate & { readonly by: "deletion" | "vanish" }) | undefined {
    return this.#gates.find(event);
  }

  ownServed(author: PublicKey, ids: readonly EventId[]): (Version & { readonly kind: number })[] {
    const own: (Version & { kind: number })[] = [];
    for (const id of ids) {
      const number = this.#tables.find(id);
      const row = number === undefined ? undefined : this.#statements.version.get(number);
      if (row !== undefined && row.pubkey.toString("hex") === author) own.push({ ...versionOf(row), kind: row.kind });
    }
    return own;
  }

  servesAny(ids: readonly EventId[], addresses: readonly Address[]): boolean {
    return ids.some((id) => this.serves(id)) || addresses.some((address) => this.incumbent(address) !== undefined);
  }

  isNamed(event: NostrEvent): boolean {
    const names = ["e", "E", "q"].map((letter) => tagKey(this.#seed, letter, event.id));
    const address = addressOf(event);
    if (address !== undefined) {
      const text = `${address.kind}:${address.pubkey}:${address.d}`;
      names.push(...["a", "A", "q"].map((letter) => tagKey(this.#seed, letter, text)));
    }
    return names.some((key) => this.#statements.first.get(key) !== undefined);
  }

  hasServed(author: PublicKey, kinds?: readonly number[]): boolean {
    if (kinds === undefined) return this.#statements.first.get(authorKey(this.#seed, author)) !== undefined;
    return kinds.some((kind) => this.#statements.first.get(authorKindKey(this.#seed, author, kind)) !== undefined);
  }

  servedByIdentifier(kind: number, d: string, max: number): NostrEvent[] {
    const numbers = this.#statements.listOfKind.all(tagKey(this.#seed, "d", d), kind, max);
    return numbers.map((number) => this.#tables.load(number)).filter((event) => addressOf(event)?.d === d);
  }

  unusedGates(author: PublicKey): number {
    return this.#gates.unused(author);
  }

  apply(batch: Batch): FeedChange[] {
    const changes: FeedChange[] = [];
    for (const change of batch) {
      let made: FeedChange | undefined;
      if (change.kind === "put") made = this.#tables.put(change);
      else if (change.kind === "remove") made = this.#tables.remove(change.id);
      else if (change.kind === "gate") this.#gates.put(change);
      else if (change.kind === "gate-used") this.#gates.markUsed(change.request, change.at);
      else this.#gates.forget(change.request);
      if (made !== undefined) changes.push(made);
    }
    return changes;
  }
}
