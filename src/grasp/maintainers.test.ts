import { describe, expect, test } from "vitest";
import { fakeEvent, fakeKey } from "../../test/kit/arbitrary/fake-event.ts";
import type { EventId, PublicKey } from "../nostr/event.ts";
import { type Announcement, readAnnouncement } from "./announcement.ts";
import { type MaintainerPolicy, maintainerSet } from "./maintainers.ts";
import { LEAD_STEPS_MAX } from "./root.ts";

const NAMES = ["alice", "bob", "carol", "dave", "erin", "mallory"] as const;
type Name = (typeof NAMES)[number];
const nameOf = new Map(NAMES.map((name) => [fakeKey(name), name]));

/** `alice: M alice, m bob 1 2; o carol` in words: the author, then its tags. A plain list is written `+bob +carol`. */
function announcement(text: string, more: { at?: number; id?: string; d?: string } = {}): Announcement {
  const [author = "", rest = ""] = text.split(":");
  const tags = [["d", more.d ?? "hold"]];
  const plain: string[] = [];
  for (const part of rest.split(",").map((piece) => piece.trim())) {
    if (part.startsWith("+")) plain.push(fakeKey(part.slice(1)));
    else if (part !== "") {
      const [role = "", name = "", ...boundaries] = part.split(" ");
      tags.push([role, ...(name === "" ? [] : [name === "?" ? "no key" : fakeKey(name)]), ...boundaries]);
    }
  }
  if (plain.length > 0) tags.push(["maintainers", ...plain]);
  const id = more.id === undefined ? {} : { id: more.id.padEnd(64, "0") as EventId };
  const event = fakeEvent({ kind: 30_617, pubkey: fakeKey(author.trim()), created_at: more.at ?? 100, tags, ...id });
  return readAnnouncement(event) as Announcement;
}

const names = (keys: Iterable<PublicKey>) =>
  [...keys]
    .map((key) => nameOf.get(key) ?? key)
    .toSorted()
    .join(" ");

function view(owner: Name, lines: readonly (string | Announcement)[], policy: MaintainerPolicy = "reciprocal") {
  const read = lines.map((line) => (typeof line === "string" ? announcement(line) : line));
  const set = maintainerSet(read, fakeKey(owner), policy);
  return {
    confirmed: names(set.confirmed),
    invited: names(set.invited),
    restsOn: (name: Name) => names(set.restsOn(fakeKey(name))),
  };
}

type Row = [what: string, owner: Name, lines: string[], confirmed: string, invited: string];

describe("grasp.md 4.4: the root of a view", () => {
  test.each<Row>([
    ["an owner alone", "alice", ["alice:"], "alice", ""],
    ["no announcement", "alice", ["bob:"], "", ""],
    ["a self-M ends", "alice", ["alice: M alice"], "alice", ""],
    ["one M of another is followed", "alice", ["alice: M bob", "bob: M bob"], "bob", ""],
    ["and on from there", "alice", ["alice: M bob", "bob: M carol", "carol: M carol"], "carol", ""],
    ["no M ends at the start only", "alice", ["alice: M bob", "bob: m bob"], "", "bob"],
    ["a plain list is no lead either", "alice", ["alice: M bob", "bob: +alice"], "", "alice bob"],
    ["a missing announcement", "alice", ["alice: M bob"], "", "bob"],
    ["one missing further on", "alice", ["alice: M bob", "bob: M carol, m bob"], "", "bob carol"],
    ["two Ms", "alice", ["alice: M alice, M bob", "bob: M bob"], "", "alice bob"],
    ["two Ms further on", "alice", ["alice: M bob", "bob: M bob, M carol", "carol: M carol"], "", "bob carol"],
    ["two of others", "alice", ["alice: M bob, M carol", "bob: M bob", "carol: M carol"], "", "bob carol"],
    ["the same M twice is one", "alice", ["alice: M bob, M bob 5", "bob: M bob"], "bob", ""],
    ["an ended M is none", "alice", ["alice: M alice, M bob 1 2", "bob: M bob"], "alice", ""],
    ["a malformed M is none", "alice", ["alice: M alice, M bob x, M ?, M", "bob: M bob"], "alice", ""],
    ["a loop of two", "alice", ["alice: M bob", "bob: M alice"], "", "alice bob"],
    ["a loop further on", "alice", ["alice: M bob", "bob: M carol", "carol: M bob"], "", "bob carol"],
    ["a followed key that has left but hands on", "alice", ["alice: M bob", "bob: o bob, M carol", "carol: M carol"], "carol", ""],
    ["an owner who has left and names no lead", "alice", ["alice: o alice, m bob", "bob: +alice"], "", "bob"],
    ["an owner who has left and handed over", "alice", ["alice: m alice 1 2, M bob", "bob: M bob"], "bob", ""],
    ["moderators lead nobody", "alice", ["alice: o bob", "bob: M bob"], "alice", ""],
  ])("%s", (_, owner, lines, confirmed, invited) => expect(view(owner, lines)).toMatchObject({ confirmed, invited }));

  test("a way that is too long leads nowhere", () => {
    const chain = (steps: number) =>
      Array.from({ length: steps + 1 }, (_, n) =>
        readAnnouncement(
          fakeEvent({
            kind: 30_617,
            pubkey: fakeKey(n),
            tags: [
              ["d", "hold"],
              ["M", fakeKey(Math.min(n + 1, steps))],
            ],
          }),
        ),
      ) as Announcement[];
    expect(maintainerSet(chain(LEAD_STEPS_MAX), fakeKey(0), "reciprocal").confirmed).toEqual(new Set([fakeKey(LEAD_STEPS_MAX)]));
    expect(maintainerSet(chain(LEAD_STEPS_MAX + 1), fakeKey(0), "reciprocal").confirmed.size).toBe(0);
  });
});

describe("grasp.md 4.5: confirmed is the fixpoint from the root, invited is listed and not confirmed", () => {
  test.each<Row>([
    ["invited, no announcement", "alice", ["alice: +bob"], "alice", "bob"],
    ["invited, an unrelated repository of the same name", "alice", ["alice: +bob", "bob:"], "alice", "bob"],
    ["accepted", "alice", ["alice: +bob", "bob: +alice"], "alice bob", ""],
    ["accepted with roles on both sides", "alice", ["alice: M alice, m bob", "bob: M alice, m bob"], "alice bob", ""],
    ["one side with roles, one without", "alice", ["alice: m bob", "bob: +alice"], "alice bob", ""],
    ["accepted and left again", "alice", ["alice: +bob", "bob: m alice, m bob 1 2"], "alice", "bob"],
    ["accepted, moderator only by its own word", "alice", ["alice: +bob", "bob: m alice, o bob"], "alice", "bob"],
    ["accepted, then dropped by the owner", "alice", ["alice: M alice, m bob 1 2", "bob: +alice"], "alice", ""],
    ["deferred by the owner", "alice", ["alice: M alice, m bob 1 defer", "bob: +alice"], "alice", ""],
    ["a moderator is neither", "alice", ["alice: M alice, o bob", "bob: +alice"], "alice", ""],
    ["a stranger who lists the owner", "alice", ["alice: +bob", "mallory: +alice"], "alice", "bob"],
    ["answering any confirmed key is enough", "alice", ["alice: +bob, +carol", "bob: +alice", "carol: +bob"], "alice bob carol", ""],
    ["not one that is only invited", "alice", ["alice: +bob, +carol", "bob:", "carol: +bob"], "alice", "bob carol"],
    ["answering itself is not enough", "alice", ["alice: +bob", "bob: M bob"], "alice", "bob"],
    ["two invited keys that list each other", "alice", ["alice: +bob, +carol", "bob: +carol", "carol: +bob"], "alice", "bob carol"],
    ["a confirmed key invites further", "alice", ["alice: +bob", "bob: +alice, +carol", "carol: +bob"], "alice bob carol", ""],
    ["an invited one does not", "alice", ["alice: +bob", "bob: +carol", "carol: +bob"], "alice", "bob"],
    ["a long way round", "alice", ["alice: +bob", "bob: +alice, +carol", "carol: +bob, +dave", "dave: +alice"], "alice bob carol dave", ""],
    ["a circle ends", "alice", ["alice: +bob", "bob: +carol, +alice", "carol: +alice, +bob"], "alice bob carol", ""],
    [
      "confirmed late, by one who joined later",
      "alice",
      ["alice: +bob, +carol", "bob: +alice", "carol: +dave, +bob"],
      "alice bob carol",
      "dave",
    ],
  ])("%s", (_, owner, lines, confirmed, invited) => expect(view(owner, lines)).toMatchObject({ confirmed, invited }));

  test("a view follows its root, whoever owns it", () => {
    const lines = ["alice: M alice, m bob", "bob: M alice, m bob", "mallory: M alice, m erin", "erin: +mallory"];
    for (const owner of ["alice", "bob", "mallory"] as const)
      expect(view(owner, lines)).toMatchObject({ confirmed: "alice bob", invited: "" });
  });

  test("taking the name of a project gives no word in it", () => {
    const lines = ["alice: +bob", "bob: +alice"];
    const attack = ["mallory: M mallory, m alice, m bob", "erin: m mallory, m alice"];
    expect(view("alice", [...lines, ...attack])).toMatchObject({ confirmed: "alice bob", invited: "" });
    expect(view("mallory", [...lines, ...attack])).toMatchObject({ confirmed: "mallory", invited: "alice bob" });
  });
});

describe("a project's life, in steps (grasp.md 4.2 to 4.5)", () => {
  test("invite, accept, leave, come back", () => {
    const alice = "alice: M alice, m bob";
    const bob = (tags: string, at: number) => announcement(`bob: ${tags}`, { at });
    const steps = [bob("M alice, m bob 10", 10), bob("M alice, m bob 10 20", 20), bob("M alice, m bob 10 20 30", 30)];
    expect([0, 1, 2, 3].map((n) => view("alice", [alice, ...steps.slice(0, n)]).confirmed)).toEqual([
      "alice",
      "alice bob",
      "alice",
      "alice bob",
    ]);
  });

  test("the lead is handed over: both views follow once the new lead says so, and the old lead may stay or go", () => {
    const before = ["alice: M alice, m bob", "bob: M alice, m bob"];
    const handed = announcement("alice: M bob, m alice", { at: 200 });
    const taken = announcement("bob: M bob, m alice", { at: 201 });
    const gone = announcement("alice: M bob, m alice 1 202", { at: 202 });
    // Each points at the other: until bob takes it, nobody leads.
    expect(view("alice", [...before, handed]).confirmed).toBe("");
    expect(view("bob", [...before, handed]).confirmed).toBe("");
    for (const owner of ["alice", "bob"] as const) {
      expect(view(owner, [...before, handed, taken]).confirmed).toBe("alice bob");
      expect(view(owner, [...before, handed, taken, gone])).toMatchObject({ confirmed: "bob", invited: "alice" });
    }
  });
});

describe("grasp.md 4.6: recursive", () => {
  const of = (owner: Name, lines: (string | Announcement)[]) => view(owner, lines, "recursive");
  test.each<Row>([
    ["an owner alone", "alice", ["alice:"], "alice", ""],
    ["no announcement of the owner", "alice", ["bob: +alice"], "", ""],
    ["whoever is listed, without an announcement", "alice", ["alice: +bob"], "alice bob", ""],
    ["and through theirs", "alice", ["alice: +bob", "bob: +carol", "carol: +dave"], "alice bob carol dave", ""],
    ["active M and m", "alice", ["alice: M bob, m carol, m dave 1 2, o erin"], "alice bob carol", ""],
    ["two Ms do not matter", "alice", ["alice: M bob, M carol"], "alice bob carol", ""],
    ["a role tag switches the plain tag off here too (4.2)", "alice", ["alice: m carol, +bob"], "alice carol", ""],
    ["cycles end", "alice", ["alice: +bob", "bob: +carol", "carol: +alice, +bob"], "alice bob carol", ""],
    ["who left is out, and so are its lists (4.3)", "alice", ["alice: +bob", "bob: o bob, m carol"], "alice", "bob"],
    ["an owner who left still says who stays", "alice", ["alice: o alice, m bob", "bob: +alice"], "bob", "alice"],
    ["strangers are out", "alice", ["alice: +bob", "mallory: +alice, +bob"], "alice bob", ""],
  ])("%s", (_, owner, lines, confirmed, invited) => expect(of(owner, lines)).toMatchObject({ confirmed, invited }));
});

test.each<Row>([
  ["the owner", "alice", ["alice: +bob", "bob: +alice"], "alice", ""],
  ["whatever leads", "alice", ["alice: M bob", "bob: M bob"], "alice", ""],
  ["not one who left (4.3)", "alice", ["alice: o alice"], "", ""],
  ["not without an announcement", "alice", ["bob: +alice"], "", ""],
])("grasp.md 4.1, owner-only: %s", (_, owner, lines, confirmed, invited) =>
  expect(view(owner, lines, "owner-only")).toMatchObject({ confirmed, invited }),
);

describe("grasp.md 4.7", () => {
  test("the newest by each author counts, ties go to the lower id", () => {
    const listing = (at: number, id: string) => announcement("alice: +bob", { at, id });
    const alone = (at: number, id: string) => announcement("alice:", { at, id });
    expect(view("alice", ["bob: +alice", listing(1, "1"), alone(2, "2")]).confirmed).toBe("alice");
    expect(view("alice", ["bob: +alice", alone(1, "1"), listing(2, "2")]).confirmed).toBe("alice bob");
    expect(view("alice", ["bob: +alice", alone(1, "1"), listing(1, "2")]).confirmed).toBe("alice");
    expect(view("alice", ["bob: +alice", listing(1, "1"), alone(1, "2")]).confirmed).toBe("alice bob");
  });

  test("what a key's confirmation rests on", () => {
    const lines = [
      "alice: M bob, m alice",
      "bob: M bob, m carol",
      "carol: m bob, m dave",
      "dave: m carol",
      "erin: m bob",
      "mallory: M bob",
    ];
    const { restsOn, confirmed } = view("alice", lines);
    expect(confirmed).toBe("bob carol dave");
    expect(restsOn("bob")).toBe("alice bob");
    expect(restsOn("carol")).toBe("alice bob carol");
    expect(restsOn("dave")).toBe("alice bob carol dave");
    expect(restsOn("mallory")).toBe("");
  });

  test("whom it answered may be another than who invited it", () => {
    const { restsOn } = view("alice", ["alice: +bob, +carol, +dave", "bob: +alice", "carol: +alice", "dave: +carol"]);
    expect(restsOn("dave")).toBe("alice carol dave");
    expect(restsOn("bob")).toBe("alice bob");
  });

  test("recursive: on the lists that lead to it, not on its own", () => {
    const { restsOn } = view("alice", ["alice: +bob", "bob: +carol", "carol: +dave"], "recursive");
    expect([restsOn("alice"), restsOn("bob"), restsOn("carol"), restsOn("dave")]).toEqual([
      "alice",
      "alice",
      "alice bob",
      "alice bob carol",
    ]);
  });

  test("announcements of two identifiers are a mistake of ours", () =>
    expect(() => view("alice", ["alice: +bob", announcement("bob: +alice", { d: "other" })])).toThrow("one identifier"));
});
