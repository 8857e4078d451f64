import { join } from "node:path";
import Database from "better-sqlite3";
import type { KeySeed } from "../keys.ts";
import { makeDurableDirectory, syncPath } from "./durable-directory.ts";
import { SCHEMA_STEPS } from "./schema.ts";

export type Connection = Database.Database;

export class StoreProblem extends Error {
  override name = "StoreProblem";
}

export const storeFile = (directory: string): string => join(directory, "holdfast.sqlite");

/** Reads go through the page cache of the system; SQLite's own cache holds the inner pages of the indexes. */
const MMAP_BYTES = 2 ** 31 - 65_536;
const CACHE_KIB = 65_536;
/** Pages in the log before they are copied back into the store: many writes to one page are then copied once (measured: p99 of single writes 3.8 → 0.9 ms). */
export const CHECKPOINT_PAGES = 10_000;

function tune(db: Connection): void {
  db.pragma(`mmap_size = ${MMAP_BYTES}`);
  db.pragma(`cache_size = -${CACHE_KIB}`);
  db.pragma("temp_store = MEMORY");
  db.pragma("foreign_keys = OFF");
}

/** Opens the store for its one writer, makes it if it is not there, and brings it to the newest schema. */
export function openForWriting(directory: string, random: () => number): Connection {
  makeDurableDirectory(directory);
  const db = new Database(storeFile(directory));
  try {
    db.pragma("journal_mode = WAL");
    // OK true means durable (grasp.md 3.2): every commit waits until the log is on disk.
    db.pragma("synchronous = FULL");
    // Copying back is the work of store/io/checkpointer.ts, beside the writer; should that ever fall behind, the writer does it itself.
    db.pragma(`wal_autocheckpoint = ${CHECKPOINT_PAGES * 16}`);
    tune(db);
    migrate(db, random);
  } catch (error) {
    db.close();
    throw error;
  }
  // What a killed server wrote and did not come to sync is read again from the log; it must be durable before anybody is told that it is known.
  // A new file is durable only when the folder that names it is, too.
  for (const path of [`${storeFile(directory)}-wal`, directory]) syncPath(path);
  return db;
}

/** For copying the log back and nothing else. */
export function openForCheckpoints(directory: string): Connection {
  const db = new Database(storeFile(directory));
  db.pragma("synchronous = FULL");
  db.pragma("wal_autocheckpoint = 0");
  return db;
}

export function openForReading(directory: string): Connection {
  const db = new Database(storeFile(directory), { readonly: true });
  tune(db);
  return db;
}

function migrate(db: Connection, random: () => number): void {
  const version = db.pragma("user_version", { simple: true }) as number;
  if (version > SCHEMA_STEPS.length) {
    throw new StoreProblem(
      `${db.name} was written by a newer release (schema ${version}; this one knows ${SCHEMA_STEPS.length}). Start that release, or restore a backup from before the upgrade.`,
    );
  }
  if (version === SCHEMA_STEPS.length) return;
  db.exec("BEGIN IMMEDIATE");
  try {
    for (const step of SCHEMA_STEPS.slice(version)) db.exec(step);
    if (version === 0) {
      const put = db.prepare("INSERT INTO setting (name, value) VALUES (?, ?)");
      put.run("seed-a", random());
      put.run("seed-b", random());
    }
    db.pragma(`user_version = ${SCHEMA_STEPS.length}`);
    db.exec("COMMIT");
  } catch (error) {
    db.exec("ROLLBACK");
    throw error;
  }
}

export function readSeed(db: Connection): KeySeed {
  const get = db.prepare("SELECT value FROM setting WHERE name = ?").pluck();
  return { a: get.get("seed-a") as number, b: get.get("seed-b") as number };
}

/** The newest number of the feed. */
export const HEAD_SQL = "SELECT max(coalesce((SELECT max(seq) FROM event), 0), coalesce((SELECT max(seq) FROM gone), 0))";
