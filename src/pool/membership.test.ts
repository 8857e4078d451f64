import { describe, expect, test } from "vitest";
import { type Instant, instant } from "../base/time.ts";
import type { Identifier } from "../grasp/identifier.ts";
import type { PublicKey } from "../nostr/event.ts";
import type { PoolId, RepositoryKey } from "./layout.ts";
import { copiedHome, copyDueAt, decideMoves, type Housed, linesOf, moved, shareKey, unreadPools } from "./membership.ts";

const keyOf = (name: string): PublicKey => name.charCodeAt(0).toString(16).repeat(32) as PublicKey;
const pool = (name: string): PoolId => name.repeat(32).slice(0, 32) as PoolId;

/** `alice` in `p`, with the set `alice, bob`. */
function housed(who: string, home: string, set: readonly string[], change: Partial<Housed> = {}): Housed {
  return {
    repository: `${who}-repository` as RepositoryKey,
    owner: keyOf(who),
    identifier: "x" as Identifier,
    format: "sha1",
    confirmed: new Set(set.map(keyOf)),
    apart: false,
    home: pool(home),
    borrows: [],
    copiedOutAt: undefined,
    ...change,
  };
}

const bytes = new Map([
  [pool("a"), 10],
  [pool("b"), 20],
]);
const moves = (...all: readonly Housed[]): readonly string[] =>
  decideMoves(all, bytes).map(
    ({ repository, why, to }) => `${repository} ${why} ${to.kind === "pool" ? to.pool[0] : `fresh ${to.number}`}`,
  );

const both = ["alice", "bob"];

describe("who shares a pool (grasp.md 7.13)", () => {
  test.each<[string, Housed, Housed, boolean]>([
    ["equal sets that hold both owners", housed("alice", "a", both), housed("bob", "b", both), true],
    ["the order of a set does not matter", housed("alice", "a", both), housed("bob", "b", both.toReversed()), true],
    ["mallory lists everybody and is listed by nobody", housed("alice", "a", both), housed("mallory", "b", ["mallory"]), false],
    ["mallory's set, were it equal, does not hold her", housed("alice", "a", both), housed("mallory", "b", both), false],
    ["one set is larger", housed("alice", "a", both), housed("bob", "b", [...both, "carol"]), false],
    ["an empty set shares with nobody", housed("alice", "a", []), housed("bob", "b", []), false],
    ["private, blocked, deleted", housed("alice", "a", both), housed("bob", "b", both, { apart: true }), false],
    ["another object format", housed("alice", "a", both), housed("bob", "b", both, { format: "sha256" }), false],
    ["another identifier", housed("alice", "a", both), housed("bob", "b", both, { identifier: "y" as Identifier }), false],
  ])("%s", (_, a, b, expected) => {
    const shares = shareKey(a) !== undefined && shareKey(a) === shareKey(b);
    expect(shares).toBe(expected);
  });
});

describe("moves (grasp.md 7.13)", () => {
  test("of two pools the smaller moves; when all are home nobody does", () => {
    expect(moves(housed("alice", "a", both), housed("bob", "b", both))).toEqual(["alice-repository joining b"]);
    expect(moves(housed("alice", "b", both), housed("bob", "b", both))).toEqual([]);
    expect(moves(housed("alice", "a", ["alice"]))).toEqual([]);
  });

  test("whoever no longer shares leaves; the many stay", () => {
    const abc = ["alice", "bob", "carol"];
    const [alice, bob] = [housed("alice", "a", both), housed("bob", "a", both)];
    expect(moves(alice, bob, housed("carol", "a", ["carol"]))).toEqual(["carol-repository leaving fresh 0"]);
    expect(moves(housed("alice", "a", abc), housed("bob", "a", ["bob"]), housed("carol", "a", ["carol"]))).toEqual([
      "bob-repository leaving fresh 0",
      "carol-repository leaving fresh 1",
    ]);
  });

  test("who leaves together goes to one new pool, or to the one their project has elsewhere", () => {
    const cd = ["carol", "dave"];
    const stay = [
      housed("alice", "a", ["alice", "bob", "erin"]),
      housed("bob", "a", ["alice", "bob", "erin"]),
      housed("erin", "a", ["alice", "bob", "erin"]),
    ];
    expect(moves(...stay, housed("carol", "a", cd), housed("dave", "a", cd))).toEqual([
      "carol-repository leaving fresh 0",
      "dave-repository leaving fresh 0",
    ]);
    expect(moves(...stay, housed("carol", "a", cd), housed("dave", "b", cd))).toEqual(["carol-repository leaving b"]);
  });

  test("who stands apart leaves what others read, by their old lines too, and else stays where it is", () => {
    const bob = housed("bob", "a", both, { apart: true });
    expect(moves(bob)).toEqual([]);
    expect(moves(housed("alice", "a", both), bob)).toEqual(["bob-repository leaving fresh 0"]);
    const gone = housed("alice", "b", ["alice"], { borrows: [{ pool: pool("a"), why: "leaving" }] });
    expect(moves(gone, bob)).toEqual(["bob-repository leaving fresh 0"]);
  });

  test("who has three old lines neither joins nor is joined, but still leaves", () => {
    const borrows = ["c", "d", "e"].map((name) => ({ pool: pool(name), why: "leaving" as const }));
    expect(moves(housed("alice", "a", both, { borrows }), housed("bob", "b", both))).toEqual([]);
    expect(moves(housed("alice", "a", both), housed("bob", "b", both, { borrows }))).toEqual([]);
    expect(moves(housed("alice", "a", ["alice"]), housed("bob", "a", ["bob"], { borrows }))).toEqual(["bob-repository leaving fresh 0"]);
  });
});

describe("lines", () => {
  const now = instant(1_000_000);
  const day = 24 * 60 * 60 * 1000;
  const later = (ms: number): Instant => instant(now + ms);
  const alice = housed("alice", "a", both);

  test("the new line is added first and the old one goes only when everything was copied", () => {
    const joined = moved(alice, pool("b"), "joining");
    expect(linesOf(joined)).toEqual([pool("b"), pool("a")]);
    expect(copyDueAt(joined, now)).toBe(now);
    const done = copiedHome(joined, joined, now);
    expect(linesOf(done)).toEqual([pool("b")]);
    expect(done.copiedOutAt).toBeUndefined();
    expect(copyDueAt(done, now)).toBeUndefined();
    expect(moved(alice, pool("a"), "joining")).toBe(alice);
  });

  test("leaving is copied at most once a day", () => {
    const left = moved(alice, pool("c"), "leaving");
    expect(copyDueAt(left, now)).toBe(now);
    const done = copiedHome(left, left, now);
    expect(done).toMatchObject({ borrows: [], copiedOutAt: now });
    const again = moved(moved(done, pool("b"), "joining"), pool("d"), "leaving");
    expect(copyDueAt(again, later(1))).toBe(later(day));
    expect(copyDueAt(again, later(day + 5))).toBe(later(day + 5));
    expect(copyDueAt(moved(done, pool("b"), "joining"), later(1))).toBe(later(1));
  });

  test("coming back before it was copied: no line twice", () => {
    const back = moved(moved(alice, pool("c"), "leaving"), pool("a"), "joining");
    expect(linesOf(back)).toEqual([pool("a"), pool("c")]);
  });

  test("a copy that a move overtook drops no line", () => {
    const left = moved(alice, pool("c"), "leaving");
    const meanwhile = moved(left, pool("b"), "joining");
    expect(copiedHome(meanwhile, left, now)).toBe(meanwhile);
  });

  test("a pool that nobody has a line to may go", () => {
    const left = moved(alice, pool("c"), "leaving");
    expect(unreadPools([pool("a"), pool("b"), pool("c")], [left])).toEqual([pool("b")]);
  });
});
