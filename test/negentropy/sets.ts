import { createHash } from "node:crypto";
import fc from "fast-check";
import { Initiator } from "../../src/nostr/negentropy/initiator.ts";
import type { ItemColumns } from "../../src/nostr/negentropy/item-order.ts";
import { eachId, ItemSet } from "../../src/nostr/negentropy/items.ts";
import { respond } from "../../src/nostr/negentropy/responder.ts";

export interface Pair {
  readonly createdAt: number;
  readonly id: string;
}

export const columns = (pairs: readonly Pair[]): ItemColumns => ({
  length: pairs.length,
  createdAt: Float64Array.from(pairs, (pair) => pair.createdAt),
  ids: Buffer.from(pairs.map((pair) => pair.id).join(""), "hex"),
});

export const setOf = (pairs: readonly Pair[]): ItemSet => new ItemSet(columns(pairs));

/** Times that have hurt implementations: ties, and both sides of where 32 bits and a double's 53 bits end. */
const times = {
  oneSecond: () => 1_700_000_000,
  fewSeconds: (n: number) => 1_700_000_000 + (n % 7),
  spread: (n: number) => 1_600_000_000 + (n % 100_000_000),
  fromZero: (n: number) => n % 3,
  around31Bits: (n: number) => 2 ** 31 - 50 + (n % 100),
  around32Bits: (n: number) => 2 ** 32 - 50 + (n % 100),
  upTo53Bits: (n: number) => Number.MAX_SAFE_INTEGER - (n % 100),
  anywhere: (n: number) => (n % 2 === 0 ? n % 5 : n * 2 ** 21 + (n % 9)),
} as const;

const idOf = (seed: number, n: number, alike: boolean): string => {
  const hash = createHash("sha256").update(`${seed}:${n}`).digest("hex");
  return alike ? hash.slice(0, 6).padStart(64, "ab") : hash;
};

export interface Scene {
  readonly ours: readonly Pair[];
  readonly theirs: readonly Pair[];
}

/** Two sets with things in common and things of their own. */
export const scenes = (most: number): fc.Arbitrary<Scene> =>
  fc
    .record({
      seed: fc.nat(),
      // Ids that agree in 29 bytes make the longest prefixes in bounds.
      alike: fc.boolean(),
      time: fc.constantFrom<((n: number) => number)[]>(...Object.values(times)),
      shared: fc.oneof(fc.nat(40), fc.nat(most)),
      onlyOurs: fc.oneof(fc.constant(0), fc.nat(5), fc.nat(most)),
      onlyTheirs: fc.oneof(fc.constant(0), fc.nat(5), fc.nat(most)),
    })
    .map(({ seed, alike, time, shared, onlyOurs, onlyTheirs }) => {
      const known = new Map<string, Pair>();
      for (let n = 0; known.size < shared + onlyOurs + onlyTheirs; n += 1) {
        const id = idOf(seed, n, alike);
        known.set(id, { id, createdAt: time(Number.parseInt(createHash("sha1").update(id).digest("hex").slice(0, 8), 16)) });
      }
      const pairs = [...known.values()];
      return { ours: pairs.slice(0, shared + onlyOurs), theirs: [...pairs.slice(0, shared), ...pairs.slice(shared + onlyOurs)] };
    });

/** The obvious way to know what an exchange has to find out. */
export function difference({ ours, theirs }: Scene): { have: string[]; need: string[] } {
  const here = new Set(ours.map((pair) => pair.id));
  const there = new Set(theirs.map((pair) => pair.id));
  return { have: [...here].filter((id) => !there.has(id)).toSorted(), need: [...there].filter((id) => !here.has(id)).toSorted() };
}

export interface Exchange {
  readonly have: readonly string[];
  readonly need: readonly string[];
  readonly asked: readonly Uint8Array[];
  readonly answered: readonly Uint8Array[];
}

/** Lets both sides talk to the end. */
export function exchange({ ours, theirs }: Scene, ourFrame: number, theirFrame: number): Exchange {
  const initiator = new Initiator(setOf(ours), { frameBytesMax: ourFrame });
  const items = setOf(theirs);
  const have: string[] = [];
  const need: string[] = [];
  const asked: Uint8Array[] = [];
  const answered: Uint8Array[] = [];
  for (let next: Uint8Array | undefined = initiator.start(); next !== undefined; ) {
    const answer = respond(items, next, theirFrame);
    if (answer.kind === "problem") throw new Error(`the responder refused ${answer.flaw}`);
    asked.push(next);
    answered.push(answer.message);
    const learnt = initiator.receive(answer.message);
    if (learnt.kind === "problem") throw new Error(`the initiator refused ${learnt.flaw}`);
    have.push(...eachId(learnt.have));
    need.push(...eachId(learnt.need));
    next = learnt.next;
  }
  return { have: have.toSorted(), need: need.toSorted(), asked, answered };
}
