import { expect, test } from "vitest";
import type { Oid } from "./oid.ts";
import type { RefName } from "./ref-name.ts";
import { carriesPack, type RefUpdate, updateKind, withUpdates } from "./ref-update.ts";

const A = "a".repeat(40) as Oid;
const B = "b".repeat(40) as Oid;
const main = "refs/heads/main" as RefName;
const next = "refs/heads/next" as RefName;
const update = (from: Oid | undefined, to: Oid | undefined, ref = main): RefUpdate => ({ ref, from, to });

test("grasp.md 7.6: zero to zero is neither a delete nor the same", () => {
  expect([update(undefined, A), update(A, B), update(A, undefined), update(A, A), update(undefined, undefined)].map(updateKind)).toEqual([
    "create",
    "move",
    "delete",
    "same",
    "nothing",
  ]);
});

test("a push that only deletes brings no pack", () => {
  expect(carriesPack([update(A, undefined), update(B, undefined, next)])).toBe(false);
  expect(carriesPack([update(A, undefined), update(undefined, B, next)])).toBe(true);
});

test("updates make a new map", () => {
  const before = new Map([[main, A]]);
  expect(withUpdates(before, [update(A, undefined), update(undefined, B, next)])).toEqual(new Map([[next, B]]));
  expect(before).toEqual(new Map([[main, A]]));
});
