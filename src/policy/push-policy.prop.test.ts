import fc from "fast-check";
import { expect, test } from "vitest";
import { fakeEvent, fakeKey } from "../../test/kit/arbitrary/fake-event.ts";
import { runs } from "../../test/kit/arbitrary/runs.ts";
import type { Oid } from "../git/oid.ts";
import { clash, DEFAULT_HEAD } from "../git/ref-map.ts";
import type { RefName } from "../git/ref-name.ts";
import { type RefUpdate, withUpdates } from "../git/ref-update.ts";
import type { Identifier } from "../grasp/identifier.ts";
import { isOfNewerState } from "../grasp/overlay.ts";
import { type RepoState, readState } from "../grasp/state.ts";
import { wins } from "../nostr/replaceable.ts";
import type { PushFacts } from "./push-facts.ts";
import { judgePush } from "./push-policy.ts";

const OWNER = fakeKey("alice");
const KEYS = [OWNER, fakeKey("bob"), fakeKey("mallory")];
const REFS = ["refs/heads/a", "refs/heads/a/b", "refs/heads/c", "refs/tags/a", "refs/tags/v"] as RefName[];
const OIDS = [..."123"].map((digit) => digit.repeat(40) as Oid);
const repo = { owner: OWNER, identifier: "hold" as Identifier };

const value = fc.constantFrom(...OIDS);
const pairs = fc.uniqueArray(fc.tuple(fc.constantFrom(...REFS), value), { selector: ([ref]) => ref, maxLength: 4 });
const state = fc
  .tuple(fc.constantFrom(...KEYS), pairs, fc.integer({ min: 1, max: 3 }), fc.integer({ min: 0, max: 9 }))
  .map(([pubkey, refs, created_at, odd]) =>
    readState(
      fakeEvent({ kind: 30_618, pubkey, created_at, tags: [["d", "hold"], ...refs, ...(odd === 0 ? [["refs/heads/odd", "x"]] : [])] }),
    ),
  );
const command = fc.record({
  ref: fc.constantFrom(...REFS),
  from: fc.option(value, { nil: undefined }),
  to: fc.option(value, { nil: undefined }),
});
const facts = fc
  .record({
    states: fc.array(state, { maxLength: 4 }),
    refs: pairs,
    served: fc.nat(5),
    overlay: fc.array(fc.tuple(fc.constantFrom(...REFS), fc.nat(3)), { maxLength: 2 }),
  })
  .map(
    ({ states, refs, served, overlay }): PushFacts => ({
      repo,
      confirmed: new Set(KEYS.slice(0, 2)),
      present: { refs: new Map(clash(refs.map(([ref]) => ref)) === undefined ? refs : refs.slice(0, 1)), head: DEFAULT_HEAD },
      format: undefined,
      states,
      servedState: states[served],
      overlay: overlay.flatMap(([ref, n]) => {
        const of = states[n];
        return of === undefined ? [] : [{ repo, ref, value: of.refs.get(ref), state: of.id, stateCreatedAt: of.createdAt }];
      }),
      pullRequests: new Map(),
      unsigned: { tips: new Map(), tipsPerIdMax: 4, bytesLeft: 1 },
    }),
  );
/** Mostly some of what one state wants, so that many pushes are allowed. */
const push = facts.chain((given) => {
  const stray = fc.array(command, { minLength: given.states.length === 0 ? 1 : 0, maxLength: 1 });
  const wanted = given.states.map(({ refs }) =>
    REFS.map((ref): RefUpdate => ({ ref, from: given.present.refs.get(ref), to: refs.get(ref) })).filter(({ from, to }) => from !== to),
  );
  const some = fc
    .constantFrom(...(wanted.length === 0 ? [[]] : wanted))
    .chain((all) => fc.subarray(all, { minLength: Math.min(1, all.length) }));
  const updates = fc.oneof(
    { weight: 3, arbitrary: some },
    { weight: 1, arbitrary: fc.tuple(some, stray).map(([these, more]) => [...more, ...these.filter(({ ref }) => ref !== more[0]?.ref)]) },
  );
  return fc.tuple(fc.constant(given), updates);
});

const version = ({ id, createdAt }: RepoState) => ({ id, created_at: createdAt });

/** grasp.md 7.5 and 7.6 as they are written: which states allow the whole push, newest first. `undefined`: none is asked. */
function allowing(given: PushFacts, updates: readonly RefUpdate[]): RepoState[] | undefined {
  const moves = updates.filter(({ ref, to }) => given.present.refs.get(ref) !== to);
  if (moves.length === 0) return undefined;
  const served = given.servedState !== undefined && given.confirmed.has(given.servedState.author) ? given.servedState : undefined;
  return given.states
    .filter((one) => given.confirmed.has(one.author) && one.flaw === undefined)
    .filter((one) => one.refs.size > 0 || one.author === OWNER)
    .filter((one) => served === undefined || !wins(version(served), version(one)))
    .filter((one) => moves.every(({ ref, to }) => one.refs.get(ref) === to))
    .filter((one) => moves.every(({ ref }) => given.overlay.every((record) => record.ref !== ref || !isOfNewerState(record, one))))
    .toSorted((a, b) => (a.id === b.id ? 0 : wins(version(a), version(b)) ? -1 : 1));
}

test("a push is allowed exactly when 7.5 and 7.6 allow it, by the newest state that does", () => {
  let allowed = 0;
  fc.assert(
    fc.property(push, ([given, updates]) => {
      const verdict = judgePush(updates, given);
      const states = allowing(given, updates);
      const isSane = updates.every(
        ({ ref, from, to }) => !(from === undefined && to === undefined) && (from !== to || given.present.refs.get(ref) === to),
      );
      const fits = clash(withUpdates(given.present.refs, updates).keys()) === undefined;
      expect(verdict.kind).toBe(updates.length > 0 && isSane && fits && states?.length !== 0 ? "allowed" : "refused");
      if (verdict.kind === "allowed") expect(verdict.state?.id).toBe(states?.[0]?.id);
      if (verdict.kind === "allowed" && states !== undefined) allowed += 1;
    }),
    runs(3_000),
  );
  // Else the property would hold for want of pushes that move something.

  expect(allowed).toBeGreaterThan(300);
});

test("all or nothing, one answer each, in order, and the order of states does not matter", () => {
  fc.assert(
    fc.property(push, ([given, updates]) => {
      const verdict = judgePush(updates, given);
      expect(verdict.refs.map(({ update }) => update)).toEqual(updates);
      for (const { kind } of verdict.refs) expect(kind).toBe(verdict.kind === "allowed" ? "ok" : "ng");
      expect(judgePush(updates, { ...given, states: given.states.toReversed(), overlay: given.overlay.toReversed() })).toEqual(verdict);
    }),
    runs(1_000),
  );
});

test("asking again after the refs moved says that all is there", () => {
  fc.assert(
    fc.property(push, ([given, updates]) => {
      if (judgePush(updates, given).kind === "refused") return;
      const moved = { ...given, present: { ...given.present, refs: withUpdates(given.present.refs, updates) } };
      for (const verdict of judgePush(updates, moved).refs) expect(verdict).toMatchObject({ kind: "ok", deed: { kind: "already-there" } });
    }),
    runs(1_000),
  );
});
