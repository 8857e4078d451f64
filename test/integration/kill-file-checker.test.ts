import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { VerifiedEvent } from "../../src/nostr/event.ts";
import { storeFile } from "../../src/store/io/sqlite-file.ts";
import { openWriter } from "../../src/store/io/sqlite-store.ts";
import { LaneModel } from "../kit/lane-model.ts";
import { makeLanes } from "../kit/write-load.ts";
import { checkFeed, checkIndexes, checkIntegrity } from "./kill-file-check.ts";

/** The kill test is worth what its checkers see: here they are given files that were tampered with. */

const EVENTS = 60;
let directory = "";
let model = new LaneModel();

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "holdfast-checker-"));
  model = new LaneModel();
  const [lane] = makeLanes("files", 1, 1_800_000_000);
  const store = openWriter(directory, () => 4_711);
  for (let at = 0; at < EVENTS; at++) {
    const event = lane?.next(false).event;
    if (event === undefined || event.kind !== 1 || model.apply(event) !== "stored") continue;
    const { json: text, ...plain } = event;
    const put = {
      kind: "put",
      event: plain as unknown as VerifiedEvent,
      text,
      expiresAt: undefined,
      provenance: { how: "direct" },
    } as const;
    await store.writer.transact((tx) => tx.apply([put]));
  }
  await store.close();
});

afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
});

function tamper(sql: string): void {
  const db = new Database(storeFile(directory));
  expect(db.prepare(sql).run().changes).toBeGreaterThan(0);
  db.close();
}

async function problems(memory: string[] = []): Promise<string[]> {
  const found: string[] = [];
  await checkFeed(directory, memory, found);
  checkIntegrity(directory, found);
  await checkIndexes(directory, [{ model }], found);
  return found;
}

describe("the checkers of the store's files", () => {
  it("are content with what was written", async () => {
    expect(model.served.size).toBeGreaterThan(5);
    expect(await problems()).toEqual([]);
  });

  it.each([
    ["a list that lacks an event", "DELETE FROM posting WHERE seq = 3 AND key = (SELECT min(key) FROM posting WHERE seq = 3)"],
    [
      "a row of a list that is left of nothing",
      "INSERT INTO posting (key, created_at, id_rank, seq, kind) VALUES (900000000, 1, 1, 999, 1)",
    ],
    ["an event without its text", "DELETE FROM body WHERE seq = 2"],
    ["a hole in the feed", "UPDATE event SET seq = 999 WHERE seq = 4"],
  ])("see %s", async (_, sql) => {
    tamper(sql);
    expect(await problems()).not.toEqual([]);
  });

  it("see a number that says something else than before, and a feed that became shorter", async () => {
    const memory: string[] = [];
    expect(await problems(memory)).toEqual([]);
    memory[1] = `+${"0".repeat(64)}`;
    memory.push("+later");
    expect(await problems(memory)).toHaveLength(2);
  });
});
