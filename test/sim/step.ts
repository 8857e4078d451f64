import fc from "fast-check";
import type { PublicKey } from "../../src/nostr/event.ts";
import { fakeKey } from "../kit/arbitrary/fake-event.ts";

/** Mallory announces a repository of the same name and lists everybody; nobody lists her. */
export const [alice, bob, carol, mallory] = ["alice", "bob", "carol", "mallory"].map(fakeKey) as [
  PublicKey,
  PublicKey,
  PublicKey,
  PublicKey,
];
export const PEOPLE: readonly PublicKey[] = [alice, bob, carol, mallory];

/** One wish of a history. Whether it can be fulfilled depends on what is there by then; numbers pick from that. */
export type Act =
  | { readonly kind: "announce"; readonly who: PublicKey; readonly lists: readonly PublicKey[] }
  | {
      readonly kind: "sign";
      readonly who: PublicKey;
      readonly refs: readonly (readonly [name: string, oid: number])[];
      readonly head: string | undefined;
    }
  | { readonly kind: "propose"; readonly named: PublicKey; readonly oid: number }
  | { readonly kind: "push"; readonly owner: PublicKey; readonly pick: number; readonly part: "whole" | readonly string[] }
  | { readonly kind: "deliver"; readonly owner: PublicKey; readonly oids: readonly number[] }
  | { readonly kind: "erase"; readonly pick: number }
  | { readonly kind: "wait"; readonly minutes: number };

export interface Step {
  readonly act: Act;
  /** How far what is signed lies beside the clock, in seconds: people's clocks differ, and times tie. */
  readonly skew: number;
  /** After so many writes the process dies, and starts again. */
  readonly diesAfter: number | undefined;
  /** This owner's repository cannot be aligned during the step. */
  readonly fails: PublicKey | undefined;
}

const weighed = <T>(weight: number, arbitrary: fc.Arbitrary<T>) => ({ weight, arbitrary });

/** In minutes: what waits has soft-expired and gone by then. */
const DAYS_3 = 60 * 24 * 3;

const NAMES = ["main", "master", "a", "a/b"];
/** Most of it happens between two of them. */
const anyWho = fc.constantFrom(alice, alice, alice, bob, bob, carol, mallory);
/** Enough objects that a state is seldom complete by chance. */
export const OBJECT_COUNT = 9;
const anyOid = fc.nat({ max: OBJECT_COUNT - 1 });
const anyRefs = fc.uniqueArray(fc.tuple(fc.constantFrom(...NAMES), anyOid), {
  selector: ([name]) => name,
  maxLength: 3,
});
/** Now and then a state without refs (grasp.md 6.10), or one whose names cannot stand together (6.4). */
const anyUsualRefs = anyOid.chain((oid) =>
  anyRefs.map((refs) => [["main", oid] as const, ...refs.filter(([name]) => name !== "main" && name !== "a/b")]),
);
const anyPick = fc.nat({ max: 100 });

const anyAct: fc.Arbitrary<Act> = fc.oneof(
  weighed(1, fc.record({ kind: fc.constant("announce"), who: anyWho, lists: fc.subarray([alice, bob, carol]) })),
  weighed(
    6,
    fc.record({
      kind: fc.constant("sign"),
      who: anyWho,
      refs: fc.oneof(weighed(5, anyUsualRefs), weighed(1, anyRefs)),
      head: fc.constantFrom(undefined, ...NAMES),
    }),
  ),
  weighed(1, fc.record({ kind: fc.constant("propose"), named: anyWho, oid: anyOid })),
  weighed(
    8,
    fc.record({
      kind: fc.constant("push"),
      owner: anyWho,
      pick: anyPick,
      part: fc.oneof(fc.constant("whole" as const), fc.subarray(NAMES, { minLength: 1 })),
    }),
  ),
  weighed(1, fc.record({ kind: fc.constant("deliver"), owner: anyWho, oids: fc.array(anyOid, { maxLength: 3 }) })),
  weighed(1, fc.record({ kind: fc.constant("erase"), pick: anyPick })),
  weighed(1, fc.record({ kind: fc.constant("wait"), minutes: fc.constantFrom(1, 31, 31, DAYS_3, 60 * 24 * 91) })),
);

const anyStep: fc.Arbitrary<Step> = fc.record({
  act: anyAct,
  skew: fc.integer({ min: -3, max: 3 }),
  diesAfter: fc.oneof(weighed(4, fc.constant(undefined)), weighed(1, fc.nat({ max: 6 }))),
  fails: fc.oneof(weighed(6, fc.constant(undefined)), weighed(1, anyWho)),
});

/** Everybody announces first, as most projects begin; then anything happens. */
export const anyHistory: fc.Arbitrary<readonly Step[]> = fc
  .tuple(fc.subarray([alice, bob, carol, mallory]), fc.array(anyStep, { minLength: 1, maxLength: 40, size: "max" }))
  .map(([people, rest]) => [
    ...people.map(
      (who): Step => ({ act: { kind: "announce", who, lists: [alice, bob] }, skew: 0, diesAfter: undefined, fails: undefined }),
    ),
    ...rest,
    // Whatever it came to must stand when nobody does anything any more.
    { act: { kind: "wait", minutes: DAYS_3 }, skew: 0, diesAfter: undefined, fails: undefined },
  ]);
