import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { EARLY, gather, put } from "../../../test/contract/store/bench.ts";
import { coordinate, fakeEvent, fakeId, fakeKey } from "../../../test/kit/arbitrary/fake-event.ts";
import { type FilterParts, filterOf } from "../../../test/kit/arbitrary/filter.ts";
import { unixSeconds } from "../../base/time.ts";
import type { PublicKey, VerifiedEvent } from "../../nostr/event.ts";
import { addressKey, authorKey, authorKindKey, type KeySeed, tagKey } from "../keys.ts";
import { openReader, openWriter } from "./sqlite-store.ts";

const alice = fakeKey("alice");
const key = (n: number): PublicKey => n.toString(16).padStart(64, "0") as PublicKey;
const repository = (d: string) => ({ kind: 30_617, pubkey: alice, d });

/** Pairs that share a key under this seed: in some twenty million values there is one. */
const SEED: KeySeed = { a: 1, b: 2 };
const WORDS = ["v1351867", "v7716511"] as const;
const ADDRESSES = [repository("r10670484"), repository("r15623693")] as const;
const IDENTIFIERS = ["r6425079", "r23791989"] as const;
const NAMED = [repository("r2066118"), repository("r7350080")] as const;
const AUTHORS = [key(4_240_269), key(21_413_149)] as const;
const RECIPIENTS = [key(2_014_225_971), key(2_018_884_529)] as const;
const AUTHORS_OF_NOTES = [key(13_233_632), key(22_335_640)] as const;

let directory: string;
let writing: ReturnType<typeof openWriter>;
let reading: ReturnType<typeof openReader>;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "holdfast-shared-"));
  const seeds = [SEED.a, SEED.b];
  writing = openWriter(directory, () => seeds.shift() ?? 0);
  reading = openReader(directory);
});
afterEach(async () => {
  reading.close();
  await writing.close();
  rmSync(directory, { recursive: true });
});

const serve = (...events: VerifiedEvent[]) => writing.writer.transact((tx) => tx.apply(events.map((event) => put(event))));
const found = async (parts: FilterParts) => (await gather(reading.reader.query(filterOf(parts), EARLY))).map((event) => event.id);
const announcement = (d: string, created_at: number) => fakeEvent({ kind: 30_617, created_at, tags: [["d", d]] });

/** The first may be found by its own value, never by the other's; the other is found though the first stands before it. */
function twins(make: (n: 0 | 1, created_at: number) => VerifiedEvent): [VerifiedEvent, VerifiedEvent] {
  return [make(0, 20), make(1, 10)];
}

it("the pairs do share their keys", () => {
  expect(tagKey(SEED, "t", WORDS[0])).toBe(tagKey(SEED, "t", WORDS[1]));
  expect(addressKey(SEED, ADDRESSES[0])).toBe(addressKey(SEED, ADDRESSES[1]));
  expect(tagKey(SEED, "d", IDENTIFIERS[0])).toBe(tagKey(SEED, "d", IDENTIFIERS[1]));
  expect(tagKey(SEED, "a", coordinate(NAMED[0]))).toBe(tagKey(SEED, "a", coordinate(NAMED[1])));
  expect(tagKey(SEED, "p", RECIPIENTS[0])).toBe(tagKey(SEED, "p", RECIPIENTS[1]));
  expect(authorKey(SEED, AUTHORS[0])).toBe(authorKey(SEED, AUTHORS[1]));
  expect(authorKindKey(SEED, AUTHORS_OF_NOTES[0], 1)).toBe(authorKindKey(SEED, AUTHORS_OF_NOTES[1], 1));
});

it("a query for a tag, an author, or an author and a kind gives only true matches (NIP-01)", async () => {
  const tagged = twins((n, created_at) => fakeEvent({ created_at, tags: [["t", WORDS[n]]] }));
  const own = twins((n, created_at) => fakeEvent({ created_at, pubkey: AUTHORS[n] }));
  const notes = twins((n, created_at) => fakeEvent({ created_at, pubkey: AUTHORS_OF_NOTES[n] }));
  // Values that stand elsewhere in the text do not deceive.
  const decoy = fakeEvent({ created_at: 30, tags: [["t", WORDS[0], WORDS[1]]], content: `["t","${WORDS[1]}"]` });
  await serve(...tagged, ...own, ...notes, decoy);
  for (const n of [0, 1] as const) {
    expect(await found({ tags: { t: [WORDS[n]] } })).toEqual(n === 0 ? [decoy.id, tagged[0].id] : [tagged[1].id]);
    expect(await found({ authors: [AUTHORS[n]] })).toEqual([own[n].id]);
    expect(await found({ authors: [AUTHORS_OF_NOTES[n]], kinds: [1] })).toEqual([notes[n].id]);
    expect(await found({ authors: [AUTHORS_OF_NOTES[n]], kinds: [1], limit: 1 })).toEqual([notes[n].id]);
  }
  expect(await found({ tags: { t: [...WORDS] } })).toEqual([decoy.id, tagged[0].id, tagged[1].id]);
});

it("an address is held only by its own event (grasp.md 3.2)", async () => {
  const [first, second] = twins((n, created_at) => announcement(ADDRESSES[n].d, created_at));
  await serve(first);
  await writing.writer.transact(async (tx) => {
    expect(await tx.incumbent(ADDRESSES[0])).toEqual({ id: first.id, created_at: 20 });
    expect(await tx.incumbent(ADDRESSES[1])).toBeUndefined();
    expect(await tx.servesAny([], [ADDRESSES[1]])).toBe(false);
    await tx.apply([put(second)]);
    expect(await tx.incumbent(ADDRESSES[1])).toEqual({ id: second.id, created_at: 10 });
    expect(await tx.servesAny([], [ADDRESSES[1]])).toBe(true);
  });
});

it("an identifier gives only events that have it (grasp.md 4.1)", async () => {
  const [first, second] = twins((n, created_at) => announcement(IDENTIFIERS[n], created_at));
  await serve(first, second);
  await writing.writer.transact(async (tx) => {
    expect(await tx.servedByIdentifier(30_617, IDENTIFIERS[0], 1)).toEqual([first]);
    expect(await tx.servedByIdentifier(30_617, IDENTIFIERS[1], 1)).toEqual([second]);
  });
});

it("naming one event is not naming another (grasp.md 3.6)", async () => {
  await serve(fakeEvent({ tags: [["a", coordinate(NAMED[0])]] }));
  await writing.writer.transact(async (tx) => {
    expect(await tx.isNamed(announcement(NAMED[0].d, 1))).toBe(true);
    expect(await tx.isNamed(announcement(NAMED[1].d, 1))).toBe(false);
  });
});

it("one key's events are not another's (grasp.md 3.6; NIP-62)", async () => {
  const own = fakeEvent({ pubkey: AUTHORS[0] });
  const wrap = fakeEvent({ kind: 1059, tags: [["p", RECIPIENTS[0]]] });
  await serve(own, wrap, fakeEvent({ pubkey: AUTHORS_OF_NOTES[0] }));
  await writing.writer.transact(async (tx) => {
    const request = { request: fakeId("request"), vanishUntil: unixSeconds(1_000) };
    for (const n of [0, 1] as const) {
      expect(await tx.hasServed(AUTHORS[n])).toBe(n === 0);
      expect(await tx.toVanish({ ...request, author: AUTHORS[n] }, 10)).toEqual(n === 0 ? [own.id] : []);
      expect(await tx.toVanish({ ...request, author: RECIPIENTS[n] }, 10)).toEqual(n === 0 ? [wrap.id] : []);
    }
  });
});
