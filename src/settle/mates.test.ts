import { expect, it } from "vitest";
import type { PublicKey } from "../nostr/event.ts";
import { matesIn } from "./mates.ts";

const [a, b, c, d] = ["a", "b", "c", "d"].map((text) => text.repeat(64)) as [PublicKey, PublicKey, PublicKey, PublicKey];
const view = (owner: PublicKey, ...confirmed: readonly PublicKey[]) => ({
  owner,
  maintainers: { confirmed: new Set(confirmed), restsOn: () => new Set<PublicKey>() },
});

it("objects are shared between owners of one set that holds them all (grasp.md 7.13)", () => {
  const matesOf = matesIn([view(a, a, b), view(b, b, a), view(c, a, b), view(d, d, a, b)]);
  expect(matesOf(a)).toEqual([b]);
  expect(matesOf(b)).toEqual([a]);
  expect(matesOf(c), "it follows that set and is not in it").toEqual([]);
  expect(matesOf(d), "a larger set is another").toEqual([]);
});

it("where nobody is confirmed nothing is shared", () => {
  const matesOf = matesIn([view(a), view(b)]);
  expect([matesOf(a), matesOf(b), matesOf(c)]).toEqual([[], [], []]);
});
