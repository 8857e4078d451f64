import { describe, expect, test } from "vitest";
import { coordinate, fakeEvent, fakeId, fakeKey } from "../../test/kit/arbitrary/fake-event.ts";
import { rulesWith } from "../../test/kit/rules.ts";
import { unixSeconds } from "../base/time.ts";
import type { NostrEvent, VerifiedEvent } from "../nostr/event.ts";
import { encodeNpub } from "../nostr/npub.ts";
import { formatReason } from "../nostr/reason.ts";
import { decide } from "./decide.ts";
import { type Facts, needs, references } from "./facts.ts";
import type { Rules } from "./rules.ts";

const OPEN = rulesWith({ eventBytesMax: 1_000, unusedDeletionsMax: 3 });
const GRASP: Rules = { ...OPEN, acceptance: "grasp" };

const NO_FACTS: Facts = {
  served: false,
  gate: undefined,
  remembered: false,
  incumbent: undefined,
  deletion: undefined,
  related: false,
  participant: false,
  announcements: [],
  holding: undefined,
};

const [alice, bob, carol] = [fakeKey("alice"), fakeKey("bob"), fakeKey("carol")];

/** `accept`, or the words of the answer with what they are for in front. */
function verdict(event: NostrEvent, facts: Partial<Facts> = {}, rules: Rules = GRASP): string {
  const found = decide(event, { ...NO_FACTS, ...facts }, rules);
  if (found.kind === "hold") return `hold ${found.holding.what}`;
  return found.kind === "accept" ? "accept" : `${found.kind} ${formatReason(found.reason)}`;
}

const announcement = (
  owner = alice,
  more: { hosts?: string; d?: string; maintainers?: string[]; created_at?: number } = {},
): VerifiedEvent => {
  const { hosts = "git.example", d = "hold", maintainers = [] } = more;
  return fakeEvent({
    kind: 30_617,
    pubkey: owner,
    created_at: more.created_at ?? 100,
    tags: [
      ["d", d],
      ["clone", `https://${hosts}/${encodeNpub(owner)}/${d}.git`],
      ["relays", `wss://${hosts}`],
      ["maintainers", ...maintainers],
    ],
  });
};
const state = (author = alice) => fakeEvent({ kind: 30_618, pubkey: author, tags: [["d", "hold"]] });
const gate = { request: fakeId("gate"), vanishUntil: undefined };
const vanishGate = { request: fakeId("gate"), vanishUntil: unixSeconds(200) };
const newer = { id: fakeId("newer"), created_at: unixSeconds(1_000) };

const ORPHAN = "reject restricted: Event must reference an accepted repository or accepted event";
const NOT_OURS = "reject invalid: an announcement must name this server in a clone URL and in a relay URL";

describe("grasp.md 3.6: any valid event, when the door is open", () => {
  test.each([0, 1, 3, 1_618, 10_002, 10_317, 30_617, 30_618, 20_001])("kind %i", (kind) => {
    expect(verdict(fakeEvent({ kind }), {}, OPEN)).toBe("accept");
  });
});

describe("grasp.md 3.6: by kind", () => {
  test.each<[what: string, event: NostrEvent, facts: Partial<Facts>, answer: string]>([
    ["an orphan", fakeEvent(), {}, ORPHAN],
    ["what names or is named by something accepted", fakeEvent(), { related: true }, "accept"],
    ["an ephemeral orphan", fakeEvent({ kind: 20_001 }), {}, ORPHAN],
    [
      "a profile of a stranger",
      fakeEvent({ kind: 0 }),
      { related: true },
      "reject restricted: Kind 0/10002 author must participate in an accepted repository thread",
    ],
    ["a profile of a participant", fakeEvent({ kind: 0 }), { participant: true }, "accept"],
    [
      "a relay list of a stranger",
      fakeEvent({ kind: 10_002 }),
      {},
      "reject restricted: Kind 0/10002 author must participate in an accepted repository thread",
    ],
    ["a relay list of a participant", fakeEvent({ kind: 10_002 }), { participant: true }, "accept"],
    [
      "a GRASP list of a stranger",
      fakeEvent({ kind: 10_317 }),
      {},
      "reject restricted: Kind 10317 author must participate in an accepted repository thread",
    ],
    ["a GRASP list of a participant", fakeEvent({ kind: 10_317 }), { participant: true }, "accept"],
    ["a vanish for all relays", fakeEvent({ kind: 62, tags: [["relay", "ALL_RELAYS"]] }), {}, "accept"],
    ["a vanish for this one", fakeEvent({ kind: 62, tags: [["relay", "wss://git.example/"]] }), {}, "accept"],
    [
      "a vanish for another",
      fakeEvent({ kind: 62, tags: [["relay", "wss://x.example"]] }),
      {},
      "reject invalid: this request to vanish names other relays only",
    ],
    ["a deletion of something here", fakeEvent({ kind: 5 }), { deletion: { removes: [newer], unused: 99 } }, "accept"],
    ["a deletion of nothing here", fakeEvent({ kind: 5 }), { deletion: { removes: [], unused: 2 } }, "accept"],
    [
      "one too many of these",
      fakeEvent({ kind: 5 }),
      { deletion: { removes: [], unused: 3 } },
      "reject rate-limited: too many deletion requests of yours name nothing that is here",
    ],
  ])("%s", (_, event, facts, answer) => expect(verdict(event, facts)).toBe(answer));
});

describe("announcements (grasp.md 5.3)", () => {
  test.each<[what: string, event: NostrEvent, facts: Partial<Facts>, rules: Partial<Rules>, answer: string]>([
    ["names us", announcement(), {}, {}, "accept"],
    ["names others", announcement(alice, { hosts: "x.example" }), {}, {}, NOT_OURS],
    [
      "has no usable identifier",
      announcement(alice, { d: "." }),
      {},
      {},
      "reject invalid: the d tag must be 1 to 100 bytes without slashes, backslashes or control characters, and neither . nor ..",
    ],
    ["is on the list by owner", announcement(), {}, { allowedRepositories: [{ kind: "owner", owner: alice }] }, "accept"],
    ["is on the list by name", announcement(), {}, { allowedRepositories: [{ kind: "identifier", identifier: "hold" }] }, "accept"],
    [
      "is on the list by both",
      announcement(),
      {},
      { allowedRepositories: [{ kind: "repository", owner: alice, identifier: "hold" }] },
      "accept",
    ],
    [
      "is not on the list",
      announcement(),
      {},
      { allowedRepositories: [{ kind: "repository", owner: bob, identifier: "hold" }] },
      "reject restricted: this repository is not on the allow list of this server",
    ],
    [
      "the list is empty",
      announcement(),
      {},
      { allowedRepositories: [] },
      "reject restricted: this repository is not on the allow list of this server",
    ],
    [
      "by a listed maintainer, elsewhere",
      announcement(bob, { hosts: "x.example" }),
      { announcements: [announcement(alice, { maintainers: [bob] })] },
      {},
      "accept",
    ],
    [
      "by a listed maintainer, here but not on the list",
      announcement(bob),
      { announcements: [announcement(alice, { maintainers: [bob] })] },
      { allowedRepositories: [{ kind: "owner", owner: alice }] },
      "accept",
    ],
    [
      "by somebody whom nobody lists",
      announcement(carol, { hosts: "x.example" }),
      { announcements: [announcement(alice, { maintainers: [bob] })] },
      {},
      NOT_OURS,
    ],
    [
      "by an owner who is served here and moves away",
      announcement(alice, { hosts: "x.example", created_at: 101 }),
      { incumbent: { id: fakeId("old"), created_at: unixSeconds(100) } },
      {},
      "accept",
    ],
    [
      "the same, but older than what is served",
      announcement(alice, { hosts: "x.example" }),
      { incumbent: newer },
      {},
      "duplicate duplicate: superseded by a newer event",
    ],
  ])("%s", (_, event, facts, rules, answer) => expect(verdict(event, facts, { ...GRASP, ...rules })).toBe(answer));
});

describe("states (grasp.md 6.4, 3.7)", () => {
  test.each<[what: string, event: NostrEvent, announcements: NostrEvent[], answer: string]>([
    ["no announcement", state(), [], "reject invalid: no announcement exists for this repository"],
    ["the owner's", state(alice), [announcement(alice)], "accept"],
    ["a listed maintainer's", state(bob), [announcement(carol), announcement(alice, { maintainers: [bob] })], "accept"],
    [
      "a stranger's",
      state(carol),
      [announcement(alice, { maintainers: [bob] })],
      "reject restricted: author not authorized for this repository",
    ],
  ])("%s", (_, event, announcements, answer) => expect(verdict(event, { announcements })).toBe(answer));
});

describe("the order (grasp.md 3.6)", () => {
  const blockedAuthor = { blockedAuthors: [alice] };
  const words = `reject blocked: Event author ${encodeNpub(alice)} is blacklisted`;
  const blockedHold = { blockedRepositories: [{ kind: "repository", owner: alice, identifier: "hold" }] } as const;
  const repositoryWords = "reject blocked: this repository is on the block list of this server";

  test.each<[what: string, rules: Partial<Rules>, event: NostrEvent, facts: Partial<Facts>, answer: string]>([
    ["what is here is here", blockedAuthor, fakeEvent(), { served: true }, "duplicate duplicate: already have this event"],
    [
      "a remembered request",
      {},
      fakeEvent({ kind: 5 }),
      { remembered: true, deletion: { removes: [], unused: 99 } },
      "duplicate duplicate: this request is remembered and still refuses what it names, but is no longer served",
    ],
    ["author before repository", { ...blockedAuthor, ...blockedHold }, announcement(), {}, words],
    ["author before gate", blockedAuthor, fakeEvent(), { gate }, words],
    ["author before kind", blockedAuthor, fakeEvent(), {}, words],
    ["a blocked author's deletion", blockedAuthor, fakeEvent({ kind: 5 }), { deletion: { removes: [newer], unused: 0 } }, words],
    ["repository before gate", blockedHold, announcement(), { gate }, repositoryWords],
    ["repository before kind", blockedHold, state(alice), {}, repositoryWords],
    [
      "the veto that nothing overrides",
      { ...blockedHold, allowedRepositories: [{ kind: "owner", owner: alice }] },
      announcement(),
      {},
      repositoryWords,
    ],
    ["gate before kind", {}, fakeEvent(), { gate }, "reject invalid: this event is deleted"],
    ["a vanished key says so", {}, fakeEvent(), { gate: vanishGate }, "reject invalid: this pubkey has requested to vanish"],
    ["gate before superseded", {}, announcement(), { gate, incumbent: newer }, "reject invalid: this event is deleted"],
    [
      "kind before superseded",
      {},
      fakeEvent({ kind: 0 }),
      { incumbent: newer },
      "reject restricted: Kind 0/10002 author must participate in an accepted repository thread",
    ],
    ["superseded at last", {}, announcement(), { incumbent: newer }, "duplicate duplicate: superseded by a newer event"],
    ["an archive forgets gates", { ignoreDeletions: true }, fakeEvent(), { gate, related: true }, "accept"],
  ])("%s", (_, rules, event, facts, answer) => {
    expect(verdict(event, facts, { ...GRASP, ...rules })).toBe(answer);
  });

  test("blocks hold in an open relay too", () => {
    expect(verdict(fakeEvent(), {}, { ...OPEN, ...blockedAuthor })).toBe(words);
    expect(verdict(announcement(), {}, { ...OPEN, ...blockedHold })).toBe(repositoryWords);
    expect(verdict(announcement(bob), {}, { ...OPEN, ...blockedHold })).toBe("accept");
  });

  test.each<[what: string, tags: string[][], blocked: boolean]>([
    ["a", [["a", coordinate({ kind: 30_617, pubkey: alice, d: "hold" })]], true],
    ["A", [["A", coordinate({ kind: 30_617, pubkey: alice, d: "hold" })]], true],
    ["q", [["q", coordinate({ kind: 30_617, pubkey: alice, d: "hold" })]], true],
    ["another owner's", [["a", coordinate({ kind: 30_617, pubkey: bob, d: "hold" })]], false],
    ["another name", [["a", coordinate({ kind: 30_617, pubkey: alice, d: "hold2" })]], false],
    ["another kind", [["a", coordinate({ kind: 30_023, pubkey: alice, d: "hold" })]], false],
    [
      "one among several",
      [
        ["a", coordinate({ kind: 30_617, pubkey: bob, d: "x" })],
        ["a", coordinate({ kind: 30_617, pubkey: alice, d: "hold" })],
      ],
      true,
    ],
  ])("an event about a blocked repository, by %s", (_, tags, blocked) => {
    const found = verdict(fakeEvent({ kind: 1_621, pubkey: carol, tags }), { related: true }, { ...GRASP, ...blockedHold });
    expect(found).toBe(blocked ? repositoryWords : "accept");
  });
});

describe("what is asked of the store", () => {
  test("only what the decision needs", () => {
    expect(needs(fakeEvent(), OPEN)).toEqual({
      incumbent: undefined,
      deletion: undefined,
      related: undefined,
      participant: false,
      announcements: undefined,
    });
    expect(needs(fakeEvent({ kind: 0 }), OPEN)).toMatchObject({ incumbent: { kind: 0, pubkey: alice, d: "" }, participant: false });
    expect(needs(fakeEvent({ kind: 0 }), GRASP)).toMatchObject({ participant: true });
    expect(needs(announcement(), GRASP)).toMatchObject({ announcements: "hold", incumbent: { kind: 30_617, pubkey: alice, d: "hold" } });
    expect(needs(fakeEvent({ kind: 5, tags: [["e", fakeId("x")]] }), GRASP)).toMatchObject({
      deletion: { ids: [fakeId("x")] },
      related: undefined,
    });
  });

  test("grasp.md 3.6: whole coordinates in a A q, ids in e E q, and nothing else", () => {
    const repository = { kind: 30_617, pubkey: alice, d: "a:b" };
    const text = coordinate(repository);
    const tags = [
      ["e", fakeId(1)],
      ["E", fakeId(2)],
      ["q", fakeId(3)],
      ["a", text],
      ["A", text],
      ["q", text],
      ["p", alice],
      ["t", fakeId(4)],
      ["e", "x"],
      ["a", "30617:x:y"],
      ["e"],
      ["a", `30617::${"hold"}`],
    ];
    expect(references(fakeEvent({ tags }))).toEqual({
      ids: [fakeId(1), fakeId(2), fakeId(3)],
      addresses: [repository, repository, repository],
    });
  });
});
