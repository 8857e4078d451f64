import { describe, expect, it } from "vitest";
import { oid, ref } from "../../test/kit/git-rig.ts";
import { unixSeconds } from "../base/time.ts";
import type { Oid } from "../git/oid.ts";
import type { RefUpdate } from "../git/ref-update.ts";
import type { Identifier } from "../grasp/identifier.ts";
import type { PullRequest } from "../grasp/pull-request.ts";
import type { RepoState } from "../grasp/state.ts";
import type { EventId, PublicKey } from "../nostr/event.ts";
import type { PushFacts } from "../policy/push-facts.ts";
import { judgePush } from "../policy/push-policy.ts";
import { firstStep, formatFor, laneStep, REASONS, reportAfter, reportOf } from "./push-steps.ts";

const ALICE = "a".repeat(64) as PublicKey;
const MALLORY = "e".repeat(64) as PublicKey;
const EVENT = "b".repeat(64) as EventId;
const [A, B] = [oid("1".repeat(40)), oid("2".repeat(40))];
const SIZES = { packBytesMax: 1_000, strangerBytesMax: 300 };

const state = (refs: Record<string, Oid>): RepoState => ({
  id: "c".repeat(64) as EventId,
  author: ALICE,
  identifier: "demo",
  createdAt: unixSeconds(1_700_000_000),
  refs: new Map(Object.entries(refs).map(([name, value]) => [ref(name), value])),
  head: undefined,
  flaw: undefined,
});
const facts = (present: Record<string, Oid>, declared: Record<string, Oid>, more: Partial<PushFacts> = {}): PushFacts => ({
  repo: { owner: ALICE, identifier: "demo" as Identifier },
  confirmed: new Set([ALICE]),
  present: { refs: new Map(Object.entries(present).map(([name, value]) => [ref(name), value])), head: ref("refs/heads/main") },
  format: undefined,
  states: [state(declared)],
  servedState: undefined,
  overlay: [],
  pullRequests: new Map(),
  unsigned: { tips: new Map(), tipsPerIdMax: 4, bytesLeft: 200 },
  ...more,
});
const command = (name: string, from: Oid | undefined, to: Oid | undefined): RefUpdate => ({ ref: ref(name), from, to });
const request = (author: PublicKey): ReadonlyMap<EventId, PullRequest> =>
  new Map([
    [
      EVENT,
      {
        id: EVENT,
        author,
        createdAt: unixSeconds(1),
        tip: A,
        repositories: [{ kind: 30617, pubkey: ALICE, d: "demo" }],
        clone: [],
      },
    ],
  ]);

const first = (commands: readonly RefUpdate[], known: PushFacts, hasReserve = true) =>
  firstStep(judgePush(commands, known), known, hasReserve, SIZES);
const inLane = (commands: readonly RefUpdate[], known: PushFacts, received?: Parameters<typeof laneStep>[2]) =>
  laneStep(judgePush(commands, known), known, received);

const MAIN = "refs/heads/main";
const PULL = `refs/nostr/${EVENT}`;

describe("before the pack is read", () => {
  it.each<[string, readonly RefUpdate[], PushFacts, boolean, object]>([
    ["no state", [command(MAIN, undefined, A)], facts({}, {}), true, { kind: "refuse" }],
    ["a new value", [command(MAIN, undefined, A)], facts({}, { [MAIN]: A }), true, { kind: "receive", unsigned: [], packBytesMax: 1_000 }],
    ["a delete", [command(MAIN, A, undefined)], facts({ [MAIN]: A }, { "refs/heads/x": B }), true, { kind: "delete" }],
    ["there already", [command(MAIN, B, A)], facts({ [MAIN]: A }, {}), true, { kind: "answer" }],
    ["there already, and no room", [command(MAIN, B, A)], facts({ [MAIN]: A }, {}), false, { kind: "answer" }],
    ["no room", [command(MAIN, undefined, A)], facts({}, { [MAIN]: A }), false, { kind: "refuse" }],
    [
      "there already beside a delete",
      [command(MAIN, B, A), command("refs/heads/x", B, undefined)],
      facts({ [MAIN]: A, "refs/heads/x": B }, { [MAIN]: A }),
      true,
      { kind: "delete" },
    ],
    ["an unsigned tip", [command(PULL, undefined, A)], facts({}, {}), true, { unsigned: [{ event: EVENT, tip: A }], packBytesMax: 200 }],
    [
      "a stranger's",
      [command(PULL, undefined, A)],
      facts({}, {}, { pullRequests: request(MALLORY) }),
      true,
      { unsigned: [], packBytesMax: 300 },
    ],
    ["a maintainer's", [command(PULL, undefined, A)], facts({}, {}, { pullRequests: request(ALICE) }), true, { packBytesMax: 1_000 }],
  ])("%s", (_, commands, known, hasReserve, expected) => {
    expect(first(commands, known, hasReserve)).toMatchObject(expected);
  });

  it("the reserve is named (grasp.md 7.16)", () => {
    expect(first([command(MAIN, undefined, A)], facts({}, { [MAIN]: A }), false)).toMatchObject({
      report: { unpackError: undefined, results: [{ kind: "ng", ref: MAIN, reason: "error: disk reserve reached" }] },
    });
  });

  it("the format is the repository's, and before it has one the client's (grasp.md 6.4)", () => {
    expect(formatFor(facts({}, {}), "sha256")).toBe("sha256");
    expect(formatFor(facts({}, {}, { format: "sha1" }), "sha256")).toBe("sha1");
  });
});

describe("under the lock (grasp.md 7.10)", () => {
  const received = { unsigned: [] };

  it("the value there counts, not the client's (grasp.md 7.5)", () => {
    const step = inLane([command(MAIN, undefined, A)], facts({ [MAIN]: B }, { [MAIN]: A }), received);
    expect(step).toMatchObject({ kind: "apply", updates: [{ ref: MAIN, from: B, to: A }], tips: [A], unsigned: [] });
  });

  it("records belong to a waiting state only (grasp.md 6.7)", () => {
    const known = facts({}, { [MAIN]: A });
    const [waiting] = known.states;
    expect(inLane([command(MAIN, undefined, A)], known, received)).toMatchObject({
      records: [{ ref: MAIN, value: A, state: waiting?.id }],
    });
    const served = { ...known, servedState: waiting };
    expect(inLane([command(MAIN, undefined, A)], served, received)).toMatchObject({ kind: "apply", records: [] });
  });

  it("a ref that reached its value meanwhile is not touched (grasp.md 7.6)", () => {
    const commands = [command(MAIN, undefined, A), command("refs/heads/x", undefined, B)];
    const known = facts({ [MAIN]: A }, { [MAIN]: A, "refs/heads/x": B });
    expect(inLane(commands, known, received)).toMatchObject({ kind: "apply", updates: [{ ref: "refs/heads/x" }], tips: [B] });
  });

  it("objects that were thrown away, or received for another purpose, do not do", () => {
    const again = { kind: "refuse", report: { results: [{ kind: "ng", reason: REASONS.changedMeanwhile }] } };
    expect(inLane([command(MAIN, undefined, A)], facts({}, { [MAIN]: A }), undefined)).toMatchObject(again);
    expect(inLane([command(PULL, undefined, A)], facts({}, {}), received)).toMatchObject(again);
    expect(inLane([command(PULL, undefined, A)], facts({}, {}), { unsigned: [{ event: EVENT, tip: B }] })).toMatchObject(again);
    expect(inLane([command(PULL, undefined, A)], facts({}, {}), { unsigned: [{ event: EVENT, tip: A }] })).toMatchObject({ kind: "apply" });
  });

  it("staged as unsigned, signed meanwhile: it is applied", () => {
    const known = facts({}, {}, { pullRequests: request(ALICE) });
    const step = inLane([command(PULL, undefined, A)], known, { unsigned: [{ event: EVENT, tip: A }] });
    expect(step).toMatchObject({ kind: "apply", updates: [{ ref: PULL, to: A }], tips: [A], unsigned: [], records: [] });
  });
});

describe("the report tells what happened (grasp.md 7.7, 7.12)", () => {
  const commands = [command("refs/heads/a", undefined, A), command("refs/heads/b", undefined, B)];
  const verdict = judgePush(commands, facts({}, { "refs/heads/a": A, "refs/heads/b": B }));

  it("all or nothing", () => {
    expect(reportAfter(verdict, { kind: "applied" })).toEqual(reportOf(verdict));
    expect(reportOf(verdict).results.map(({ kind }) => kind)).toEqual(["ok", "ok"]);
    expect(reportAfter(verdict, { kind: "moved", ref: ref("refs/heads/b"), actual: A }).results).toEqual([
      { kind: "ng", ref: "refs/heads/a", reason: "not done, because refs/heads/b was refused" },
      { kind: "ng", ref: "refs/heads/b", reason: `the ref is at ${A} here` },
    ]);
  });

  it("a name that another writer put in the way", () => {
    const outcome = { kind: "clash", refs: [ref("refs/heads/a"), ref("refs/heads/a/x")] } as const;
    expect(reportAfter(verdict, outcome).results).toMatchObject([
      { kind: "ng", reason: "it cannot stand beside refs/heads/a/x: one is a directory of the other" },
      { kind: "ng", reason: "not done, because refs/heads/a was refused" },
    ]);
  });
});
