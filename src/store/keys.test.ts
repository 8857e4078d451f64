import { describe, expect, it } from "vitest";
import { fakeEvent, fakeId, fakeKey } from "../../test/kit/arbitrary/fake-event.ts";
import type { EventId } from "../nostr/event.ts";
import {
  addressKey,
  authorKey,
  authorKindKey,
  idRank,
  isIndexedTag,
  type KeySeed,
  kindKey,
  postingKeys,
  TIME_KEY,
  tagKey,
} from "./keys.ts";

const seed: KeySeed = { a: 0x1234_5678, b: 0x9abc_def0 };
const alice = fakeKey("alice");
const rising = (a: number, b: number): number => a - b;
const HASHED_FROM = 131_072;
const HASHED_MAX = 2 ** 47 - 1;

describe("idRank", () => {
  it("falls as ids rise, so that a list read backwards gives the lowest id first (NIP-01)", () => {
    const ids = Array.from({ length: 200 }, (_, n) => fakeId(`rank ${n}`)).toSorted();
    const ranks = ids.map(idRank);
    expect(ranks).toEqual(ranks.toSorted((a, b) => b - a));
    expect(new Set(ranks).size).toBe(200);
  });

  it("fits into six bytes at both ends", () => {
    expect(idRank("f".repeat(64) as EventId)).toBe(0);
    expect(idRank("0".repeat(64) as EventId)).toBe(HASHED_MAX);
  });

  it("is one for ids that begin alike: who reads a list must look at the whole id", () => {
    expect(idRank(fakeId(0))).toBe(idRank(fakeId(1)));
    expect(fakeId(0)).not.toBe(fakeId(1));
  });
});

describe("keys", () => {
  it("of kinds and time are their own, below every hashed one", () => {
    expect(kindKey(0)).toBe(0);
    expect(kindKey(65_535)).toBeLessThan(TIME_KEY);
    expect(TIME_KEY).toBeLessThan(HASHED_FROM);
  });

  it("of what strangers choose are whole numbers of 47 bits, and never those of kinds or time", () => {
    for (let n = 0; n < 5_000; n++) {
      const key = tagKey(seed, "t", `value ${n}`);
      expect(Number.isSafeInteger(key)).toBe(true);
      expect(key).toBeGreaterThanOrEqual(HASHED_FROM);
      expect(key).toBeLessThanOrEqual(HASHED_MAX + HASHED_FROM);
    }
  });

  it("differ by what they are of, by where a name ends, and by case", () => {
    const keys = [
      authorKey(seed, alice),
      tagKey(seed, "p", alice),
      tagKey(seed, "P", alice),
      authorKindKey(seed, alice, 1),
      authorKindKey(seed, alice, 11),
      addressKey(seed, { kind: 1, pubkey: alice, d: "" }),
      addressKey(seed, { kind: 1, pubkey: alice, d: "1" }),
      tagKey(seed, "a", "bc"),
      tagKey(seed, "ab", "c"),
      tagKey(seed, "t", "x\u0000y"),
      tagKey(seed, "t", "x\u0000z"),
      tagKey(seed, "t", ""),
    ];
    expect(new Set(keys).size).toBe(keys.length);
  });

  it("depend on the seed, so that nobody outside can make two values share one", () => {
    const others = [
      { a: seed.a + 1, b: seed.b },
      { a: seed.a, b: seed.b + 1 },
    ].map((other) => authorKey(other, alice));
    expect(new Set([authorKey(seed, alice), ...others]).size).toBe(3);
  });

  it("spread: many values share no key but by rare chance", () => {
    const keys = new Set(Array.from({ length: 50_000 }, (_, n) => tagKey(seed, "e", fakeIdLike(n))));
    // Of 50,000 among 2^47 two meet once in a hundred thousand seeds.
    expect(keys.size).toBe(50_000);
    const low = new Set([...keys].map((key) => key % 1024));
    expect(low.size).toBe(1024);
  });
});

const fakeIdLike = (n: number): string => n.toString(16).padStart(64, "0");

describe("postingKeys", () => {
  it("has time, kind, author, author and kind, the address, and each indexed tag once (NIP-01)", () => {
    const event = fakeEvent({
      kind: 30_617,
      tags: [["d", "hold"], ["t", "x"], ["t", "x", "again"], ["T", "x"], ["clone", "url"], ["e"], ["1", "x"], ["", "x"]],
    });
    expect(postingKeys(seed, event).toSorted(rising)).toEqual(
      [
        TIME_KEY,
        30_617,
        authorKey(seed, alice),
        authorKindKey(seed, alice, 30_617),
        addressKey(seed, { kind: 30_617, pubkey: alice, d: "hold" }),
        tagKey(seed, "d", "hold"),
        tagKey(seed, "t", "x"),
        tagKey(seed, "T", "x"),
      ].toSorted(rising),
    );
    expect(postingKeys(seed, fakeEvent())).toEqual([TIME_KEY, 1, authorKey(seed, alice), authorKindKey(seed, alice, 1)]);
  });

  it.each([
    ["e", true],
    ["Z", true],
    ["ee", false],
    ["1", false],
    ["#", false],
    ["é", false],
    ["", false],
    [undefined, false],
  ])("tag %s is indexed: %s (NIP-01: the English letters)", (name, expected) => {
    expect(isIndexedTag(name)).toBe(expected);
  });
});
