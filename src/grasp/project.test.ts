import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fakeEvent, fakeKey } from "../../test/kit/arbitrary/fake-event.ts";
import { runs } from "../../test/kit/arbitrary/runs.ts";
import type { PublicKey } from "../nostr/event.ts";
import { type Announcement, readAnnouncement } from "./announcement.ts";
import { type MaintainerPolicy, maintainersOf, newestByAuthor } from "./maintainers.ts";
import { mayShareObjects, projectsOf } from "./project.ts";

const NAMES = ["alice", "bob", "carol", "dave", "mallory"];
const nameOf = new Map<PublicKey, string>(NAMES.map((name) => [fakeKey(name), name]));
const names = (keys: Iterable<PublicKey>) =>
  [...keys]
    .map((key) => nameOf.get(key) ?? key)
    .toSorted()
    .join(" ");

const announced = (author: string, ...tags: string[][]) =>
  readAnnouncement(fakeEvent({ kind: 30_617, pubkey: fakeKey(author), tags: [["d", "hold"], ...tags] })) as Announcement;
const plain = (author: string, ...listed: string[]) => announced(author, ["maintainers", ...listed.map(fakeKey)]);

/** `who is confirmed: whose repositories < who follows` */
const projects = (...list: Announcement[]) =>
  projectsOf(newestByAuthor(list), "reciprocal")
    .map(({ confirmed, members, followers }) => `${names(confirmed)}: ${names(members)} < ${names(followers)}`)
    .toSorted();

describe("grasp.md §1: a project is an identifier and one confirmed set", () => {
  test("maintainers of one project are together", () =>
    expect(projects(plain("alice", "bob"), plain("bob", "alice"))).toEqual(["alice bob: alice bob < "]));

  test("strangers with the same identifier are other projects", () =>
    expect(projects(plain("alice"), plain("bob"), plain("mallory", "alice", "bob"))).toEqual([
      "alice: alice < ",
      "bob: bob < ",
      "mallory: mallory < ",
    ]));

  test("an invitation that was not accepted joins nothing", () =>
    expect(projects(plain("alice", "bob"), plain("bob"))).toEqual(["alice: alice < ", "bob: bob < "]));

  test("who hands a repository over without being wanted follows, and shares nothing", () =>
    expect(projects(announced("alice", ["M", fakeKey("alice")]), announced("mallory", ["M", fakeKey("alice")]))).toEqual([
      "alice: alice < mallory",
    ]));

  test("where nobody is confirmed, each stands alone", () =>
    expect(projects(announced("carol", ["M", fakeKey("dave")]), announced("dave", ["M", fakeKey("carol")]))).toEqual([
      ":  < carol",
      ":  < dave",
    ]));

  test("each owner is in exactly one project, and members may share objects with each other only (7.13)", () => {
    const keys = NAMES.map(fakeKey);
    const key = fc.constantFrom(...keys);
    const tag = fc.oneof(
      fc.tuple(fc.constantFrom("M", "m", "o"), key).map(([role, who]) => [role, who]),
      fc.array(key, { maxLength: 4 }).map((listed) => ["maintainers", ...listed]),
    );
    const one = fc
      .tuple(key, fc.array(tag, { maxLength: 3 }))
      .map(([pubkey, tags]) => readAnnouncement(fakeEvent({ kind: 30_617, pubkey, tags: [["d", "hold"], ...tags] })) as Announcement);
    fc.assert(
      fc.property(
        fc.array(one, { maxLength: 8 }),
        fc.constantFrom<MaintainerPolicy>("reciprocal", "recursive", "owner-only"),
        (list, policy) => {
          const newest = newestByAuthor(list);
          const found = projectsOf(newest, policy);
          const owners = found.flatMap(({ members, followers }) => [...members, ...followers]);
          expect(owners.toSorted()).toEqual([...newest.keys()].toSorted());
          const view = (owner: PublicKey) => ({ owner, identifier: "hold", maintainers: maintainersOf(newest, owner, policy) });
          for (const { confirmed, members, followers } of found) {
            for (const owner of [...members, ...followers]) expect(confirmed).toEqual(view(owner).maintainers.confirmed);
          }
          for (const a of owners) {
            for (const b of owners) {
              const isTogether = found.some(({ members }) => members.includes(a) && members.includes(b));
              expect(mayShareObjects(view(a), view(b))).toBe(isTogether);
            }
          }
        },
      ),
      runs(1_000),
    );
  });
});

describe("grasp.md 7.13: sharing a pool", () => {
  const [alice, bob, mallory] = [fakeKey("alice"), fakeKey("bob"), fakeKey("mallory")];
  const view = (owner: PublicKey, confirmed: PublicKey[], identifier = "hold") => ({
    owner,
    identifier,
    maintainers: { confirmed: new Set(confirmed) },
  });
  test.each([
    ["equal sets that hold both", view(alice, [alice, bob]), view(bob, [bob, alice]), true],
    ["a set that holds more", view(alice, [alice, bob]), view(bob, [alice, bob, mallory]), false],
    ["as many, other keys", view(alice, [alice, bob]), view(bob, [bob, mallory]), false],
    ["an equal set without its owner", view(alice, [alice]), view(mallory, [alice]), false],
    ["empty sets", view(alice, []), view(bob, []), false],
    ["another identifier", view(alice, [alice, bob]), view(bob, [alice, bob], "other"), false],
  ])("%s", (_, a, b, shared) => {
    expect(mayShareObjects(a, b)).toBe(shared);
    expect(mayShareObjects(b, a)).toBe(shared);
  });
});
