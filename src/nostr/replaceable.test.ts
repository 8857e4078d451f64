import { expect, test } from "vitest";
import { fakeEvent, fakeId, fakeKey } from "../../test/kit/arbitrary/fake-event.ts";
import { unixSeconds } from "../base/time.ts";
import type { EventId } from "./event.ts";
import { addressOf, type Retention, retentionOf, wins } from "./replaceable.ts";

test.each<[number, Retention]>([
  [0, "replaceable"],
  [1, "regular"],
  [3, "replaceable"],
  [5, "regular"],
  [9_999, "regular"],
  [10_000, "replaceable"],
  [19_999, "replaceable"],
  [20_000, "ephemeral"],
  [29_999, "ephemeral"],
  [30_000, "addressable"],
  [39_999, "addressable"],
  [40_000, "regular"],
])("NIP-01: kind %d is %s", (kind, retention) => {
  expect(retentionOf(kind)).toBe(retention);
});

test("NIP-01: an address is kind and author, and d where the kind is addressable", () => {
  const pubkey = fakeKey("alice");
  expect(addressOf(fakeEvent({ kind: 1, tags: [["d", "x"]] }))).toBeUndefined();
  expect(addressOf(fakeEvent({ kind: 10_002, tags: [["d", "x"]] }))).toEqual({ kind: 10_002, pubkey, d: "" });
  expect(
    addressOf(
      fakeEvent({
        kind: 30_617,
        tags: [
          ["d", "x"],
          ["d", "y"],
        ],
      }),
    ),
  ).toEqual({ kind: 30_617, pubkey, d: "x" });
  for (const tags of [[], [["d"]]]) expect(addressOf(fakeEvent({ kind: 30_617, tags }))).toEqual({ kind: 30_617, pubkey, d: "" });
});

test("grasp.md 3.2: the newer wins, ties go to the lower id, nothing beats itself", () => {
  const at = (time: number, id: EventId) => ({ created_at: unixSeconds(time), id });
  const [low, high] = [fakeId("a"), fakeId("b")].toSorted() as [EventId, EventId];
  expect(wins(at(2, high), at(1, low))).toBe(true);
  expect(wins(at(1, low), at(2, high))).toBe(false);
  expect(wins(at(1, low), at(1, high))).toBe(true);
  expect(wins(at(1, high), at(1, low))).toBe(false);
  expect(wins(at(1, low), at(1, low))).toBe(false);
});
