import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterEach, beforeEach, expect, it } from "vitest";
import { EARLY, gather, hold, put } from "../../../test/contract/store/bench.ts";
import { fakeEvent } from "../../../test/kit/arbitrary/fake-event.ts";
import { filterOf } from "../../../test/kit/arbitrary/filter.ts";
import { eventText } from "../../nostr/event.ts";
import { seq } from "../event-store.ts";
import { SCHEMA_STEPS } from "./schema.ts";
import { openForWriting, readSeed, StoreProblem, storeFile } from "./sqlite-file.ts";
import { openReader, openWriter } from "./sqlite-store.ts";
import { SqliteTables } from "./sqlite-tables.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "holdfast-schema-"));
});
afterEach(() => rmSync(directory, { recursive: true }));

const NEWER = SCHEMA_STEPS.length + 1;

/** What an upgrade to a later release would have left. */
function leaveNewerStore(): void {
  openForWriting(directory, () => 1).close();
  const db = new Database(storeFile(directory));
  db.exec("CREATE TABLE novelty (x INTEGER) STRICT");
  db.pragma(`user_version = ${NEWER}`);
  db.close();
}

it("a new store has the newest schema, and a seed of its own", () => {
  const db = openForWriting(directory, drawing(5, 9));
  expect(db.pragma("user_version", { simple: true })).toBe(SCHEMA_STEPS.length);
  expect(readSeed(db)).toEqual({ a: 5, b: 9 });
  db.close();
});

it("reopening keeps the data, and the seed without which nothing would be found", async () => {
  const event = fakeEvent({ tags: [["t", "x"]] });
  const first = openWriter(directory, drawing(5, 9));
  await first.writer.transact((tx) => tx.apply([put(event)]));
  await first.close();
  const second = openWriter(directory, drawing(6, 10));
  const reading = openReader(directory);
  const found = await gather(reading.reader.query(filterOf({ tags: { t: ["x"] } }), EARLY));
  expect(found.map((stored) => stored.text)).toEqual([eventText(event)]);
  expect(await second.writer.transact((tx) => tx.serves(event.id))).toBe(true);
  reading.close();
  await second.close();
});

it("a store of a newer release is refused with a sentence that says what to do, and is left as it was", () => {
  leaveNewerStore();
  const refusal = `${storeFile(directory)} was written by a newer release (schema ${NEWER}; this one knows ${SCHEMA_STEPS.length}). Start that release, or restore a backup from before the upgrade.`;
  expect(() => openForWriting(directory, () => 2)).toThrow(new StoreProblem(refusal));
  // The last connection that is closed takes its log along: none was left open.
  expect(readdirSync(directory)).toEqual(["holdfast.sqlite"]);
  const db = new Database(storeFile(directory), { readonly: true });
  expect(db.pragma("user_version", { simple: true })).toBe(NEWER);
  expect(db.prepare("SELECT name FROM sqlite_schema WHERE name = 'novelty'").pluck().get()).toBe("novelty");
  db.close();
});

it("a store of an earlier step is brought to the newest, with what it serves", async () => {
  const event = fakeEvent({ kind: 30_618, tags: [["d", "x"]] });
  const old = new Database(storeFile(directory));
  old.exec(SCHEMA_STEPS[0] as string);
  old.exec("INSERT INTO setting (name, value) VALUES ('seed-a', 5), ('seed-b', 9)");
  old.pragma("user_version = 1");
  new SqliteTables(old, { a: 5, b: 9 }).put(put(event));
  old.close();
  const writing = openWriter(directory, drawing(6, 10));
  await writing.writer.transact((tx) => tx.apply([hold(fakeEvent({ kind: 30_617, tags: [["d", "x"]] }))]));
  const reading = openReader(directory);
  expect((await gather(reading.reader.query(filterOf(), EARLY))).map((stored) => stored.text)).toEqual([eventText(event)]);
  expect((await gather(reading.feed.read(seq(0)))).map(({ change }) => change)).toEqual(["served", "held"]);
  reading.close();
  await writing.close();
});

it("a step that fails leaves the store without any of it", () => {
  const fault = new Error("no chance today");
  const failing = (): number => {
    throw fault;
  };
  expect(() => openForWriting(directory, failing)).toThrow(fault);
  const db = new Database(storeFile(directory), { readonly: true });
  expect(db.pragma("user_version", { simple: true })).toBe(0);
  expect(db.prepare("SELECT count(*) FROM sqlite_schema").pluck().get()).toBe(0);
  db.close();
  openForWriting(directory, () => 1).close();
});

function drawing(...numbers: number[]): () => number {
  return () => numbers.shift() ?? 0;
}
