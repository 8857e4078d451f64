import { describe, expect, it } from "vitest";
import { setOf } from "../../../test/negentropy/sets.ts";
import { INFINITE, timeBound } from "./bound.ts";
import { fingerprint } from "./fingerprint.ts";
import { Initiator } from "./initiator.ts";
import { MessageWriter } from "./message-writer.ts";

const items = setOf(Array.from({ length: 100 }, (_, n) => ({ createdAt: n, id: n.toString(16).padStart(64, "0") })));
const nothing = new Uint8Array(0);
const unlike = new Uint8Array(16);

const answer = (write: (out: MessageWriter) => void): Uint8Array => {
  const out = new MessageWriter(4_096);
  write(out);
  return out.finish();
};

describe("Initiator", () => {
  /** Asked about the first 50 seconds; the others are settled. */
  const asking = (): Initiator => {
    const initiator = new Initiator(items);
    initiator.start();
    expect(initiator.receive(answer((out) => out.fingerprint(timeBound(50), unlike)))).toMatchObject({ kind: "learnt", have: nothing });
    return initiator;
  };

  it("is done when nothing is left to ask", () => {
    expect(asking().receive(Uint8Array.of(0x61))).toEqual({ kind: "learnt", have: nothing, need: nothing, next: undefined });
  });

  it("takes a fingerprint that agrees where it asked", () => {
    const agreed = answer((out) => out.fingerprint(timeBound(50), fingerprint(items, 0, 50)));
    expect(asking().receive(agreed)).toMatchObject({ kind: "learnt", next: undefined });
  });

  it("settles nothing by a fingerprint that reaches further than it asked", () => {
    const agreed = answer((out) => out.fingerprint(INFINITE, fingerprint(items, 0, 100)));
    expect(asking().receive(agreed)).toMatchObject({ kind: "learnt", next: expect.any(Uint8Array) });
  });

  it("does not listen to ids from where it did not ask", () => {
    const elsewhere = answer((out) => {
      out.skipTo(timeBound(60));
      out.ids(INFINITE, new Uint8Array(32));
    });
    expect(asking().receive(elsewhere)).toEqual({ kind: "learnt", have: nothing, need: nothing, next: undefined });
  });

  it("names an id once, however often a list does", () => {
    const twice = answer((out) => out.ids(timeBound(50), new Uint8Array(64).fill(7)));
    expect(asking().receive(twice)).toMatchObject({ need: new Uint8Array(32).fill(7), have: Uint8Array.from(items.idBytes(0, 50)) });
  });

  it.each([
    ["nothing at all", nothing, "empty"],
    ["another version", Uint8Array.of(0x62), "version"],
    ["half a range", Uint8Array.of(0x61, 1), "truncated"],
  ])("refuses %s", (_, message, flaw) => {
    expect(asking().receive(message)).toEqual({ kind: "problem", flaw });
  });
});
