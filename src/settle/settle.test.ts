import { describe, expect, test } from "vitest";
import { applySettlement } from "../../test/kit/apply-settlement.ts";
import { lookup, OIDS } from "../../test/kit/arbitrary/evidence.ts";
import { fakeEvent, fakeId, fakeKey } from "../../test/kit/arbitrary/fake-event.ts";
import type { Oid } from "../git/oid.ts";
import { EMPTY_REFS, type RefMap } from "../git/ref-map.ts";
import type { RefName } from "../git/ref-name.ts";
import type { Identifier } from "../grasp/identifier.ts";
import type { OverlayRecord } from "../grasp/overlay.ts";
import { type PullRequest, readPullRequest } from "../grasp/pull-request.ts";
import { type RepoState, readState } from "../grasp/state.ts";
import type { PublicKey } from "../nostr/event.ts";
import type { AnnouncementEvidence, Evidence, RepositoryEvidence } from "./evidence.ts";
import { settle } from "./settle.ts";
import { isSettled } from "./settlement.ts";

const [alice, bob, mallory] = ["alice", "bob", "mallory"].map(fakeKey) as [PublicKey, PublicKey, PublicKey];
const [one, two, three, , blob] = OIDS as unknown as readonly [string, string, string, string, string];
const identifier = "hold" as Identifier;

type Refs = Readonly<Record<string, string>>;
const heads = (refs: Refs): [string, string][] =>
  Object.entries(refs).map(([name, value]) => [`refs/${name.includes(":") ? name.replace(":", "/") : `heads/${name}`}`, value]);
const refMap = (refs: Refs, head = "main"): RefMap => ({
  refs: new Map(heads(refs)) as unknown as RefMap["refs"],
  head: `refs/heads/${head}` as RefName,
});

let made = 0;
const state = (pubkey: PublicKey, created_at: number, refs: Refs, head?: string): RepoState =>
  readState(
    fakeEvent({
      pubkey,
      created_at,
      kind: 30_618,
      tags: [["d", identifier], ...heads(refs), ...(head === undefined ? [] : [["HEAD", `ref: refs/heads/${head}`]])],
    }),
  );
const announcement = (owner: PublicKey, standing: AnnouncementEvidence["standing"] = "served"): AnnouncementEvidence => {
  const { id, created_at: createdAt } = fakeEvent({ pubkey: owner, kind: 30_617, content: `${made++}` });
  return { id, createdAt, owner, standing };
};
const repository = (owner: PublicKey, more: Partial<RepositoryEvidence> = {}): RepositoryEvidence => ({
  owner,
  standing: "served",
  refs: EMPTY_REFS,
  format: undefined,
  objects: lookup(new Set(OIDS)),
  maintainers: { confirmed: new Set([alice, bob]), restsOn: (key) => new Set([owner, key]) },
  aligned: undefined,
  ...more,
});
const project = (more: Partial<Evidence>): Evidence => ({
  identifier,
  announcements: [announcement(alice)],
  states: [],
  pullRequests: [],
  overlay: [],
  repositories: [repository(alice)],
  ...more,
});
const record = (owner: PublicKey, of: RepoState, ref: string): OverlayRecord => {
  const name = `refs/heads/${ref}` as RefName;
  return { repo: { owner, identifier }, ref: name, value: of.refs.get(name), state: of.id, stateCreatedAt: of.createdAt };
};
const waiting = (...states: readonly RepoState[]) => states.map((one) => ({ state: one, standing: "waiting" as const }));
/** Branches by their short names, after everything was carried out. */
function after(evidence: Evidence, owner = alice): Refs {
  const found = applySettlement(evidence, settle(evidence)).repositories.find((one) => one.owner === owner);
  return Object.fromEntries([...(found?.refs.refs ?? [])].map(([name, oid]) => [name.replace("refs/heads/", ""), oid]));
}
const promoted = (evidence: Evidence) => settle(evidence).promotions.map(({ id }) => id);

describe("the authoritative state (grasp.md 6.6)", () => {
  test("is the newest complete one of the set; the newest that is not complete waits", () => {
    const [old, complete, incomplete] = [
      state(alice, 1, { main: one }),
      state(bob, 2, { main: two }),
      state(alice, 3, { main: "9".repeat(40) }),
    ];
    const evidence = project({ states: waiting(incomplete, old, complete) });
    expect(after(evidence)).toEqual({ main: two });
    expect(promoted(evidence)).toEqual([old.id, complete.id].toSorted());
  });
  test("is the one with the lower id when times are equal", () => {
    const [a, b] = [state(alice, 1, { main: one }), state(bob, 1, { main: two })];
    expect(after(project({ states: waiting(a, b) }))).toEqual({ main: a.id < b.id ? one : two });
  });
  test("is never one with a branch at something that is no commit, or of another object format (6.4)", () => {
    const evidence = project({ states: waiting(state(alice, 2, { main: blob }), state(alice, 1, { main: one, "tags:v1": blob })) });
    expect(after(evidence)).toEqual({ main: one, "refs/tags/v1": blob });
    const other = state(alice, 3, { main: OIDS[6] as string });
    expect(promoted(project({ states: waiting(other), repositories: [repository(alice, { format: "sha1" })] }))).toEqual([]);
  });
  test("is never one whose names cannot stand together (6.4)", () => {
    expect(isSettled(settle(project({ states: waiting(state(alice, 1, { a: one, "a/b": two })) })))).toBe(true);
  });
  test("is not by a stranger", () => {
    expect(isSettled(settle(project({ states: waiting(state(mallory, 9, { main: one })) })))).toBe(true);
  });
});

describe("an empty state (6.10)", () => {
  const full = state(bob, 1, { main: one });
  test("by another than the owner wipes nothing and waits", () => {
    const evidence = project({ states: waiting(full, state(bob, 5, {})) });
    expect(after(evidence)).toEqual({ main: one });
    expect(promoted(evidence)).toEqual([full.id]);
  });
  test("by the owner empties the repository", () => {
    expect(after(project({ states: waiting(full, state(alice, 5, {})) }))).toEqual({});
  });
  test("promotes no announcement", () => {
    const evidence = project({
      announcements: [announcement(alice, "waiting")],
      repositories: [repository(alice, { standing: "waiting" })],
      states: waiting(state(alice, 5, {})),
    });
    expect(isSettled(settle(evidence))).toBe(true);
  });
});

describe("promotion", () => {
  test("brings with a state every waiting announcement that its author's confirmation rests on (4.7)", () => {
    const announcements = [announcement(alice, "waiting"), announcement(bob, "soft-expired")];
    const pushed = state(bob, 1, { main: one });
    const evidence = project({ announcements, states: waiting(pushed), repositories: [repository(alice, { standing: "waiting" })] });
    expect(promoted(evidence)).toEqual([pushed, ...announcements].map(({ id }) => id).toSorted());
    for (const { needs } of settle(evidence).promotions) expect(needs).toEqual([alice]);
    expect(settle(evidence).repositories[0]?.turn).toBe("opens");
  });
  test("waits for the owner whose repository was really aligned", () => {
    const pushed = state(alice, 1, { main: one });
    const announcements = [announcement(alice, "waiting"), announcement(bob, "waiting")];
    const bobs = repository(bob, {
      standing: "waiting",
      maintainers: { confirmed: new Set([alice, bob]), restsOn: (key) => new Set([key]) },
    });
    const evidence = project({ announcements, states: waiting(pushed), repositories: [repository(alice, { standing: "waiting" }), bobs] });
    const failed = applySettlement(evidence, settle(evidence), (owner) => owner !== bob);
    expect(failed.announcements.map(({ standing }) => standing)).toEqual(["served", "waiting"]);
    expect(failed.states[0]?.standing).toBe("served");
    expect(failed.repositories.map(({ standing }) => standing)).toEqual(["served", "waiting"]);
  });
  test("supersedes its author's older complete states and drops those that can no longer be completed (6.6)", () => {
    const [lost, served, next] = [
      state(alice, 1, { main: "9".repeat(40) }),
      state(alice, 2, { main: one }),
      state(alice, 3, { main: two }),
    ];
    const evidence = project({ states: [...waiting(lost, next), { state: served, standing: "served" }] });
    expect(settle(evidence)).toMatchObject({ superseded: [{ id: served.id, by: next.id }], dropped: [{ id: lost.id, by: next.id }] });
  });
});

describe("promotion, at its borders", () => {
  const lone = { confirmed: new Set([alice, bob]), restsOn: (key: PublicKey) => new Set([key]) };

  test("waits for a repository where the state is authoritative, not for one where it is only complete", () => {
    const [older, newer] = [state(alice, 1, { main: one }), state(bob, 2, { main: two })];
    const own = { confirmed: new Set([alice]), restsOn: (key: PublicKey) => new Set([key]) };
    const evidence = project({ states: waiting(older, newer), repositories: [repository(alice, { maintainers: own }), repository(bob)] });
    expect(settle(evidence).promotions).toContainEqual({ kind: "state", id: older.id, needs: [alice] });
  });
  test("brings nothing older back while the author has a newer state served", () => {
    const [kept, served] = [state(alice, 1, { main: one }), state(alice, 2, { main: "9".repeat(40) })];
    const states = [
      { state: kept, standing: "superseded" as const },
      { state: served, standing: "served" as const },
    ];
    expect(promoted(project({ states }))).toEqual([]);
  });
  test("brings the announcement of a repository that opens, though nobody's confirmation rests on it", () => {
    const mine = announcement(alice, "waiting");
    const repositories = [repository(alice, { standing: "waiting", maintainers: lone })];
    const evidence = project({ announcements: [mine, announcement(bob)], states: waiting(state(bob, 1, { main: one })), repositories });
    expect(promoted(evidence)).toContain(mine.id);
  });
  test("by an empty state of the owner brings no announcement, but keeps what it rests on (6.10)", () => {
    const root = announcement(bob, "waiting");
    const led = { confirmed: new Set([alice, bob]), restsOn: () => new Set([alice, bob]) };
    const empty = state(alice, 1, {});
    const evidence = project({
      announcements: [announcement(alice), root],
      states: waiting(empty),
      repositories: [repository(alice, { maintainers: led })],
    });
    expect(promoted(evidence)).toEqual([empty.id]);
    expect(settle(evidence).keep).toContain(root.id);
  });
});

describe("a set without a complete state (6.6)", () => {
  test("keeps refs, HEAD and what is served", () => {
    const left = { state: state(mallory, 4, { main: two }), standing: "served" as const };
    const aligned = { id: left.state.id, createdAt: left.state.createdAt };
    const evidence = project({ states: [left], repositories: [repository(alice, { refs: refMap({ main: two }), aligned })] });
    expect(isSettled(settle(evidence))).toBe(true);
  });
  test("whose last state was deleted is held, and its announcement waits (11.3)", () => {
    const aligned = { id: fakeId("gone"), createdAt: state(alice, 1, {}).createdAt };
    const evidence = project({ repositories: [repository(alice, { refs: refMap({ main: two }), aligned })] });
    const settlement = settle(evidence);
    expect(settlement.repositories[0]).toMatchObject({ turn: "closes", plan: { transactions: [] } });
    expect(settlement.withdrawn).toEqual(evidence.announcements.map(({ id, owner }) => ({ id, owner })));
  });
});

test("a repository that closes takes no PR, and its announcement stays where another's confirmation rests on it (11.3, 4.7)", () => {
  const aligned = { id: fakeId("gone"), createdAt: state(alice, 1, {}).createdAt };
  const closing = {
    maintainers: { confirmed: new Set([bob]), restsOn: () => new Set([bob]) },
    objects: lookup(new Set([three as Oid])),
    aligned,
  };
  const signed = state(alice, 1, { main: one });
  const tags = [
    ["c", three],
    ["a", `30617:${bob}:${identifier}`],
  ];
  const asked = readPullRequest(fakeEvent({ pubkey: mallory, kind: 1618, tags })) as PullRequest;
  const kept = { confirmed: new Set([alice]), restsOn: () => new Set([alice, bob]) };
  const evidence = project({
    announcements: [announcement(alice), announcement(bob)],
    states: waiting(signed),
    pullRequests: [{ request: asked, standing: "waiting" }],
    repositories: [repository(alice, { maintainers: kept }), repository(bob, closing)],
  });
  expect(settle(evidence).repositories.map(({ owner, turn }) => [owner, turn])).toContainEqual([bob, "closes"]);
  expect(settle(evidence).withdrawn).toEqual([]);
  expect(promoted(evidence)).toEqual([signed.id]);
});

test("deleting the active state brings back the newest remaining one, and keeps what was reachable (11.3, 6.6)", () => {
  const [kept, older] = [state(alice, 2, { main: one }), state(alice, 1, { main: three })];
  const aligned = { id: fakeId("gone"), createdAt: state(alice, 3, {}).createdAt };
  const states = [kept, older].map((one) => ({ state: one, standing: "superseded" as const }));
  const evidence = project({ states, repositories: [repository(alice, { refs: refMap({ main: two }), aligned })] });
  expect(after(evidence)).toEqual({ main: one });
  expect(promoted(evidence)).toEqual([kept.id]);
  expect(settle(evidence).repositories[0]?.retain).toEqual([two]);
});

describe("partial pushes (6.7)", () => {
  const base = { state: state(alice, 1, { main: one, old: one }, "main"), standing: "served" as const };
  const newer = state(bob, 2, { main: two, next: "9".repeat(40) }, "next");
  const newest = state(alice, 3, { main: three, next: "9".repeat(40) }, "main");
  const repositories = [
    repository(alice, { refs: refMap({ main: one, old: one }), aligned: { id: base.state.id, createdAt: base.state.createdAt } }),
  ];

  test("stay ahead of the authoritative state, and the newest waiting state wins per ref", () => {
    const overlay = [record(alice, newer, "main"), record(alice, newer, "old"), record(alice, newest, "main")];
    const evidence = project({ states: [base, ...waiting(newer, newest)], overlay, repositories });
    expect(after(evidence)).toEqual({ main: three });
    expect(settle(evidence).keep).toEqual([newer.id, newest.id].toSorted());
    expect(promoted(evidence)).toEqual([]);
  });
  test("HEAD follows that state once its branch is there", () => {
    const moved = state(bob, 2, { side: two, next: "9".repeat(40) }, "side");
    const evidence = project({ states: [base, ...waiting(moved)], overlay: [record(alice, moved, "side")], repositories });
    expect(settle(evidence).repositories[0]?.plan.head?.to).toBe("refs/heads/side");
  });
  test("do not lend a branch to the HEAD of a state that does not declare it (6.4)", () => {
    const wishing = { state: state(alice, 1, { main: one }, "side"), standing: "served" as const };
    const moved = state(bob, 2, { side: two, next: "9".repeat(40) });
    const evidence = project({
      states: [wishing, ...waiting(moved)],
      overlay: [record(alice, moved, "side")],
      repositories: [repository(alice, { refs: refMap({ main: one }) })],
    });
    expect(settle(evidence).repositories[0]?.plan.head).toBeUndefined();
  });
  test("go back when their state is deleted, and what they had moved is kept", () => {
    const ahead = [repository(alice, { ...repositories[0], refs: refMap({ main: two, old: one }) })];
    const evidence = project({ states: [base], overlay: [record(alice, newer, "main")], repositories: ahead });
    expect(after(evidence)).toEqual({ main: one, old: one });
    expect(settle(evidence).goneRecords).toHaveLength(1);
    expect(settle(evidence).repositories[0]?.retain).toEqual([two]);
  });
  test("of a state that is served, since another repository has all of it, stay where it is not complete", () => {
    const served = { state: state(alice, 2, { main: two, next: three }), standing: "served" as const };
    const partly = repository(alice, { ...repositories[0], objects: lookup(new Set([one, two] as Oid[])) });
    const evidence = project({ states: [base, served], overlay: [record(alice, served.state, "main")], repositories: [partly] });
    expect(after(evidence)).toEqual({ main: two, old: one });
  });
  test("go when a newer state is promoted, whoever signed it", () => {
    const overtaking = state(alice, 4, { main: three });
    const evidence = project({ states: [base, ...waiting(newer, overtaking)], overlay: [record(alice, newer, "main")], repositories });
    expect(after(evidence)).toEqual({ main: three });
    expect(settle(evidence).goneRecords).toHaveLength(1);
  });
  test("go when their author leaves the set, and what they had moved is kept", () => {
    const maintainers = { confirmed: new Set([alice]), restsOn: (key: PublicKey) => new Set([key]) };
    const ahead = [repository(alice, { ...repositories[0], maintainers, refs: refMap({ main: two, old: one }) })];
    const evidence = project({ states: [base, ...waiting(newer)], overlay: [record(alice, newer, "main")], repositories: ahead });
    expect(settle(evidence).goneRecords).toHaveLength(1);
    expect(settle(evidence).repositories[0]?.retain).toEqual([two]);
  });
  test("in a repository that is not in the evidence are left alone", () => {
    expect(settle(project({ overlay: [record(bob, newer, "main")] })).goneRecords).toEqual([]);
  });
  test("of a repository's first state leave the announcement waiting, and HEAD names what is there", () => {
    const first = state(alice, 2, { side: two, next: "9".repeat(40) });
    const evidence = project({
      announcements: [announcement(alice, "waiting")],
      states: waiting(first),
      overlay: [record(alice, first, "side")],
      repositories: [repository(alice, { standing: "waiting", refs: refMap({ side: two }, "master") })],
    });
    expect(settle(evidence).promotions).toEqual([]);
    expect(settle(evidence).repositories[0]?.plan).toEqual({
      transactions: [],
      head: { from: "refs/heads/master", to: "refs/heads/side" },
    });
    expect(settle(evidence).keep).toEqual([first.id, ...evidence.announcements.map(({ id }) => id)].toSorted());
  });
});

describe("the ref plan (6.8)", () => {
  test("expects the values that are there, and is one transaction", () => {
    const evidence = project({
      states: waiting(state(alice, 1, { main: two, new: one })),
      repositories: [repository(alice, { refs: refMap({ main: one, old: three }) })],
    });
    expect(settle(evidence).repositories[0]?.plan.transactions).toEqual([
      [
        { ref: "refs/heads/main", from: one, to: two },
        { ref: "refs/heads/new", from: undefined, to: one },
        { ref: "refs/heads/old", from: three, to: undefined },
      ],
    ]);
  });
  test("deletes first where one name is a directory of another", () => {
    const evidence = project({
      states: waiting(state(alice, 1, { "a/b": two })),
      repositories: [repository(alice, { refs: refMap({ a: one }, "a") })],
    });
    expect(settle(evidence).repositories[0]?.plan).toEqual({
      transactions: [[{ ref: "refs/heads/a", from: one, to: undefined }], [{ ref: "refs/heads/a/b", from: undefined, to: two }]],
      head: { from: "refs/heads/a", to: "refs/heads/a/b" },
    });
  });
  test.each([
    ["the branch it names", { main: one, side: one }, "side", "x", "side"],
    ["where it is, when the state does not say and its branch exists", { main: one, x: one }, undefined, "x", "x"],
    ["main, when what it named is gone", { main: one, master: one, a: one }, undefined, "x", "main"],
    ["master, without main", { a: one, master: one }, "gone", "x", "master"],
    ["the first by name, without either", { b: one, a: one }, undefined, "x", "a"],
  ])("HEAD is %s (6.4)", (_, refs, wanted, present, expected) => {
    const evidence = project({
      states: waiting(state(alice, 1, refs, wanted)),
      repositories: [repository(alice, { refs: refMap({}, present) })],
    });
    expect(applySettlement(evidence, settle(evidence)).repositories[0]?.refs.head).toBe(`refs/heads/${expected}`);
  });
});

describe("pull requests (6.9)", () => {
  const request = (c: string, owner = bob, d: string = identifier): PullRequest =>
    readPullRequest(
      fakeEvent({
        pubkey: mallory,
        kind: 1618,
        tags: [
          ["c", c],
          ["a", `30617:${owner}:${d}`],
        ],
      }),
    ) as PullRequest;
  const held = (one: PullRequest) => [{ request: one, standing: "waiting" as const }];

  test("are placed in every repository whose set meets their keys, and then served", () => {
    const asked = request(two);
    const repositories = [repository(alice), repository(bob)];
    const evidence = project({ pullRequests: held(asked), repositories });
    expect(settle(evidence).promotions).toEqual([{ kind: "pull-request", id: asked.id, needs: [alice, bob].toSorted() }]);
    for (const owner of [alice, bob]) expect(after(evidence, owner)).toEqual({ [`refs/nostr/${asked.id}`]: two });
  });
  test.each([
    ["the tip is not a commit", request(blob)],
    ["the tip is not here", request("9".repeat(40))],
    ["the repository is another's", request(two, mallory)],
    ["the repository has another name", request(two, bob, "other")],
  ])("wait while %s", (_, asked) => {
    expect(isSettled(settle(project({ pullRequests: held(asked) })))).toBe(true);
  });
  test("do not make a repository that waits a served one", () => {
    const evidence = project({
      announcements: [announcement(alice, "waiting")],
      pullRequests: held(request(two)),
      repositories: [repository(alice, { standing: "waiting" })],
    });
    expect(isSettled(settle(evidence))).toBe(true);
  });
  test("of others stay where they are", () => {
    const stranger = `refs/nostr/${fakeId("stranger")}` as RefName;
    const refs = { refs: new Map([[stranger, one as Oid]]), head: EMPTY_REFS.head };
    const evidence = project({ states: waiting(state(alice, 1, { main: two })), repositories: [repository(alice, { refs })] });
    expect(after(evidence)).toEqual({ main: two, [stranger]: one });
  });
});
