import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { difference, exchange, type Scene, scenes, setOf } from "../../../test/negentropy/sets.ts";
import { fingerprint, sameBytes } from "./fingerprint.ts";
import type { ItemSet } from "./items.ts";
import { MessageReader } from "./message-reader.ts";
import { FRAME_BYTES_MIN } from "./message-writer.ts";

const frames = fc.oneof(
  fc.constantFrom(FRAME_BYTES_MIN, FRAME_BYTES_MIN + 1, 5_000, 60_000, 10_000_000),
  fc.integer({ min: FRAME_BYTES_MIN, max: 20_000 }),
);

/** Splitting down to one difference costs at most some 6 levels of 16 parts and two lists; a round moves almost a frame of that, one way. */
const roundsMax = (differences: number, frame: number): number => 8 + Math.ceil((differences * 6_000) / (frame - 1_100));

/** Does every range of a message say what its sender has there? Peers that remember nothing rely on the last fingerprint of a cut answer too. */
function isTrue(message: Uint8Array, items: ItemSet): boolean {
  const reader = new MessageReader(message);
  let low = 0;
  for (let range = reader.next(); range !== undefined; range = reader.next()) {
    if (range.kind === "problem") return false;
    const high = items.lowerBound(range.upper, low);
    if (range.kind === "ids" && !sameBytes(range.ids, items.idBytes(low, high))) return false;
    if (range.kind === "fingerprint" && !sameBytes(range.fingerprint, fingerprint(items, low, high))) return false;
    low = high;
  }
  return true;
}

function proves(scene: Scene, ourFrame: number, theirFrame: number): void {
  const { have, need, asked, answered } = exchange(scene, ourFrame, theirFrame);
  const expected = difference(scene);
  // As lists, not as sets: nothing is told twice.
  expect({ have, need }).toEqual(expected);
  const [ours, theirs] = [setOf(scene.ours), setOf(scene.theirs)];
  for (const message of asked) expect(message.length <= ourFrame && isTrue(message, ours)).toBe(true);
  for (const message of answered) expect(message.length <= theirFrame && isTrue(message, theirs)).toBe(true);
  const differences = expected.have.length + expected.need.length;
  expect(asked.length).toBeLessThanOrEqual(roundsMax(differences, Math.min(ourFrame, theirFrame)));
}

describe("NIP-77: both sides together", () => {
  it("find exactly the difference, within every frame and a bounded number of rounds", () => {
    fc.assert(fc.property(scenes(300), frames, frames, proves), { seed: 77, numRuns: 250 });
  });

  it("do so for larger sets", () => {
    fc.assert(fc.property(scenes(6_000), frames, frames, proves), { seed: 78, numRuns: 25 });
  });

  it("agree in one round and one byte when the sets are the same and small", () => {
    const pairs = Array.from({ length: 31 }, (_, n) => ({ createdAt: n, id: n.toString(16).padStart(64, "0") }));
    const { asked, answered } = exchange({ ours: pairs, theirs: pairs }, 60_000, 60_000);
    expect(asked.length).toBe(1);
    expect(answered).toEqual([Uint8Array.of(0x61)]);
  });

  it("agree in one round on two empty sets", () => {
    const { asked, have, need } = exchange({ ours: [], theirs: [] }, 60_000, 60_000);
    expect({ have, need }).toEqual({ have: [], need: [] });
    expect(asked).toEqual([Uint8Array.of(0x61, 0, 0, 2, 0)]);
  });
});
