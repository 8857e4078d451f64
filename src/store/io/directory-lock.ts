import { join } from "node:path";
import Database from "better-sqlite3";
import { makeDurableDirectory } from "./durable-directory.ts";
import { StoreProblem } from "./sqlite-file.ts";

/**
 * One server a data directory. The lock is the operating system's, held through an SQLite file that is never written: it ends with the process, however
 * that ends, so there is nothing to clean up after a crash.
 */
export class DirectoryLock implements Disposable {
  readonly #db: Database.Database;

  private constructor(db: Database.Database) {
    this.#db = db;
  }

  static take(directory: string): DirectoryLock {
    makeDurableDirectory(directory);
    const db = new Database(join(directory, "lock"), { timeout: 0 });
    try {
      db.pragma("locking_mode = EXCLUSIVE");
      db.exec("BEGIN EXCLUSIVE");
      return new DirectoryLock(db);
    } catch (error) {
      db.close();
      const taken = error instanceof Database.SqliteError && error.code.startsWith("SQLITE_BUSY");
      if (!taken) throw error;
      throw new StoreProblem(
        `${directory} is in use by another running server. Stop that one first, or give this one a data path of its own.`,
      );
    }
  }

  [Symbol.dispose](): void {
    this.#db.close();
  }
}
