import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fakeEvent, fakeKey } from "../../test/kit/arbitrary/fake-event.ts";
import { runs } from "../../test/kit/arbitrary/runs.ts";
import type { PublicKey } from "../nostr/event.ts";
import { type Announcement, readAnnouncement } from "./announcement.ts";
import { type MaintainerPolicy, maintainersOf, newestByAuthor } from "./maintainers.ts";
import { memberships } from "./membership.ts";
import { type Standing, standingOf } from "./standing.ts";

const [alice, bob, carol, mallory] = [fakeKey("alice"), fakeKey("bob"), fakeKey("carol"), fakeKey("mallory")];
const by = (pubkey: PublicKey, ...tags: string[][]) =>
  readAnnouncement(fakeEvent({ kind: 30_617, pubkey, tags: [["d", "hold"], ...tags] })) as Announcement;

describe("grasp.md 4.5, 6.4: a state counts when its author is confirmed or invited for some owner", () => {
  test.each<[what: string, list: Announcement[], key: PublicKey, standing: Standing]>([
    ["an owner", [by(alice)], alice, "confirmed"],
    [
      "an owner whose lead is somewhere else, and who is wanted there",
      [by(alice, ["M", bob]), by(bob, ["M", bob], ["m", alice])],
      alice,
      "confirmed",
    ],
    ["one who is not wanted there", [by(alice, ["M", bob]), by(bob, ["M", bob])], alice, "stranger"],
    ["one who waits for its lead", [by(alice, ["M", bob])], bob, "invited"],
    ["listed, no announcement", [by(alice, ["maintainers", bob])], bob, "invited"],
    ["listed and answered", [by(alice, ["maintainers", bob]), by(bob, ["M", alice])], bob, "confirmed"],
    ["listed and answered by a lead", [by(alice, ["M", alice], ["m", bob]), by(bob, ["M", alice], ["m", bob])], bob, "confirmed"],
    ["a moderator", [by(alice, ["o", bob])], bob, "stranger"],
    ["nobody", [by(alice)], mallory, "stranger"],
    ["one who left", [by(alice, ["maintainers", bob]), by(bob, ["o", bob])], bob, "invited"],
    [
      "confirmed only in a third one's view",
      [by(carol, ["M", alice]), by(alice, ["M", alice], ["m", bob]), by(bob, ["M", carol], ["m", alice])],
      bob,
      "confirmed",
    ],
    ["without any announcement", [], alice, "stranger"],
  ])("%s", (_, list, key, standing) => expect(standingOf(newestByAuthor(list), key, "reciprocal")).toBe(standing));
});

const KEYS = Array.from({ length: 6 }, (_, n) => fakeKey(n));
const key = fc.constantFrom(...KEYS);
const tag = fc.oneof(
  fc.tuple(fc.constantFrom("M", "m", "m", "o"), key).map(([role, who]) => [role, who]),
  fc.array(key, { maxLength: 4 }).map((listed) => ["maintainers", ...listed]),
);
const lists = fc.array(
  fc.tuple(key, fc.array(tag, { maxLength: 4 })).map(([pubkey, tags]) => by(pubkey, ...tags)),
  { maxLength: 8 },
);
const policies = fc.constantFrom<MaintainerPolicy>("reciprocal", "recursive", "owner-only");

test("asking about the owners that lists lead from is asking about all", () => {
  fc.assert(
    fc.property(lists, key, policies, (list, who, policy) => {
      const newest = newestByAuthor(list);
      const sets = [...newest.keys()].map((owner) => maintainersOf(newest, owner, policy));
      const best = sets.some(({ confirmed }) => confirmed.has(who))
        ? "confirmed"
        : sets.some(({ invited }) => invited.has(who))
          ? "invited"
          : "stranger";
      expect(standingOf(newest, who, policy)).toBe(best);
    }),
    runs(1_000),
  );
});

test("what is grown once for many owners is what each would have got alone", () => {
  fc.assert(
    fc.property(lists, policies, (list, policy) => {
      const newest = newestByAuthor(list);
      const membership = memberships(newest, policy);
      for (const owner of KEYS) {
        const { confirmed, invited } = maintainersOf(newest, owner, policy);
        expect(membership(owner).confirmed).toEqual(confirmed);
        expect(membership(owner).invited).toEqual(invited);
      }
    }),
    runs(1_000),
  );
});

test("one who left ties nobody together", () => {
  const left = by(carol, ["o", carol], ["m", alice], ["m", bob]);
  const newest = newestByAuthor([by(alice, ["maintainers", carol]), left, by(bob, ["maintainers", carol])]);
  const membership = memberships(newest, "reciprocal");
  expect([...membership(alice).confirmed, ...membership(bob).confirmed]).toEqual([alice, bob]);
});
