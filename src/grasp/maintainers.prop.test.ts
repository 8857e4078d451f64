import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fakeEvent, fakeKey } from "../../test/kit/arbitrary/fake-event.ts";
import { runs } from "../../test/kit/arbitrary/runs.ts";
import type { PublicKey } from "../nostr/event.ts";
import { type Announcement, readAnnouncement } from "./announcement.ts";
import { type MaintainerPolicy, type MaintainerSet, maintainerSet, newestByAuthor } from "./maintainers.ts";

const KEYS = Array.from({ length: 7 }, (_, n) => fakeKey(n));
const STRANGER = fakeKey("stranger");
const POLICIES: readonly MaintainerPolicy[] = ["reciprocal", "recursive", "owner-only"];

const key = fc.constantFrom(...KEYS);
const boundaries = fc.constantFrom<string[]>([], [], [], ["1"], ["1", "2"], ["1", "defer"], ["1", "2", "3"], ["x"]);
const roleTag = fc.tuple(fc.constantFrom("M", "m", "m", "o"), key, boundaries).map(([role, who, times]) => [role, who, ...times]);
const plainTag = fc.array(key, { maxLength: 4 }).map((keys) => ["maintainers", ...keys]);
const tags = fc.oneof(
  fc.array(plainTag, { maxLength: 2 }),
  fc.array(fc.oneof({ weight: 4, arbitrary: roleTag }, { weight: 1, arbitrary: plainTag }), { maxLength: 5 }),
);
const by = (author: fc.Arbitrary<PublicKey>) =>
  fc.tuple(author, tags, fc.integer({ min: 1, max: 4 })).map(([pubkey, more, created_at]) => {
    const event = fakeEvent({ kind: 30_617, pubkey, created_at, tags: [["d", "hold"], ...more] });
    return readAnnouncement(event) as Announcement;
  });
const announcements = fc.array(by(key), { maxLength: 14 });
const policy = fc.constantFrom(...POLICIES);

const plain = (set: MaintainerSet) => ({
  confirmed: [...set.confirmed].toSorted(),
  invited: [...set.invited].toSorted(),
  restsOn: [...set.confirmed].toSorted().map((one) => [...set.restsOn(one)].toSorted()),
});

/** grasp.md 4.4 and 4.5 as they are written, without a thought for speed. */
function slowReciprocal(list: readonly Announcement[], owner: PublicKey): PublicKey[] {
  const newest = newestByAuthor(list);
  let root = owner;
  for (const walked = [owner]; ; walked.push(root)) {
    const roles = newest.get(root)?.roles;
    if (roles === undefined || roles.leads.size > 1) return [];
    if (roles.leads.size === 0) {
      if (root !== owner || !roles.authorActive) return [];
      break;
    }
    const [lead] = roles.leads;
    if (lead === root) break;
    if (lead === undefined || walked.includes(lead)) return [];
    root = lead;
  }
  const confirmed = new Set([root]);
  for (let size = 0; size !== confirmed.size; ) {
    size = confirmed.size;
    for (const candidate of KEYS) {
      const own = newest.get(candidate);
      const isListed = [...confirmed].some((one) => newest.get(one)?.roles.listed.has(candidate) === true);
      if (isListed && own?.roles.authorActive === true && [...confirmed].some((one) => own.roles.listed.has(one))) confirmed.add(candidate);
    }
  }
  return [...confirmed].toSorted();
}

describe("maintainer sets", () => {
  test("are what 4.4 and 4.5 say, word by word", () => {
    fc.assert(
      fc.property(announcements, key, (list, owner) => {
        expect([...maintainerSet(list, owner, "reciprocal").confirmed].toSorted()).toEqual(slowReciprocal(list, owner));
      }),
      runs(2_000),
    );
  });

  test("do not depend on the order of arrival, grounds included", () => {
    fc.assert(
      fc.property(
        announcements.chain((list) => fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length }))),
        key,
        policy,
        ([list, shuffled], owner, how) => {
          expect(plain(maintainerSet(shuffled, owner, how))).toEqual(plain(maintainerSet(list, owner, how)));
        },
      ),
      runs(500),
    );
  });

  test("do not change when a stranger, listed by nobody, announces the same name", () => {
    fc.assert(
      fc.property(announcements, by(fc.constant(STRANGER)), key, policy, (list, intruder, owner, how) => {
        expect(plain(maintainerSet([...list, intruder], owner, how))).toEqual(plain(maintainerSet(list, owner, how)));
      }),
      runs(500),
    );
  });

  test("never hold an author who left, and nobody is both confirmed and invited", () => {
    fc.assert(
      fc.property(announcements, key, policy, (list, owner, how) => {
        const { confirmed, invited } = maintainerSet(list, owner, how);
        const newest = newestByAuthor(list);
        for (const one of confirmed) {
          expect(newest.get(one)?.roles.authorActive).not.toBe(false);
          expect(invited).not.toContain(one);
        }
      }),
      runs(500),
    );
  });

  test("follow from the announcements they rest on alone (4.7)", () => {
    fc.assert(
      fc.property(announcements, key, policy, (list, owner, how) => {
        const set = maintainerSet(list, owner, how);
        const newest = newestByAuthor(list);
        for (const one of set.confirmed) {
          const behind = set.restsOn(one);
          const kept = [...newest.values()].filter(({ owner: author }) => behind.has(author));
          expect(kept.length).toBe(behind.size);
          expect(maintainerSet(kept, owner, how).confirmed).toContain(one);
        }
      }),
      runs(500),
    );
  });

  test("reciprocal lies within recursive where nobody has left", () => {
    fc.assert(
      fc.property(announcements, key, (list, owner) => {
        const present = list.filter(({ roles }) => roles.authorActive);
        const recursive = maintainerSet(present, owner, "recursive").confirmed;
        for (const one of maintainerSet(present, owner, "reciprocal").confirmed) expect(recursive).toContain(one);
      }),
      runs(500),
    );
  });
});
