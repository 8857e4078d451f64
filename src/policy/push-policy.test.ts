import { describe, expect, test } from "vitest";
import { fakeEvent, fakeId, fakeKey } from "../../test/kit/arbitrary/fake-event.ts";
import { unixSeconds } from "../base/time.ts";
import type { Oid } from "../git/oid.ts";
import { DEFAULT_HEAD } from "../git/ref-map.ts";
import type { RefName } from "../git/ref-name.ts";
import type { RefUpdate } from "../git/ref-update.ts";
import type { Identifier } from "../grasp/identifier.ts";
import type { OverlayRecord } from "../grasp/overlay.ts";
import { type PullRequest, readPullRequest } from "../grasp/pull-request.ts";
import { type RepoState, readState } from "../grasp/state.ts";
import type { EventId, PublicKey } from "../nostr/event.ts";
import { encodeNpub } from "../nostr/npub.ts";
import type { PushFacts } from "./push-facts.ts";
import { judgePush, overlayRecords } from "./push-policy.ts";

const [alice, bob, mallory] = [fakeKey("alice"), fakeKey("bob"), fakeKey("mallory")];
const oid = (digit: string) => digit.repeat(40) as Oid;
const [A, B, C] = [oid("a"), oid("b"), oid("c")];
const main = "refs/heads/main";
const dev = "refs/heads/dev";

const repo = { owner: alice, identifier: "hold" as Identifier };
const NO_FACTS: PushFacts = {
  repo,
  confirmed: new Set([alice, bob]),
  present: { refs: new Map(), head: DEFAULT_HEAD },
  format: undefined,
  states: [],
  servedState: undefined,
  overlay: [],
  pullRequests: new Map(),
  unsigned: { tips: new Map(), tipsPerIdMax: 4, bytesLeft: 1_000 },
};

const present = (refs: Record<string, string>): Pick<PushFacts, "present"> => ({
  present: { refs: new Map(Object.entries(refs) as [RefName, Oid][]), head: DEFAULT_HEAD },
});

function state(refs: Record<string, string>, more: { by?: PublicKey; at?: number; id?: EventId; d?: string } = {}): RepoState {
  const { by = alice, at = 100, d = "hold" } = more;
  const tags = [["d", d], ...Object.entries(refs)];
  return readState(fakeEvent({ kind: 30_618, pubkey: by, created_at: at, tags, ...(more.id === undefined ? {} : { id: more.id }) }));
}

type Change = [ref: string, to: string | undefined, from?: string | undefined];
const updates = (changes: readonly Change[]): RefUpdate[] =>
  changes.map(([ref, to, from]) => ({ ref: ref as RefName, from: from as Oid | undefined, to: to as Oid | undefined }));

const judge = (changes: readonly Change[], facts: Partial<PushFacts> = {}) => judgePush(updates(changes), { ...NO_FACTS, ...facts });

/** One line per command: what shall be done, or why not. */
function answers(changes: readonly Change[], facts: Partial<PushFacts> = {}): string[] {
  const verdict = judge(changes, facts);
  const lines = verdict.refs.map((ref) => (ref.kind === "ok" ? ref.deed.kind : `ng ${ref.reason}`));
  // grasp.md 7.7, in every test: all or nothing.
  expect(lines.every((line) => line.startsWith("ng ")) || verdict.kind === "allowed").toBe(true);
  expect(verdict.refs.map(({ update }) => update.ref)).toEqual(changes.map(([ref]) => ref));
  return lines;
}

const expects = (from: RepoState, value: string) => `ng state ${from.id} by ${encodeNpub(from.author)} expects ${value}`;
const unusable = (from: RepoState, why: string) => `ng state ${from.id} by ${encodeNpub(from.author)} allows no push: ${why}`;
const stopped = (ref: string) => `ng not done, because ${ref} was refused`;
const NO_STATE = "ng no state event of a maintainer of this repository is known here; publish it, then push";

describe("grasp.md 7.5: a command is allowed when the state declares exactly that value, or for a delete does not declare the ref", () => {
  const declared = state({ [main]: B, "refs/tags/v1": C });
  const facts = { states: [declared], ...present({ [main]: A, [dev]: A }) };
  test.each<[what: string, change: Change, answer: string]>([
    ["a move", [main, B, A], "apply"],
    ["a move, whatever the client believes the ref to be", [main, B, C], "apply"],
    ["a move that the client takes for a creation", [main, B], "apply"],
    ["a creation", ["refs/tags/v1", C], "apply"],
    ["another value", [main, C, A], expects(declared, B)],
    ["another value for a new ref", ["refs/tags/v1", B], expects(declared, C)],
    ["an undeclared branch", ["refs/heads/x", B], expects(declared, "no such ref")],
    ["an undeclared tag", ["refs/tags/v2", B], expects(declared, "no such ref")],
    ["a ref it does not declare, moved", [dev, B, A], expects(declared, "no such ref")],
    ["a delete of it", [dev, undefined, A], "apply"],
    ["a delete of a declared ref", [main, undefined, A], expects(declared, B)],
  ])("%s", (_, change, answer) => expect(answers([change], facts)).toEqual([answer]));

  test("without a state nothing moves", () => expect(answers([[main, A]])).toEqual([NO_STATE]));

  test("some of the refs of a state are fine (7.8)", () => {
    expect(answers([[main, B, A]], facts)).toEqual(["apply"]);
    expect(
      answers(
        [
          [main, B, A],
          ["refs/tags/v1", C],
          [dev, undefined, A],
        ],
        facts,
      ),
    ).toEqual(["apply", "apply", "apply"]);
  });

  test("a state of another repository says nothing", () =>
    expect(answers([[main, B]], { states: [state({ [main]: B }, { d: "other" })] })).toEqual([NO_STATE]));
});

describe("grasp.md 7.5: one state decides, the newest authorised one, not older than the served one, that allows all of it", () => {
  const served = state({ [main]: A }, { at: 100 });
  const older = state({ [main]: C }, { at: 99, by: bob });
  const newer = state({ [main]: B, [dev]: B }, { at: 101, by: bob });

  test("served or waiting", () => {
    expect(judge([[main, B]], { states: [newer], servedState: served }).state).toBe(newer);
    expect(judge([[main, A]], { states: [newer], servedState: served }).state).toBe(served);
  });

  test("the newest that allows it, whatever the order they come in", () => {
    const same = state({ [main]: B }, { at: 100 });
    for (const states of [
      [newer, same],
      [same, newer],
    ]) {
      expect(judge([[main, B]], { states }).state).toBe(newer);
    }
  });

  test("ties go to the lower id", () => {
    const [one, two] = [state({ [main]: B }, { id: fakeId("one"), at: 5 }), state({ [main]: B }, { id: fakeId("two"), at: 5, by: bob })];
    expect(judge([[main, B]], { states: [one, two] }).state).toBe(one.id < two.id ? one : two);
  });

  test("not an older one", () =>
    expect(answers([[main, C]], { states: [older, served], servedState: served })).toEqual([expects(served, A)]));

  test("not a mixture of two", () => {
    const facts = { states: [newer, served], servedState: served, ...present({ [main]: C }) };
    expect(
      answers(
        [
          [main, A, C],
          [dev, B],
        ],
        facts,
      ),
    ).toEqual([expects(newer, B), stopped(main)]);
  });

  test("nobody else's", () => {
    const forged = state({ [main]: B }, { by: mallory, at: 1_000 });
    expect(answers([[main, B]], { states: [forged] })).toEqual([NO_STATE]);
    expect(answers([[main, B]], { states: [forged], servedState: served })).toEqual([expects(served, A)]);
  });

  test("where nobody may change anything, it says so", () =>
    expect(answers([[main, B]], { states: [newer], confirmed: new Set() })).toEqual([
      "ng nobody may change this repository: its announcements name no lead that all agree on",
    ]));

  test("a served state whose author left the set holds up nobody (6.6)", () => {
    const left = state({ [main]: A }, { at: 200, by: mallory });
    expect(answers([[main, B]], { states: [newer], servedState: left })).toEqual(["apply"]);
    expect(answers([[main, A]], { states: [newer], servedState: left })).toEqual([expects(newer, B)]);
  });
});

describe("states that authorise nothing", () => {
  const NO_OID = "a ref has a value that is no object id";
  const flawed = state({ [main]: B, [dev]: "nonsense" }, { at: 200 });

  test("one that can never be satisfied (6.4), not even for what it leaves open", () => {
    const facts = { states: [flawed], ...present({ [dev]: A, "refs/heads/x": A }) };
    expect(answers([[main, B]], facts)).toEqual([unusable(flawed, NO_OID)]);
    expect(answers([[dev, undefined, A]], facts)).toEqual([unusable(flawed, NO_OID)]);
    expect(answers([["refs/heads/x", undefined, A]], facts)).toEqual([unusable(flawed, NO_OID)]);
  });

  test("an older one that is whole still counts, but the newest is what is told", () => {
    const whole = state({ [main]: B }, { at: 100, by: bob });
    expect(judge([[main, B]], { states: [flawed, whole] }).state).toBe(whole);
    expect(
      answers(
        [
          [main, C],
          ["refs/heads/y", B],
        ],
        { states: [flawed, whole] },
      ),
    ).toEqual([unusable(flawed, NO_OID), unusable(flawed, NO_OID)]);
    expect(
      answers(
        [
          [main, B],
          ["refs/heads/y", B],
        ],
        { states: [flawed, whole] },
      ),
    ).toEqual([stopped("refs/heads/y"), unusable(flawed, NO_OID)]);
  });

  test("one of another object format (6.4)", () => {
    const long = state({ [main]: "d".repeat(64) });
    const facts = { states: [long], format: "sha1", ...present({ [dev]: A }) } as const;
    expect(answers([[dev, undefined, A]], facts)).toEqual([unusable(long, "its object format is not the repository's")]);
    expect(answers([[main, "d".repeat(64)]], facts)).toEqual(["ng the objects of this repository are sha1"]);
    expect(answers([[main, "d".repeat(64)]], { states: [long] })).toEqual(["apply"]);
  });

  test("one without refs, unless it is the owner's (6.10)", () => {
    const [others, owners] = [state({}, { by: bob }), state({}, { by: alice })];
    const refs = present({ [main]: A });
    const why = "it declares no refs, and only the owner's may empty a repository";
    expect(answers([[main, undefined, A]], { states: [others], ...refs })).toEqual([unusable(others, why)]);
    expect(answers([[main, undefined, A]], { states: [owners], ...refs })).toEqual(["apply"]);
    expect(answers([[main, B, A]], { states: [owners], ...refs })).toEqual([expects(owners, "no such ref")]);
  });
});

describe("grasp.md 7.6", () => {
  const declared = { states: [state({ [main]: B })] };

  test("zero to zero never, whether the ref is there or not", () => {
    const reason = "ng the old and the new value are both zero";
    expect(answers([[main, undefined, undefined]], { states: [state({})], ...present({ [main]: A }) })).toEqual([reason]);
    expect(answers([[main, undefined, undefined]], { states: [state({})] })).toEqual([reason]);
    expect(answers([[`refs/nostr/${fakeId(1)}`, undefined, undefined]])).toEqual([reason]);
  });

  test("old equals new: only when the ref has that value now", () => {
    expect(answers([[main, A, A]], present({ [main]: A }))).toEqual(["already-there"]);
    expect(answers([[main, B, B]], { ...declared, ...present({ [main]: A }) })).toEqual([`ng the ref is at ${A} here`]);
    expect(answers([[main, B, B]], declared)).toEqual(["ng there is no such ref here"]);
  });

  test("what was done meanwhile is answered ok", () => {
    expect(answers([[main, B, A]], { ...declared, ...present({ [main]: B }) })).toEqual(["already-there"]);
    expect(answers([[main, B]], { ...declared, ...present({ [main]: B }) })).toEqual(["already-there"]);
    expect(answers([[dev, undefined, A]], declared)).toEqual(["already-there"]);
  });

  test("and does not keep another state from deciding about the rest", () => {
    const served = state({ [main]: A }, { at: 1 });
    const waiting = state({ [main]: B, [dev]: C }, { at: 2 });
    const facts = { states: [served, waiting], servedState: served, ...present({ [main]: A }) };
    expect(
      answers(
        [
          [main, A],
          [dev, C],
        ],
        facts,
      ),
    ).toEqual(["already-there", "apply"]);
  });
});

describe("grasp.md 7.5, 6.7: no command may move a ref that has an overlay record of a newer state", () => {
  const served = state({ [main]: A, [dev]: A }, { at: 100 });
  const waiting = state({ [main]: B, [dev]: A }, { at: 200, by: bob });
  const record = (ref: string, value: Oid | undefined, of: RepoState, more: Partial<OverlayRecord> = {}): OverlayRecord => ({
    repo,
    ref: ref as RefName,
    value,
    state: of.id,
    stateCreatedAt: of.createdAt,
    ...more,
  });
  const facts = { states: [served, waiting], servedState: served, ...present({ [main]: B }) };

  test("the served state does not take it back", () =>
    expect(answers([[main, A, B]], { ...facts, overlay: [record(main, B, waiting)] })).toEqual([expects(waiting, B)]));

  test("nor does it when the newer one has left the set and its record is still there", () => {
    const overlay = [record(main, B, waiting)];
    const npub = encodeNpub(bob);
    expect(answers([[main, A, B]], { ...facts, overlay, confirmed: new Set([alice]) })).toEqual([
      `ng state ${waiting.id} by ${npub} is newer and expects ${B}, which an earlier push has done`,
    ]);
    expect(answers([[dev, A]], { states: [], servedState: served, overlay: [record(dev, undefined, waiting)] })).toEqual([
      `ng state ${waiting.id} is newer and expects no such ref, which an earlier push has done`,
    ]);
  });

  test("the state itself and newer ones may, other refs and other repositories do not matter", () => {
    const newest = state({ [main]: C }, { at: 300 });
    const overlay = [record(main, B, waiting)];
    expect(answers([[main, C, B]], { ...facts, states: [served, waiting, newest], overlay })).toEqual(["apply"]);
    expect(answers([[main, B, A]], { ...facts, ...present({ [main]: A }), overlay })).toEqual(["apply"]);
    expect(answers([[dev, A]], { ...facts, overlay })).toEqual(["apply"]);
    const elsewhere = [record(main, B, waiting, { repo: { ...repo, owner: bob } })];
    expect(answers([[main, A, B]], { ...facts, overlay: elsewhere })).toEqual(["apply"]);
  });

  test("what a waiting state allowed is to be remembered, what the served one allowed is not", () => {
    const all = { ...NO_FACTS, ...facts, ...present({ [main]: A, "refs/heads/x": A }) };
    const pushed = judgePush(
      updates([
        [main, B, A],
        [dev, A],
        ["refs/heads/x", undefined, A],
        ["refs/tags/gone", undefined, A],
      ]),
      all,
    );
    expect(overlayRecords(pushed, all)).toEqual([
      record(main, B, waiting),
      record(dev, A, waiting),
      record("refs/heads/x", undefined, waiting),
    ]);
    const back = { ...all, states: [served], ...present({ [main]: C }) };
    expect(overlayRecords(judgePush(updates([[main, A, C]]), back), back)).toEqual([]);
    expect(overlayRecords(judgePush(updates([[main, C]]), all), all)).toEqual([]);
  });
});

describe("grasp.md 7.5: a push that would leave a beside a/b is refused", () => {
  const way = (ref: string) => `ng it cannot stand beside ${ref}: one is a directory of the other`;
  const inner = state({ "refs/heads/a/b": B });
  const outer = state({ "refs/heads/a": B });

  test("below one that stands", () =>
    expect(answers([["refs/heads/a/b", B]], { states: [inner], ...present({ "refs/heads/a": A }) })).toEqual([way("refs/heads/a")]));
  test("above one that stands", () =>
    expect(answers([["refs/heads/a", B]], { states: [outer], ...present({ "refs/heads/a/x/y": A }) })).toEqual([way("refs/heads/a/x/y")]));
  test("unless the same push removes it", () => {
    expect(
      answers(
        [
          ["refs/heads/a/b", B],
          ["refs/heads/a", undefined, A],
        ],
        { states: [inner], ...present({ "refs/heads/a": A }) },
      ),
    ).toEqual(["apply", "apply"]);
  });
  test("names that only begin alike are none", () =>
    expect(answers([["refs/heads/a", B]], { states: [outer], ...present({ "refs/heads/ab": A, "refs/tags/a/b": A }) })).toEqual(["apply"]));
  test("the others are told", () => {
    const both = state({ "refs/heads/a": B, [main]: B });
    expect(
      answers(
        [
          [main, B],
          ["refs/heads/a", B],
        ],
        { states: [both], ...present({ "refs/heads/a/b": A }) },
      ),
    ).toEqual([stopped("refs/heads/a"), way("refs/heads/a/b")]);
  });
});

describe("grasp.md 7.7: one refused command refuses the whole push", () => {
  const declared = state({ [main]: B, [dev]: B });

  test("each with its own reason, the allowed ones with the ref that stopped them", () => {
    const facts = { states: [declared], ...present({ "refs/tags/there": A }) };
    expect(
      answers(
        [
          [main, B],
          [dev, C],
          ["refs/heads/x", A],
          ["refs/tags/there", A],
        ],
        facts,
      ),
    ).toEqual([stopped(dev), expects(declared, B), expects(declared, "no such ref"), stopped(dev)]);
  });

  test("a refused pull request stops branches, and the other way round", () => {
    const ref = `refs/nostr/${fakeId(1)}`;
    expect(
      answers(
        [
          [main, B],
          [ref, undefined, A],
        ],
        { states: [declared], ...present({ [ref]: A }) },
      )[0],
    ).toBe(stopped(ref));
    expect(
      answers(
        [
          [main, C],
          [ref, A],
        ],
        { states: [declared] },
      ),
    ).toEqual([expects(declared, B), stopped(main)]);
  });

  test("a ref that is named twice", () =>
    expect(
      answers(
        [
          [main, B],
          [main, undefined, B],
        ],
        { states: [declared] },
      ),
    ).toEqual([stopped(main), "ng the push names this ref twice"]));

  test.each(["refs/notes/x", "refs/nostr/x", `refs/nostr/${fakeId(1).toUpperCase()}`, "refs/heads/", "refs/remotes/a/b", "HEAD"])(
    "%s is not to be pushed (7.4)",
    (ref) => expect(answers([[ref, A]])).toEqual(["ng only refs/heads/, refs/tags/ and refs/nostr/<event id> can be pushed"]),
  );

  test("no commands are nothing to allow (7.4)", () => expect(judge([])).toEqual({ kind: "refused", refs: [], state: undefined }));

  test("a long name does not fill the answer", () => {
    const long = `refs/heads/${"x/".repeat(10_000)}x`;
    const [, second = ""] = answers(
      [
        [long, A],
        [main, B],
      ],
      { states: [declared] },
    );
    expect(second.length).toBeLessThan(300);
  });
});

describe("grasp.md 7.9: refs/nostr/<id>", () => {
  const event = fakeEvent({
    kind: 1_618,
    pubkey: mallory,
    tags: [
      ["a", `30617:${alice}:hold`],
      ["c", A],
    ],
  });
  const ref = `refs/nostr/${event.id}`;
  const known = (tags: string[][]): Pick<PushFacts, "pullRequests"> => ({
    pullRequests: new Map([[event.id, readPullRequest({ ...event, tags }) as PullRequest]]),
  });
  const facts = known(event.tags.map((tag) => [...tag]));
  const request = `pull request ${event.id} by ${encodeNpub(mallory)}`;

  test("a known event's c must equal the pushed tip", () => {
    expect(answers([[ref, A]], facts)).toEqual(["apply"]);
    expect(answers([[ref, B]], facts)).toEqual([`ng ${request} expects ${A}`]);
    expect(
      answers(
        [[ref, A]],
        known([
          ["a", `30617:${alice}:hold`],
          ["c", "x"],
        ]),
      ),
    ).toEqual([`ng ${request} expects something that is no object id`]);
  });

  test("the event wins over a value that stands there", () =>
    expect(answers([[ref, A, B]], { ...facts, ...present({ [ref]: B }) })).toEqual(["apply"]));

  test("already there", () => expect(answers([[ref, A]], { ...facts, ...present({ [ref]: A }) })).toEqual(["already-there"]));

  test("the repository must be one of 6.9", () => {
    const elsewhere = [`ng ${request} is not for this repository`];
    expect(
      answers(
        [[ref, A]],
        known([
          ["a", `30617:${bob}:hold`],
          ["c", A],
        ]),
      ),
    ).toEqual(["apply"]);
    expect(
      answers(
        [[ref, A]],
        known([
          ["a", `30617:${mallory}:hold`],
          ["c", A],
        ]),
      ),
    ).toEqual(elsewhere);
    expect(
      answers(
        [[ref, A]],
        known([
          ["a", `30617:${alice}:other`],
          ["c", A],
        ]),
      ),
    ).toEqual(elsewhere);
    expect(answers([[ref, A]], known([["c", A]]))).toEqual(elsewhere);
  });

  test("states have no say", () => {
    const declared = state({ [main]: B });
    expect(answers([[ref, A]], { ...facts, states: [] })).toEqual(["apply"]);
    expect(
      answers(
        [
          [main, B],
          [ref, A],
        ],
        { ...facts, states: [declared] },
      ),
    ).toEqual(["apply", "apply"]);
    expect(judge([[ref, A]], { ...facts, states: [declared] }).state).toBeUndefined();
  });

  test("unknown: into staging, by id and tip", () => {
    const verdict = judge([[ref, A]]);
    expect(verdict.refs).toEqual([{ kind: "ok", update: updates([[ref, A]])[0], deed: { kind: "stage", event: event.id, tip: A } }]);
  });

  test("at most four tips an id; one that is staged already is no further one", () => {
    const tips = (count: number) => ({ ...NO_FACTS.unsigned, tips: new Map([[event.id, [..."1234"].slice(0, count).map(oid)]]) });
    expect(answers([[ref, A]], { unsigned: tips(3) })).toEqual(["stage"]);
    expect(answers([[ref, A]], { unsigned: tips(4) })).toEqual(["ng 4 other commits wait for this event already"]);
    expect(answers([[ref, oid("2")]], { unsigned: tips(4) })).toEqual(["stage"]);
    expect(answers([[`refs/nostr/${fakeId(9)}`, A]], { unsigned: tips(4) })).toEqual(["stage"]);
  });

  test("not when there is no room, which a known event does not need", () => {
    const unsigned = { ...NO_FACTS.unsigned, bytesLeft: 0 };
    expect(answers([[ref, A]], { unsigned })).toEqual([
      "ng there is no room for more objects without an event; publish the event first, or try again later",
    ]);
    expect(answers([[ref, A]], { unsigned, ...facts })).toEqual(["apply"]);
  });

  test("nobody deletes one by a push", () => {
    const reason = "ng a ref of a pull request goes with its event, not by a push";
    expect(answers([[ref, undefined, A]], { ...facts, ...present({ [ref]: A }) })).toEqual([reason]);
    expect(answers([[ref, undefined, A]], present({ [ref]: A }))).toEqual([reason]);
    expect(answers([[ref, undefined, A]])).toEqual(["already-there"]);
  });
});

test("a record is ordered by its state, not by when it was pushed", () => {
  const waiting = state({ [main]: B }, { at: 200, id: fakeId("waiting") });
  const record: OverlayRecord = { repo, ref: main as RefName, value: B, state: fakeId("x"), stateCreatedAt: unixSeconds(199) };
  expect(answers([[main, B, C]], { states: [waiting], overlay: [record], ...present({ [main]: C }) })).toEqual(["apply"]);
});
