import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { columns, type Pair, scenes, setOf } from "../../../test/negentropy/sets.ts";
import { type Bound, compareBounds, INFINITE } from "./bound.ts";
import { fingerprint } from "./fingerprint.ts";
import { ItemSet } from "./items.ts";

const flipped = (hex: string): string => (hex.match(/../g) ?? []).toReversed().join("");

/** The appendix of NIP-77, word by word, with big integers. */
function slowFingerprint(ids: readonly string[]): string {
  let sum = 0n;
  for (const id of ids) sum += BigInt(`0x${flipped(id)}`);
  const bytes = Buffer.from(flipped((sum % 2n ** 256n).toString(16).padStart(64, "0")), "hex");
  const count = ids.length < 128 ? [ids.length] : [128 + (ids.length >> 7), ids.length & 127];
  return createHash("sha256").update(bytes).update(Uint8Array.from(count)).digest("hex").slice(0, 32);
}

const inOrder = (pairs: readonly Pair[]): Pair[] => [...pairs].toSorted((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
const boundOf = (pair: Pair): Bound => ({ timestamp: pair.createdAt, prefix: Buffer.from(pair.id, "hex") });
const allIds = (items: ItemSet): string => Buffer.from(items.idBytes(0, items.length)).toString("hex");

describe("ItemSet", () => {
  it("fingerprints any range as NIP-77 says", () => {
    fc.assert(
      fc.property(scenes(200), fc.nat(), fc.nat(), ({ ours }, a, b) => {
        const pairs = inOrder(ours);
        const [low, high] = [a % (pairs.length + 1), b % (pairs.length + 1)].toSorted((x, y) => x - y) as [number, number];
        const expected = slowFingerprint(pairs.slice(low, high).map((pair) => pair.id));
        expect(Buffer.from(fingerprint(setOf(ours), low, high)).toString("hex")).toBe(expected);
      }),
      { seed: 81, numRuns: 300 },
    );
  });

  it("carries through every word of the sum", () => {
    const pairs = Array.from({ length: 40 }, (_, n) => ({ createdAt: n, id: "f".repeat(64) }));
    for (const high of [1, 2, 16, 17, 33, 40]) {
      const expected = slowFingerprint(pairs.slice(1, high).map((pair) => pair.id));
      expect(Buffer.from(fingerprint(setOf(pairs), 1, high)).toString("hex")).toBe(expected);
    }
  });

  it("puts items in order, each once, whatever order they come in", () => {
    fc.assert(
      fc.property(scenes(60), ({ ours, theirs }) => {
        const union = inOrder([...new Map([...ours, ...theirs].map((pair) => [pair.id, pair])).values()]);
        const items = setOf([...ours, ...theirs]);
        expect(items.length).toBe(union.length);
        expect(allIds(items)).toBe(union.map((pair) => pair.id).join(""));
      }),
      { seed: 82, numRuns: 100 },
    );
  });

  it("finds the first item at or behind a bound, from anywhere before it", () => {
    fc.assert(
      fc.property(scenes(100), fc.nat(), fc.nat(32), fc.nat(), ({ ours, theirs }, which, length, start) => {
        const pairs = inOrder(ours);
        const probe = theirs[which % Math.max(1, theirs.length)];
        const bound = probe === undefined ? INFINITE : { ...boundOf(probe), prefix: boundOf(probe).prefix.subarray(0, length) };
        const expected = pairs.filter((pair) => compareBounds(boundOf(pair), bound) < 0).length;
        expect(setOf(ours).lowerBound(bound, start % (expected + 1))).toBe(expected);
      }),
      { seed: 83, numRuns: 300 },
    );
  });

  it("parts neighbours by the shortest bound", () => {
    fc.assert(
      fc.property(scenes(100), ({ ours }) => {
        const items = setOf(ours);
        const pairs = inOrder(ours);
        for (let i = 1; i < pairs.length; i += 1) {
          const bound = items.boundBefore(i);
          expect(compareBounds(boundOf(pairs[i - 1] as Pair), bound)).toBeLessThan(0);
          expect(compareBounds(boundOf(pairs[i] as Pair), bound)).toBeGreaterThanOrEqual(0);
          const shorter = { ...bound, prefix: bound.prefix.subarray(0, -1) };
          if (bound.prefix.length > 0) expect(compareBounds(boundOf(pairs[i - 1] as Pair), shorter)).toBeGreaterThanOrEqual(0);
        }
      }),
      { seed: 84, numRuns: 60 },
    );
  });

  it("takes ids that do not lie on a word", () => {
    const pairs = [{ createdAt: 1, id: "1f".repeat(32) }];
    const aligned = columns(pairs);
    const shifted = new Uint8Array(33);
    shifted.set(aligned.ids, 1);
    for (const ids of [shifted.subarray(1), Buffer.from(shifted.buffer, 1)]) {
      expect(fingerprint(new ItemSet({ ...aligned, ids }), 0, 1)).toEqual(fingerprint(setOf(pairs), 0, 1));
    }
  });

  it.each([-1, 0.5, 2 ** 53, Number.NaN])("does not take %d for a time", (createdAt) => {
    expect(() => setOf([{ createdAt, id: "00".repeat(32) }])).toThrow(RangeError);
  });
});
