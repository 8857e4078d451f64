import { expect, test } from "vitest";
import { fakeEvent, fakeId, fakeKey } from "../../test/kit/arbitrary/fake-event.ts";
import { deletionTargets, isDeletable } from "./deletion.ts";

test("grasp.md 11.1: ids and own addresses, others ignored, every e and a tag counted", () => {
  const [alice, bob] = [fakeKey("alice"), fakeKey("bob")];
  const event = fakeEvent({
    kind: 5,
    pubkey: alice,
    tags: [
      ["e", fakeId(1)],
      ["e", fakeId(1), "wss://relay.example"],
      ["e", "short"],
      ["e"],
      ["a", `30617:${alice}:a:b`],
      ["a", `30617:${alice}:a:b`],
      ["a", `30617:${bob}:a`],
      ["a", `1:${alice}:x`],
      ["E", fakeId(2)],
      ["k", "30617"],
    ],
  });
  expect(deletionTargets(event)).toEqual({ ids: [fakeId(1)], addresses: [{ kind: 30_617, pubkey: alice, d: "a:b" }], count: 8 });
});

test("NIP-09, NIP-62: neither a deletion nor a vanish can be deleted", () => {
  expect([1, 5, 62, 30_617].map(isDeletable)).toEqual([true, false, false, true]);
});
