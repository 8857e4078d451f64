import { describe, expect, test } from "vitest";
import { fakeEvent, fakeId, fakeKey } from "../../test/kit/arbitrary/fake-event.ts";
import { rulesWith } from "../../test/kit/rules.ts";
import { unixSeconds } from "../base/time.ts";
import { type Announcement, readAnnouncement } from "../grasp/announcement.ts";
import type { NostrEvent, PublicKey, VerifiedEvent } from "../nostr/event.ts";
import { encodeNpub } from "../nostr/npub.ts";
import { formatReason } from "../nostr/reason.ts";
import { decide } from "./decide.ts";
import { type Facts, needs } from "./facts.ts";
import type { HoldingFacts, KnownAnnouncement } from "./holding-facts.ts";
import type { Rules } from "./rules.ts";

const RULES = rulesWith({ acceptance: "grasp", eventBytesMax: 1_000, unusedDeletionsMax: 3, purgatory: true });
const [alice, bob, mallory] = [fakeKey("alice"), fakeKey("bob"), fakeKey("mallory")];

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
const NO_HOLDING: HoldingFacts = { direct: true, stage: undefined, announcements: [], repositories: [], crowd: undefined };

type Case = Partial<Omit<Facts, "holding" | "announcements">> & Partial<HoldingFacts> & { rules?: Partial<Rules> };

function verdict(event: NostrEvent, { rules, ...given }: Case = {}): string {
  const { direct, stage, announcements, repositories, crowd } = { ...NO_HOLDING, ...given } as HoldingFacts;
  const facts = { ...NO_FACTS, ...given, announcements: [], holding: { direct, stage, announcements, repositories, crowd } };
  const found = decide(event, facts, { ...RULES, ...rules });
  switch (found.kind) {
    case "accept":
      return found.delists ? "accept, de-listing" : "accept";
    case "hold":
      return `hold ${found.holding.what}${found.holding.what === "state" && found.holding.invited ? ", invited" : ""}`;
    default:
      return `${found.kind} ${formatReason(found.reason)}`;
  }
}

interface Said {
  host?: string;
  lists?: readonly PublicKey[];
  at?: number;
}

const announced = (owner: PublicKey, { host = "git.example", lists = [], at = 100 }: Said = {}): VerifiedEvent =>
  fakeEvent({
    kind: 30_617,
    pubkey: owner,
    created_at: at,
    tags: [
      ["d", "hold"],
      ["clone", `https://${host}/${encodeNpub(owner)}/hold.git`],
      ["relays", `wss://${host}`],
      ["maintainers", ...lists],
    ],
  });
const known = (event: NostrEvent, served: boolean): KnownAnnouncement => ({
  announcement: readAnnouncement(event) as Announcement,
  served,
});
const served = (owner: PublicKey, said?: Said) => known(announced(owner, said), true);
const waiting = (owner: PublicKey, said?: Said) => known(announced(owner, said), false);
const elsewhere = (owner: PublicKey, at = 200) => announced(owner, { host: "x.example", at });
const versionOf = ({ announcement }: KnownAnnouncement) => ({ id: announcement.id, created_at: announcement.createdAt });
/** A served announcement of the author, as both questions see it. */
const incumbent = (one: KnownAnnouncement) => ({ incumbent: versionOf(one), announcements: [one] });

const state = (author: PublicKey, at = 100) => fakeEvent({ kind: 30_618, pubkey: author, created_at: at, tags: [["d", "hold"]] });
const pullRequest = (kind = 1_618, tags: string[][] = [["c", "1".repeat(40)]]) => fakeEvent({ kind, pubkey: mallory, tags });

const NOT_OURS = "reject invalid: an announcement must name this server in a clone URL and in a relay URL";
const SUPERSEDED = "duplicate duplicate: superseded by a newer event";
const WAITS = "duplicate duplicate: in purgatory";
const EXPIRED = "reject invalid: previously expired from purgatory without git data";

describe("announcements (grasp.md 5.3, 5.4)", () => {
  test.each<[what: string, event: NostrEvent, given: Case, answer: string]>([
    ["a new repository", announced(alice), {}, "hold announcement"],
    ["beside a stranger's of the same name", announced(alice), { announcements: [served(mallory)] }, "hold announcement"],
    ["a replacement of a served one", announced(alice, { at: 101 }), incumbent(served(alice)), "accept"],
    ["an older one than the served", announced(alice, { at: 99 }), incumbent(served(alice)), SUPERSEDED],
    ["a replacement of a waiting one", announced(alice, { at: 101 }), { announcements: [waiting(alice)] }, "hold announcement"],
    ["an older one than the waiting", announced(alice, { at: 99 }), { announcements: [waiting(alice)] }, SUPERSEDED],
    [
      "newer than the served and older than the waiting",
      announced(alice, { at: 150 }),
      { incumbent: versionOf(served(alice)), announcements: [served(alice), waiting(alice, { at: 200 })] },
      SUPERSEDED,
    ],
    [
      "names us, after one that was stored without a repository",
      announced(bob, { at: 300 }),
      incumbent(known(elsewhere(bob), true)),
      "hold announcement",
    ],
    ["no longer names us", elsewhere(alice), incumbent(served(alice)), "accept, de-listing"],
    ["no longer names us, for the second time", elsewhere(alice, 300), incumbent(known(elsewhere(alice), true)), "accept"],
    ["older, and does not name us", elsewhere(alice, 50), incumbent(served(alice)), SUPERSEDED],
    [
      "names us still, and the operator's list does no longer allow it",
      announced(alice, { at: 101 }),
      { ...incumbent(served(alice)), rules: { allowedRepositories: [] } },
      "accept",
    ],
    ["of an owner who only waits here, and does not name us", elsewhere(alice), { announcements: [waiting(alice)] }, NOT_OURS],
    ["by a listed maintainer", elsewhere(bob), { announcements: [served(alice, { lists: [bob] })] }, "accept"],
    ["by one whom only a waiting one lists", elsewhere(bob), { announcements: [waiting(alice, { lists: [bob] })] }, "hold announcement"],
    ["by a listed maintainer, naming us", announced(bob), { announcements: [served(alice, { lists: [bob] })] }, "hold announcement"],
    ["by somebody whom nobody lists", elsewhere(mallory), { announcements: [served(alice, { lists: [bob] })] }, NOT_OURS],
    ["elsewhere", elsewhere(alice), { rules: { acceptance: "open" } }, "accept"],
    [
      "elsewhere, with an open door, older than the waiting",
      elsewhere(alice, 50),
      { announcements: [waiting(alice)], rules: { acceptance: "open" } },
      SUPERSEDED,
    ],
    ["a new repository, with an open door", announced(alice), { rules: { acceptance: "open" } }, "hold announcement"],
    ["no identifier", fakeEvent({ kind: 30_617 }), {}, "reject invalid: an announcement has exactly one d tag"],
  ])("%s", (_, event, given, answer) => expect(verdict(event, given)).toBe(answer));

  test("grasp.md 5.3: at most 100 per listing owner", () => {
    const keys = Array.from({ length: 101 }, (__, n) => fakeKey(n));
    const announcements = [served(alice, { lists: keys }), ...keys.slice(0, 100).map((key) => known(elsewhere(key), true))];
    const last = keys[100] as PublicKey;
    expect(verdict(elsewhere(last), { announcements })).toMatch(/^reject restricted: /);
    expect(verdict(elsewhere(last), { announcements: announcements.slice(0, 100) })).toBe("accept");
    expect(verdict(announced(last), { announcements }), "one that names us needs no such place").toBe("hold announcement");
  });
});

describe("states (grasp.md 4.5, 4.7, 6.4, 6.5)", () => {
  const NOT_AUTHORIZED = "reject restricted: author not authorized for this repository";
  const both = [served(alice, { lists: [bob] }), served(bob, { lists: [alice] })];
  test.each<[what: string, event: NostrEvent, given: Case, answer: string]>([
    ["no announcement", state(alice), {}, "reject invalid: no announcement exists for this repository"],
    ["the owner's", state(alice), { announcements: [served(alice)] }, "hold state"],
    ["the owner's, while the announcement waits", state(alice), { announcements: [waiting(alice)] }, "hold state"],
    ["an invited key's", state(bob), { announcements: [served(alice, { lists: [bob] })] }, "hold state, invited"],
    ["a confirmed key's", state(bob), { announcements: both }, "hold state"],
    [
      "a listed key's under `recursive`",
      state(bob),
      { announcements: [both[0] as KnownAnnouncement], rules: { maintainerPolicy: "recursive" } },
      "hold state",
    ],
    [
      "a listed key's under `owner-only`",
      state(bob),
      { announcements: [both[0] as KnownAnnouncement], rules: { maintainerPolicy: "owner-only" } },
      NOT_AUTHORIZED,
    ],
    ["a stranger's", state(mallory), { announcements: both }, NOT_AUTHORIZED],
    [
      "the newest announcement counts, waiting or not",
      state(bob),
      { announcements: [served(alice, { lists: [bob] }), waiting(alice, { at: 101 })] },
      NOT_AUTHORIZED,
    ],
    [
      "older than the author's served one",
      state(alice),
      { announcements: [served(alice)], incumbent: { id: fakeId("newer"), created_at: unixSeconds(101) } },
      SUPERSEDED,
    ],
    [
      "newer than the author's served one",
      state(alice),
      { announcements: [served(alice)], incumbent: { id: fakeId("older"), created_at: unixSeconds(99) } },
      "hold state",
    ],
    [
      "no room among one's own",
      state(alice),
      { announcements: [served(alice)], crowd: "states" },
      "reject rate-limited: too many newer states of yours wait for git data of this repository",
    ],
    ["no room, but not authorised in the first place", state(mallory), { announcements: both, crowd: "states" }, NOT_AUTHORIZED],
    ["a stranger's, with an open door", state(mallory), { announcements: both, rules: { acceptance: "open" } }, "accept"],
  ])("%s", (_, event, given, answer) => expect(verdict(event, given)).toBe(answer));
});

describe("pull requests (grasp.md 6.1, 6.9)", () => {
  const repositories = [`30617:${alice}:hold`];
  test.each<[what: string, event: NostrEvent, given: Case, answer: string]>([
    ["for a repository here", pullRequest(), { repositories }, "hold pull-request"],
    ["an update", pullRequest(1_619), { repositories }, "hold pull-request"],
    ["a tip that is no object id waits too", pullRequest(1_618, [["c", "x"]]), { repositories }, "hold pull-request"],
    ["for nothing here", pullRequest(), {}, "reject restricted: Event must reference an accepted repository or accepted event"],
    ["for nothing here, with an open door", pullRequest(), { rules: { acceptance: "open" } }, "accept"],
    [
      "too many of one author",
      pullRequest(),
      { repositories, crowd: "author" },
      "reject rate-limited: too many pull requests of yours wait for git data",
    ],
    [
      "too many for one repository",
      pullRequest(),
      { repositories, crowd: "repository" },
      "reject rate-limited: too many pull requests wait for git data of this repository",
    ],
  ])("%s", (_, event, given, answer) => expect(verdict(event, given)).toBe(answer));

  test("grasp.md 3.7: without a tip, in these words", () => {
    const event = pullRequest(1_619, []);
    expect(verdict(event, { repositories })).toBe(`reject invalid: PR event ${event.id} has no 'c' tag`);
  });
});

describe("what was here before (grasp.md 3.7, 6.3)", () => {
  const own = { announcements: [served(alice)] };
  test.each<[what: string, event: NostrEvent, given: Case, answer: string]>([
    ["what waits", state(alice), { stage: "waiting" }, WAITS],
    ["what waits, of a blocked author", state(alice), { stage: "waiting", rules: { blockedAuthors: [alice] } }, WAITS],
    ["what expired, by sync", state(alice), { ...own, stage: "expired", direct: false }, EXPIRED],
    ["what expired, handed in again", state(alice), { ...own, stage: "expired" }, "hold state"],
    ["a PR that expired, by sync", pullRequest(), { repositories: ["x"], stage: "expired", direct: false }, EXPIRED],
    ["a superseded state that is the newest left", state(alice), { ...own, stage: "superseded" }, "hold state"],
    [
      "a soft-expired announcement, handed in again",
      announced(alice),
      { announcements: [waiting(alice)], stage: "soft-expired" },
      "hold announcement",
    ],
    [
      "a soft-expired announcement, by sync",
      announced(alice),
      { announcements: [waiting(alice)], stage: "soft-expired", direct: false },
      WAITS,
    ],
    [
      "deleted",
      state(alice),
      { ...own, gate: { request: fakeId("gate"), vanishUntil: undefined } },
      "reject invalid: this event is deleted",
    ],
    [
      "vanished",
      announced(alice),
      { gate: { request: fakeId("gate"), vanishUntil: unixSeconds(200) } },
      "reject invalid: this pubkey has requested to vanish",
    ],
    [
      "blocked",
      announced(alice),
      { rules: { blockedRepositories: [{ kind: "owner", owner: alice }] } },
      "reject blocked: this repository is on the block list of this server",
    ],
  ])("%s", (_, event, given, answer) => expect(verdict(event, given)).toBe(answer));
});

test("what is asked: the identifier, or the repositories of a PR; of other kinds nothing more than without purgatory", () => {
  expect(needs(announced(alice), RULES)).toMatchObject({ holding: { kind: "identifier", identifier: "hold" }, announcements: undefined });
  expect(needs(state(alice), { ...RULES, acceptance: "open" })).toMatchObject({ holding: { kind: "identifier", identifier: "hold" } });
  const tags = [
    ["c", "x"],
    ["a", `30617:${alice}:hold`],
    ["a", `30023:${alice}:hold`],
  ];
  expect(needs(pullRequest(1_619, tags), RULES).holding).toEqual({
    kind: "repositories",
    addresses: [{ kind: 30_617, pubkey: alice, d: "hold" }],
  });
  for (const kind of [0, 1, 5, 62, 1_617, 1_621])
    expect(needs(fakeEvent({ kind }), RULES)).toEqual(needs(fakeEvent({ kind }), { ...RULES, purgatory: false }));
  expect(needs(announced(alice), { ...RULES, purgatory: false }).holding).toBeUndefined();
});
