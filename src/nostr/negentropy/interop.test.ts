import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { difference, setOf } from "../../../test/negentropy/sets.ts";
import { fromHex, toHex } from "./hex.ts";
import { Initiator } from "./initiator.ts";
import { eachId } from "./items.ts";
import { respond } from "./responder.ts";

/** A whole exchange with another implementation, as it went; both found exactly the difference. */
interface Vector {
  readonly name: string;
  readonly peer: string;
  readonly role: "asks" | "answers";
  readonly shared: number;
  readonly onlyOurs: number;
  readonly onlyTheirs: number;
  readonly seconds: number;
  /** "Ours" is always the asking side. */
  readonly ourFrame: number;
  readonly theirFrame: number;
  readonly asked: readonly string[];
  readonly answered: readonly string[];
}

const vectors = JSON.parse(readFileSync(new URL("./interop.vectors.json", import.meta.url), "utf8")) as readonly Vector[];

function sets({ name, shared, onlyOurs, onlyTheirs, seconds }: Vector) {
  const all = Array.from({ length: shared + onlyOurs + onlyTheirs }, (_, n) => {
    const id = createHash("sha256").update(`${name}:${n}`).digest("hex");
    return { id, createdAt: 1_700_000_000 + (Number.parseInt(id.slice(0, 8), 16) % seconds) };
  });
  return { ours: all.slice(0, shared + onlyOurs), theirs: [...all.slice(0, shared), ...all.slice(shared + onlyOurs)] };
}

const bytes = (hex: string): Uint8Array => {
  const read = fromHex(hex);
  if (!(read instanceof Uint8Array)) throw new Error("the vector is not hex");
  return read;
};

describe("NIP-77 with other implementations", () => {
  const asks = vectors.filter((vector) => vector.role === "asks");
  const answers = vectors.filter((vector) => vector.role === "answers");

  it.each(asks)("$peer asks us: $name", (vector) => {
    const items = setOf(sets(vector).theirs);
    const replies = vector.asked.map((asked) => respond(items, bytes(asked), vector.theirFrame));
    expect(replies.map((reply) => (reply.kind === "reply" ? toHex(reply.message) : reply.flaw))).toEqual(vector.answered);
  });

  it.each(asks)("$peer begins as we do: $name", (vector) => {
    expect(toHex(new Initiator(setOf(sets(vector).ours)).start())).toBe(vector.asked[0]);
  });

  it.each(answers)("$peer answers us: $name", (vector) => {
    const scene = sets(vector);
    const initiator = new Initiator(setOf(scene.ours), { frameBytesMax: vector.ourFrame });
    const sent = [toHex(initiator.start())];
    const have: string[] = [];
    const need: string[] = [];
    for (const answered of vector.answered) {
      const learnt = initiator.receive(bytes(answered));
      if (learnt.kind === "problem") throw new Error(learnt.flaw);
      have.push(...eachId(learnt.have));
      need.push(...eachId(learnt.need));
      if (learnt.next !== undefined) sent.push(toHex(learnt.next));
    }
    expect(sent).toEqual(vector.asked);
    expect({ have: have.toSorted(), need: need.toSorted() }).toEqual(difference(scene));
  });
});
