import { Checkpointer } from "./checkpointer.ts";
import { SqliteFeed } from "./sqlite-feed.ts";
import { openForReading, openForWriting } from "./sqlite-file.ts";
import { SqliteHeld } from "./sqlite-held.ts";
import { SqliteReader } from "./sqlite-reader.ts";
import { SqliteWriter } from "./sqlite-writer.ts";

/** The reading half of a disk store: as many as there are threads that read. `held` is for our own decisions and shown to nobody. */
export function openReader(directory: string): { reader: SqliteReader; feed: SqliteFeed; held: SqliteHeld; close(): void } {
  const db = openForReading(directory);
  return { reader: new SqliteReader(db), feed: new SqliteFeed(db), held: new SqliteHeld(db), close: () => db.close() };
}

/** The writing half: one at a time, in a thread of its own, for a commit blocks until the disk has it. `random` gives whole numbers of 32 bits. */
export function openWriter(directory: string, random: () => number): { writer: SqliteWriter; close(): Promise<void> } {
  const db = openForWriting(directory, random);
  const checkpointer = new Checkpointer(db, directory);
  const close = async () => {
    await checkpointer[Symbol.asyncDispose]();
    db.close();
  };
  return { writer: new SqliteWriter(db, () => checkpointer.committed()), close };
}
