import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { exchange, scenes, setOf } from "../../../test/negentropy/sets.ts";
import { Initiator } from "./initiator.ts";
import { MessageReader } from "./message-reader.ts";
import { respond } from "./responder.ts";

/** Changes a message the way mallory would: flips, cuts, repeats and inserts. */
const mutations = fc.array(
  fc.record({
    kind: fc.constantFrom("set", "cut", "repeat", "insert"),
    at: fc.nat(),
    length: fc.nat(40),
    byte: fc.oneof(fc.nat(255), fc.constantFrom(0, 1, 2, 32, 127, 128, 255)),
  }),
  { minLength: 1, maxLength: 6 },
);

function mutated(message: Uint8Array, changes: readonly { kind: string; at: number; length: number; byte: number }[]): Uint8Array {
  const bytes = [...message];
  for (const { kind, at, length, byte } of changes) {
    const place = 1 + (at % Math.max(1, bytes.length));
    if (kind === "set") bytes[Math.min(place, bytes.length - 1)] = byte;
    else if (kind === "cut") bytes.splice(place, length);
    else if (kind === "repeat") bytes.splice(place, 0, ...bytes.slice(place, place + length));
    else bytes.splice(place, 0, byte);
  }
  bytes[0] = 0x61;
  return Uint8Array.from(bytes);
}

function isWellFormed(message: Uint8Array): boolean {
  const reader = new MessageReader(message);
  for (let range = reader.next(); range !== undefined; range = reader.next()) if (range.kind === "problem") return false;
  return true;
}

const noise = fc.uint8Array({ maxLength: 400 }).map((bytes) => Uint8Array.of(0x61, ...bytes));
const small = scenes(150);

describe("NIP-77: mallory's messages", () => {
  it("never make the responder throw or leave its frame", () => {
    const pick = fc.tuple(small, fc.nat(), mutations).map(([scene, which, changes]) => {
      const { asked } = exchange(scene, 4_096, 4_096);
      return { scene, message: mutated(asked[which % asked.length] as Uint8Array, changes) };
    });
    const random = fc.tuple(small, noise).map(([scene, message]) => ({ scene, message }));
    let answers = 0;
    fc.assert(
      fc.property(fc.oneof(pick, random), ({ scene, message }) => {
        const answer = respond(setOf(scene.theirs), message, 4_096);
        if (answer.kind === "problem") return;
        answers += 1;
        expect(answer.message.length).toBeLessThanOrEqual(4_096);
        expect(isWellFormed(answer.message)).toBe(true);
      }),
      { seed: 79, numRuns: 600 },
    );
    expect(answers).toBeGreaterThan(50);
  });

  it("never make the initiator throw, leave its frame or talk for ever", () => {
    fc.assert(
      fc.property(small, fc.array(fc.oneof(noise, mutations), { minLength: 1, maxLength: 8 }), ({ ours, theirs }, moves) => {
        const initiator = new Initiator(setOf(ours), { frameBytesMax: 4_096, roundsMax: 40 });
        const items = setOf(theirs);
        let next: Uint8Array | undefined = initiator.start();
        for (let round = 0; next !== undefined; round += 1) {
          expect(round).toBeLessThanOrEqual(40);
          expect(next.length).toBeLessThanOrEqual(4_096);
          expect(isWellFormed(next)).toBe(true);
          const move = moves[round % moves.length] as (typeof moves)[number];
          const honest = respond(items, next, 4_096);
          if (honest.kind === "problem") throw new Error(honest.flaw);
          const learnt = initiator.receive(move instanceof Uint8Array ? move : mutated(honest.message, move));
          if (learnt.kind === "problem") return;
          next = learnt.next;
        }
      }),
      { seed: 80, numRuns: 400 },
    );
  });

  it("end an exchange with a relay that always differs", () => {
    const pairs = Array.from({ length: 100 }, (_, n) => ({ createdAt: n, id: n.toString(16).padStart(64, "0") }));
    const initiator = new Initiator(setOf(pairs), { roundsMax: 25 });
    initiator.start();
    const different = Uint8Array.of(0x61, 0, 0, 1, ...new Uint8Array(16));
    for (let round = 0; round < 25; round += 1) expect(initiator.receive(different).kind).toBe("learnt");
    expect(initiator.receive(different)).toEqual({ kind: "problem", flaw: "runaway" });
  });

  it("cannot leave more open than the limit", () => {
    const pairs = Array.from({ length: 640 }, (_, n) => ({ createdAt: n, id: n.toString(16).padStart(64, "0") }));
    const initiator = new Initiator(setOf(pairs), { openMax: 10 });
    initiator.start();
    // Twenty ranges of 32 seconds, each with a fingerprint that is not ours.
    const ranges = Array.from({ length: 20 }, () => [33, 0, 1, ...new Uint8Array(16)]).flat();
    expect(initiator.receive(Uint8Array.of(0x61, ...ranges))).toEqual({ kind: "problem", flaw: "runaway" });
  });
});
