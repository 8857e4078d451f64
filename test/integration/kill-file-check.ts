import { closeSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { systemClock } from "../../src/base/io/system-clock.ts";
import { toUnixSeconds } from "../../src/base/time.ts";
import type { NostrEvent, PublicKey } from "../../src/nostr/event.ts";
import type { Filter } from "../../src/nostr/filter.ts";
import { seq } from "../../src/store/event-store.ts";
import { readSeed, storeFile } from "../../src/store/io/sqlite-file.ts";
import { openReader } from "../../src/store/io/sqlite-store.ts";
import { postingKeys } from "../../src/store/keys.ts";
import type { Lane } from "../kit/write-load.ts";

/** What each number of the feed was about, over all rounds: it must never change. */
export type FeedMemory = string[];

/** Reads the whole feed of a stopped server: numbers grow by one from 1, and say what they said before. Gives their count. */
export async function checkFeed(directory: string, memory: FeedMemory, problems: string[]): Promise<number> {
  const store = openReader(directory);
  let last = 0;
  try {
    for await (const slice of store.feed.read(seq(0))) {
      for (const change of slice) {
        const what = `${change.change === "removed" ? "-" : "+"}${change.change === "served" ? change.event.id : change.id}`;
        if (change.seq !== last + 1) problems.push(`the feed goes from ${last} to ${change.seq}`);
        if ((memory[change.seq] ??= what) !== what)
          problems.push(`number ${change.seq} of the feed was ${memory[change.seq]} and is ${what}`);
        last = change.seq;
      }
    }
  } finally {
    store.close();
  }
  if (last < memory.length - 1) problems.push(`the feed ended at ${last} and had reached ${memory.length - 1}`);
  return last;
}

export function checkIntegrity(directory: string, problems: string[]): void {
  const db = new Database(storeFile(directory), { readonly: true });
  try {
    const answer = db.pragma("integrity_check", { simple: true });
    if (answer !== "ok") problems.push(`integrity_check says ${String(answer)}`);
  } finally {
    db.close();
  }
}

/** Every list of every index holds exactly the served events that belong in it, and nothing is left of those that went. */
export async function checkIndexes(directory: string, lanes: readonly Pick<Lane, "model">[], problems: string[]): Promise<number> {
  const served = lanes.flatMap((lane) => [...lane.model.served.values()]);
  const store = openReader(directory);
  try {
    const compare = async (conditions: Omit<Filter, "tags">, wanted: readonly { readonly id: string }[]): Promise<void> => {
      const found = new Set<string>();
      const view = { now: toUnixSeconds(systemClock.now()) };
      for await (const slice of store.reader.query({ ...conditions, tags: new Map() }, view))
        for (const event of slice) found.add(event.id);
      const missing = wanted.filter((event) => !found.has(event.id)).length;
      if (missing > 0 || found.size !== wanted.length) {
        problems.push(`${JSON.stringify(conditions)} finds ${found.size} where ${wanted.length} belong; ${missing} are missing`);
      }
    };
    await compare({}, served);
    for (const [kind, events] of Map.groupBy(served, (event) => event.kind)) await compare({ kinds: [kind] }, events);
    for (const [author, events] of Map.groupBy(served, (event) => event.pubkey as PublicKey)) {
      await compare({ authors: [author] }, events);
      for (const [kind, own] of Map.groupBy(events, (event) => event.kind)) await compare({ authors: [author], kinds: [kind] }, own);
    }
  } finally {
    store.close();
  }
  countRows(directory, served as unknown as readonly NostrEvent[], problems);
  return served.length;
}

function countRows(directory: string, served: readonly NostrEvent[], problems: string[]): void {
  const db = new Database(storeFile(directory), { readonly: true });
  try {
    const seed = readSeed(db);
    const postings = served.reduce((sum, event) => sum + postingKeys(seed, event).length, 0);
    for (const [table, wanted] of [
      ["event", served.length],
      ["body", served.length],
      ["posting", postings],
    ] as const) {
      const rows = db.prepare<[], number>(`SELECT count(*) FROM ${table}`).pluck().get();
      if (rows !== wanted) problems.push(`table ${table} has ${rows} rows where ${wanted} belong`);
    }
  } finally {
    db.close();
  }
}

/** Where SQLite's shared memory says how far a checkpoint has come (its format is documented and fixed). */
const BACKFILLED_AT = 96;
const ATTEMPTED_AT = 128;

export interface Backfill {
  readonly done: number;
  readonly attempted: number;
}

/** Pages of the log that were copied back, and that a checkpoint had set out to copy; they differ while it runs. Asked many times a millisecond. */
export function readBackfill(directory: string): Backfill {
  const bytes = Buffer.alloc(ATTEMPTED_AT + 4);
  const fd = openSync(join(directory, "holdfast.sqlite-shm"), "r");
  try {
    readSync(fd, bytes, 0, bytes.length, 0);
  } finally {
    closeSync(fd);
  }
  return { done: bytes.readUInt32LE(BACKFILLED_AT), attempted: bytes.readUInt32LE(ATTEMPTED_AT) };
}
