import { describe, expect, it } from "vitest";
import { difference, setOf } from "../../../test/negentropy/sets.ts";
import { INFINITE, timeBound } from "./bound.ts";
import { fingerprint } from "./fingerprint.ts";
import { Initiator } from "./initiator.ts";
import { eachId, type ItemSet } from "./items.ts";
import { RANGES_MAX } from "./message-reader.ts";
import { MessageWriter } from "./message-writer.ts";
import { respond } from "./responder.ts";

/** One item a second, and more seconds than ranges are read. */
const pairs = Array.from({ length: RANGES_MAX + 5_000 }, (_, n) => ({ createdAt: n, id: n.toString(16).padStart(64, "0") }));
const ours = setOf(pairs);

/** A fingerprint for every second. */
function everySecond(items: ItemSet): Uint8Array {
  const out = new MessageWriter(10_000_000);
  let low = 0;
  for (let second = 1; second < pairs.length; second += 1) {
    const high = items.lowerBound(timeBound(second), low);
    out.fingerprint(timeBound(second), fingerprint(items, low, high));
    low = high;
  }
  out.fingerprint(INFINITE, fingerprint(items, low, items.length));
  return out.finish();
}

describe("a message of more ranges than we read", () => {
  it("is answered up to there, and with one fingerprint for all the rest", () => {
    const expected = new MessageWriter(10_000_000);
    expected.skipTo(timeBound(RANGES_MAX));
    expected.rest(fingerprint(ours, RANGES_MAX, ours.length));
    expect(respond(ours, everySecond(ours))).toEqual({ kind: "reply", message: expected.finish() });
  });

  it("is heard up to there, and the rest is asked again", () => {
    const lacking = new Set([3, RANGES_MAX - 1, RANGES_MAX, RANGES_MAX + 4_000]);
    const scene = { ours: pairs, theirs: pairs.filter((pair) => !lacking.has(pair.createdAt)) };
    const items = setOf(scene.theirs);
    const initiator = new Initiator(ours);
    initiator.start();
    const have: string[] = [];
    for (let answer: Uint8Array | undefined = everySecond(items); answer !== undefined; ) {
      const learnt = initiator.receive(answer);
      if (learnt.kind === "problem") throw new Error(learnt.flaw);
      have.push(...eachId(learnt.have));
      const reply = learnt.next === undefined ? undefined : respond(items, learnt.next);
      answer = reply?.kind === "reply" ? reply.message : undefined;
    }
    expect(have.toSorted()).toEqual(difference(scene).have);
  });
});
