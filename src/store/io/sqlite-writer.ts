import { type UnixSeconds, unixSeconds } from "../../base/time.ts";
import type { EventId } from "../../nostr/event.ts";
import type { Awaitable, Gate, Transaction, Writer } from "../event-store.ts";
import { type Connection, readSeed } from "./sqlite-file.ts";
import { SqliteGates } from "./sqlite-gates.ts";
import { SqliteHeld } from "./sqlite-held.ts";
import { SqliteHolding } from "./sqlite-holding.ts";
import { SqliteTables } from "./sqlite-tables.ts";
import { SqliteTransaction } from "./sqlite-transaction.ts";

/** The one writer of a store directory. Everything of one `transact` is one commit, synced to disk before the promise resolves. */
export class SqliteWriter implements Writer {
  readonly #db: Connection;
  readonly #tables: SqliteTables;
  readonly #gates: SqliteGates;
  readonly #transaction: SqliteTransaction;
  readonly #statements;
  readonly #committed: () => void;
  #queue: Promise<unknown> = Promise.resolve();

  /** `committed` is called after every commit, in the writer's turn. */
  constructor(db: Connection, committed: () => void = () => undefined) {
    this.#db = db;
    this.#committed = committed;
    const seed = readSeed(db);
    this.#tables = new SqliteTables(db, seed);
    this.#gates = new SqliteGates(db, (id) => this.#tables.find(id) !== undefined);
    const held = new SqliteHeld(db);
    const holding = new SqliteHolding(db, this.#tables, held);
    this.#transaction = new SqliteTransaction(db, seed, this.#tables, this.#gates, held, holding);
    this.#statements = {
      begin: db.prepare("BEGIN IMMEDIATE"),
      commit: db.prepare("COMMIT"),
      rollback: db.prepare("ROLLBACK"),
      expired: db
        .prepare<[number, number, number], Buffer>(
          `SELECT id FROM (
             SELECT e.id, b.expires_at FROM body b CROSS JOIN event e ON e.seq = b.seq WHERE b.expires_at <= ?
             UNION ALL SELECT id, expires_at FROM held WHERE expires_at <= ?
           ) ORDER BY expires_at LIMIT ? + 0`,
        )
        .pluck(),
      nextExpiry: db
        .prepare<[], number | null>(
          `SELECT min(at) FROM (SELECT min(expires_at) AS at FROM body WHERE expires_at IS NOT NULL
           UNION ALL SELECT min(expires_at) FROM held WHERE expires_at IS NOT NULL)`,
        )
        .pluck(),
    };
  }

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
      this.#committed();
      return result;
    } catch (error) {
      if (this.#db.inTransaction) this.#statements.rollback.run();
      this.#tables.forgetLearnt(head);
      this.#gates.reload();
      throw error;
    }
  }

  async expired(now: UnixSeconds, max: number): Promise<readonly EventId[]> {
    return this.#statements.expired.all(now, now, max).map(hex);
  }

  async nextExpiry(): Promise<UnixSeconds | undefined> {
    const at = this.#statements.nextExpiry.get();
    return at === null || at === undefined ? undefined : unixSeconds(at);
  }

  async gates(after: EventId | undefined, max: number): Promise<readonly Gate[]> {
    return this.#gates.page(after, max);
  }
}

const hex = (id: Buffer): EventId => id.toString("hex") as EventId;
