import { describe, expect, it } from "vitest";
import { instant, unixSeconds } from "../../../src/base/time.ts";
import { eventText, type VerifiedEvent } from "../../../src/nostr/event.ts";
import type { Batch } from "../../../src/store/batch.ts";
import type { HeldStage } from "../../../src/store/held.ts";
import { coordinate, type EventParts, fakeEvent, fakeId, fakeKey } from "../../kit/arbitrary/fake-event.ts";
import { filterOf } from "../../kit/arbitrary/filter.ts";
import {
  acrossReopen,
  apply,
  EARLY,
  feedAfter,
  found,
  hold,
  ids,
  type OpenFunction,
  type OpenStore,
  put,
  remove,
  serve,
  sorted,
  withStore,
} from "./bench.ts";

const [alice, bob] = [fakeKey("alice"), fakeKey("bob")];
const announcement = (d: string, parts: EventParts = {}) => fakeEvent({ kind: 30_617, ...parts, tags: [["d", d], ...(parts.tags ?? [])] });
const state = (d: string, created_at: number, parts: EventParts = {}) =>
  fakeEvent({ kind: 30_618, created_at, ...parts, tags: [["d", d], ...(parts.tags ?? [])] });
const [hold1, hold2] = ["one", "two"].map((d) => coordinate({ kind: 30_617, pubkey: alice, d })) as [string, string];
const pr = (created_at: number, pubkey = bob) => fakeEvent({ kind: 1618, created_at, pubkey, tags: [["a", hold1]] });

const STAGES: readonly HeldStage[] = ["waiting", "soft-expired", "expired", "superseded"];
/** From whatever stage it is in. */
const restage = (event: VerifiedEvent, stage: HeldStage, until: number | "never" = 9000): Batch => {
  const to = { kind: "restage", id: event.id, stage, until: until === "never" ? undefined : instant(until) } as const;
  return [...STAGES.filter((from) => from !== stage), stage].map((from) => ({ ...to, from }));
};
const promote = (event: VerifiedEvent): Batch => [{ kind: "promote", id: event.id }];
const supersede = (event: VerifiedEvent, supersededMax = 10): Batch => [
  { kind: "withdraw", id: event.id, what: "state", stage: "superseded", at: instant(5000), until: instant(9000), supersededMax },
];
const told = async (store: OpenStore): Promise<string[]> =>
  (await feedAfter(store)).map((change) => `${change.seq} ${change.change} ${change.change === "served" ? change.event.id : change.id}`);
const idsOf = (held: readonly { readonly event: VerifiedEvent }[]) => held.map(({ event }) => event.id);

/** What is kept and not served (grasp.md 6.1). */
export function heldContract(open: OpenFunction): void {
  describe("held events (grasp.md 6.1)", () => {
    const first = announcement("one", { created_at: 5, tags: [["t", "x"]] });

    it(
      "are shown by no answer of a reader (grasp.md 3.5)",
      withStore(open, async (store) => {
        const note = fakeEvent({ created_at: 4 });
        await serve(store, note);
        await apply(store, [hold(first), hold(state("one", 6)), hold(pr(7), { repositories: [hold1] })]);
        for (const stage of ["waiting", "soft-expired", "expired", "superseded"] as const) {
          await apply(store, restage(first, stage));
          for (const filter of [
            filterOf(),
            filterOf({ ids: [first.id] }),
            filterOf({ kinds: [30_617] }),
            filterOf({ tags: { t: ["x"] } }),
          ]) {
            const expected = filter.ids === undefined && filter.kinds === undefined && filter.tags.size === 0 ? [note.id] : [];
            expect(await found(store, filter)).toEqual(expected);
            expect(await store.reader.count([filter], EARLY)).toBe(expected.length);
            expect((await store.reader.items(filter, EARLY)).length).toBe(expected.length);
          }
          expect(await store.reader.provenance(first.id)).toBeUndefined();
        }
      }),
    );

    it(
      "are nothing that others may refer to, and hold no address (grasp.md §1: what names only waiting things is an orphan)",
      withStore(open, async (store) => {
        const named = fakeEvent({ created_at: 9 });
        const naming = announcement("one", { tags: [["e", named.id]] });
        await apply(store, [hold(naming)]);
        const address = { kind: 30_617, pubkey: alice, d: "one" };
        await store.writer.transact(async (tx) => {
          expect(await tx.serves(naming.id)).toBe(false);
          expect(await tx.incumbent(address)).toBeUndefined();
          expect(await tx.servesAny([naming.id], [address])).toBe(false);
          expect(await tx.isNamed(named)).toBe(false);
          expect(await tx.hasServed(alice)).toBe(false);
          expect(await tx.servedByIdentifier(30_617, "one", 5)).toEqual([]);
        });
      }),
    );

    it(
      "are numbered changes of the feed: held, served, removed (grasp.md 8.4)",
      withStore(open, async (store) => {
        const other = state("one", 6);
        const text = eventText(first);
        expect(await apply(store, [hold(first)])).toEqual([{ seq: 1, change: "held", id: first.id, createdAt: 5, text }]);
        await apply(store, [hold(other), ...restage(first, "soft-expired"), ...restage(first, "waiting", 9001)]);
        expect(await told(store)).toEqual([`1 held ${first.id}`, `2 held ${other.id}`]);
        expect(await apply(store, promote(first))).toEqual([
          { seq: 3, change: "served", event: { seq: 3, id: first.id, createdAt: 5, text } },
        ]);
        expect(await told(store)).toEqual([`1 passed ${first.id}`, `2 held ${other.id}`, `3 served ${first.id}`]);
        await apply(store, restage(other, "expired"));
        await apply(store, [hold(other)]);
        await apply(store, remove(other));
        const ofOther = ["2 passed", "4 removed", "5 passed", "6 removed"].map((line) => `${line} ${other.id}`);
        expect(await told(store)).toEqual(sorted([`1 passed ${first.id}`, `3 served ${first.id}`, ...ofOther]));
        expect(await store.reader.head()).toBe(6);
      }),
    );

    it(
      "are promoted with all that was known of them, from every stage",
      withStore(open, async (store) => {
        const provenance = { how: "live", relay: "wss://one.example" } as const;
        for (const [n, stage] of (["waiting", "soft-expired", "expired", "superseded"] as const).entries()) {
          const event = state("one", n, { pubkey: fakeKey(n) });
          await apply(store, [hold(event, { provenance, expiresAt: unixSeconds(70) }), ...restage(event, stage), ...promote(event)]);
          expect(await store.held.waits(event.id)).toBeUndefined();
          expect(await store.reader.provenance(event.id)).toEqual(provenance);
          expect(await found(store, filterOf({ ids: [event.id] }), { now: unixSeconds(69) })).toEqual([event.id]);
          expect(await found(store, filterOf({ ids: [event.id] }), { now: unixSeconds(70) })).toEqual([]);
        }
        expect(await apply(store, [{ kind: "promote", id: fakeId("unknown") }])).toEqual([]);
      }),
    );

    it(
      "hold: what waits or is served stays as it is; what had expired waits again",
      withStore(open, async (store) => {
        const served = state("one", 1);
        await serve(store, served);
        expect(await apply(store, [hold(served)])).toEqual([]);
        expect(await store.held.waits(served.id)).toBeUndefined();
        await apply(store, [hold(first, { until: instant(7) })]);
        expect(await apply(store, [hold(first, { until: instant(8) })])).toEqual([]);
        expect((await store.held.heldEvent(first.id))?.until).toBe(7);
        await apply(store, restage(first, "soft-expired", 8));
        expect(await apply(store, [hold(first, { until: instant(9) })])).toEqual([]);
        expect(await store.held.heldEvent(first.id)).toMatchObject({ stage: "waiting", until: 9 });
        await apply(store, restage(first, "expired"));
        expect(await apply(store, [hold(first)])).toHaveLength(1);
        expect(await store.held.waits(first.id)).toBe("waiting");
      }),
    );

    it(
      "keep every fact across a restart: a crash loses nothing that was OK'd",
      acrossReopen(
        open,
        async (store) => {
          const provenance = { how: "catch-up", relay: "wss://two.example" } as const;
          const more = { heldAt: instant(11), until: undefined, expiresAt: unixSeconds(99), provenance, repositories: [hold1, hold2] };
          await apply(store, [hold(pr(7), more), hold(first)]);
          await apply(store, restage(first, "soft-expired"));
          return [await store.held.heldEvent(pr(7).id), await store.held.heldPage(undefined, 10), await told(store)];
        },
        async (store, before) => {
          expect([await store.held.heldEvent(pr(7).id), await store.held.heldPage(undefined, 10), await told(store)]).toEqual(before);
          expect(idsOf(await store.held.pullRequestsFor([hold2]))).toEqual([pr(7).id]);
          expect((await serve(store, fakeEvent()))[0]?.seq).toBe(3);
        },
      ),
    );

    it(
      "restage and release do nothing from another stage, and never touch what is served (grasp.md 5.4)",
      withStore(open, async (store) => {
        const served = state("one", 1);
        await apply(store, [hold(first), put(served)]);
        for (const from of STAGES) {
          const until = instant(3);
          for (const { id } of from === "waiting" ? [served] : [served, first]) {
            expect(await apply(store, [{ kind: "restage", id, from, stage: "expired", until }])).toEqual([]);
            expect(await apply(store, [{ kind: "release", id, from }])).toEqual([]);
          }
        }
        expect(await found(store, filterOf())).toEqual([served.id]);
        expect(await store.held.heldEvent(first.id)).toMatchObject({ stage: "waiting", until: 2000 });
        expect(await apply(store, [{ kind: "release", id: first.id, from: "waiting" }])).toMatchObject([{ change: "removed" }]);
        expect(await store.held.waits(first.id)).toBeUndefined();
      }),
    );

    it(
      "are not there when the work that held them failed",
      withStore(open, async (store) => {
        const work = store.writer.transact(async (tx) => {
          await tx.apply([hold(first)]);
          expect(await tx.held.waits(first.id)).toBe("waiting");
          throw new Error("changed its mind");
        });
        await expect(work).rejects.toThrow("changed its mind");
        expect(await store.held.waits(first.id)).toBeUndefined();
        expect(await told(store)).toEqual([]);
      }),
    );
  });

  describe("facts about what is held", () => {
    it(
      "heldFor, heldByIdentifier, statesOf: by identifier, newest first, ties by lower id (grasp.md 4.7, 6.6, 11.3)",
      withStore(open, async (store) => {
        const [a1, a2, other] = [announcement("one"), announcement("one", { pubkey: bob, created_at: 50 }), announcement("two")];
        const states = [5, 7, 7, 6, 8].map((at, n) => state("one", at, { id: fakeId(n) })) as [VerifiedEvent, ...VerifiedEvent[]];
        const [s5, s7, s7b, s6, s8] = states as unknown as [VerifiedEvent, VerifiedEvent, VerifiedEvent, VerifiedEvent, VerifiedEvent];
        const byBob = state("one", 9, { pubkey: bob });
        await apply(
          store,
          [a1, a2, other, ...states, byBob].map((event) => hold(event)),
        );
        await apply(store, [...restage(s5, "superseded"), ...restage(s6, "expired"), ...restage(a2, "soft-expired")]);
        const sevens = sorted([s7.id, s7b.id]);
        expect(idsOf(await store.held.heldFor(alice, "one"))).toEqual([a1.id, s8.id, ...sevens, s6.id, s5.id]);
        expect(idsOf(await store.held.statesOf("one", [alice]))).toEqual([s8.id, ...sevens, s5.id]);
        expect(idsOf(await store.held.statesOf("one", [bob, alice, bob]))).toEqual([byBob.id, s8.id, ...sevens, s5.id]);
        expect(await store.held.statesOf("two", [alice])).toEqual([]);
        expect(idsOf(await store.held.heldByIdentifier("announcement", "one", 9))).toEqual([a1.id, a2.id]);
        expect(idsOf(await store.held.heldByIdentifier("announcement", "one", 1))).toEqual([a1.id]);
        expect(await store.held.heldByIdentifier("announcement", "one", 0)).toEqual([]);
        expect(idsOf(await store.held.heldByIdentifier("state", "one", 9))).toEqual([byBob.id, s8.id, ...sevens]);
        expect(await store.held.waitingBy(alice, "state")).toBe(3);
        expect(await store.held.expiredIds(ids(s5, s6, s7))).toEqual([s6.id]);
      }),
    );

    it(
      "ties go by id, in whatever order they came (grasp.md 3.2)",
      withStore(open, async (store) => {
        const byId = ["a", "b", "c"].map((content) => state("one", 7, { content })).toSorted((a, b) => (a.id < b.id ? -1 : 1));
        for (const at of [1, 0, 2]) await apply(store, [hold(byId[at] as VerifiedEvent)]);
        expect(idsOf(await store.held.heldByIdentifier("state", "one", 9))).toEqual(ids(...byId));
        expect(idsOf(await store.held.heldFor(alice, "one"))).toEqual(ids(...byId));
        expect(idsOf(await store.held.heldByIdentifier("state", "one", 2))).toEqual(ids(...byId.slice(0, 2)));
      }),
    );

    it(
      "pullRequestsFor: those that wait for one of the repositories, each once (grasp.md 6.9)",
      withStore(open, async (store) => {
        const [p1, p2, both] = [pr(1), pr(2), pr(3)];
        await apply(store, [
          hold(p1, { repositories: [hold1] }),
          hold(p2, { repositories: [hold2] }),
          hold(both, { repositories: [hold2, hold1] }),
        ]);
        expect(idsOf(await store.held.pullRequestsFor([hold1]))).toEqual(ids(both, p1));
        expect(idsOf(await store.held.pullRequestsFor([hold1, hold2]))).toEqual(ids(both, p2, p1));
        await apply(store, [...restage(both, "expired"), ...promote(p2)]);
        expect(idsOf(await store.held.pullRequestsFor([hold1, hold2]))).toEqual(ids(p1));
        expect(await store.held.waitingBy(bob, "pull-request")).toBe(1);
        await apply(store, [...remove(p1), hold(both)]);
        expect(await store.held.pullRequestsFor([hold1, hold2])).toEqual([]);
      }),
    );

    it(
      "outlived: expired and superseded ones whose end has come, oldest first; never what waits (grasp.md 6.3, 11.3)",
      withStore(open, async (store) => {
        const events = [1, 2, 3, 4].map((n) => state("one", n)) as [VerifiedEvent, VerifiedEvent, VerifiedEvent, VerifiedEvent];
        await apply(
          store,
          events.map((event) => hold(event, { until: instant(1) })),
        );
        const [e1, e2, e3, e4] = events;
        await apply(store, [...restage(e1, "expired", 50), ...restage(e2, "superseded", 40), ...restage(e3, "soft-expired", 1)]);
        expect(await store.held.outlived(instant(39), 9)).toEqual([]);
        expect(await store.held.outlived(instant(40), 9)).toEqual([e2.id]);
        expect(await store.held.outlived(instant(50), 9)).toEqual(ids(e2, e1));
        expect(await store.held.outlived(instant(50), 1)).toEqual([e2.id]);
        await apply(store, [...remove(e1, e2), ...restage(e4, "expired", "never")]);
        expect(await store.held.outlived(instant(1e12), 9)).toEqual([]);
      }),
    );
  });

  describe("withdrawn (grasp.md 11.3)", () => {
    it(
      "a superseded state is kept unserved, and can be served again",
      withStore(open, async (store) => {
        const [old, young] = [state("one", 1), state("one", 2)];
        await apply(store, [put(old, { provenance: { how: "daily", relay: "wss://one.example" } })]);
        await apply(store, [...supersede(old), put(young)]);
        expect(await told(store)).toEqual([`1 passed ${old.id}`, `2 removed ${old.id}`, `3 served ${young.id}`]);
        expect(await store.held.heldEvent(old.id)).toMatchObject({ stage: "superseded", until: 9000, heldAt: 5000, what: "state" });
        await apply(store, [...remove(young), ...promote(old)]);
        expect(await found(store, filterOf())).toEqual([old.id]);
        expect(await store.reader.provenance(old.id)).toEqual({ how: "daily", relay: "wss://one.example" });
      }),
    );

    it(
      "of one author and repository the newest ten stay; others' and waiting ones do not count",
      withStore(open, async (store) => {
        const own = Array.from({ length: 12 }, (_, n) => state("one", n));
        const others = [state("two", 0), state("one", 0, { pubkey: bob })];
        await serve(store, ...others);
        await apply(store, [hold(state("one", 0, { content: "waits" })), ...others.flatMap((event) => supersede(event))]);
        for (const event of own) await apply(store, [put(event), ...supersede(event)]);
        expect(idsOf((await store.held.heldFor(alice, "one")).filter(({ stage }) => stage === "superseded"))).toEqual(
          ids(...own.slice(2).toReversed()),
        );
        for (const event of others) expect(await store.held.waits(event.id)).toBe("superseded");
        expect(await store.held.waitingBy(alice, "state")).toBe(1);
      }),
    );

    it(
      "a waiting state can be superseded without ever having been served",
      withStore(open, async (store) => {
        const old = state("one", 1);
        await apply(store, [hold(old)]);
        await apply(store, supersede(old));
        expect(await store.held.heldEvent(old.id)).toMatchObject({ stage: "superseded", until: 9000 });
        expect(await told(store)).toEqual([`1 passed ${old.id}`, `2 removed ${old.id}`]);
        expect(await apply(store, supersede(state("one", 2)))).toEqual([]);
      }),
    );

    it(
      "the announcement of a repository without any state left waits",
      withStore(open, async (store) => {
        const event = announcement("one");
        await serve(store, event);
        await apply(store, [
          { kind: "withdraw", id: event.id, what: "announcement", stage: "waiting", at: instant(5), until: instant(6), supersededMax: 10 },
        ]);
        expect(await told(store)).toEqual([`1 passed ${event.id}`, `2 removed ${event.id}`, `3 held ${event.id}`]);
        expect(await found(store, filterOf())).toEqual([]);
        expect(await store.held.heldEvent(event.id)).toMatchObject({ stage: "waiting", what: "announcement", until: 6 });
      }),
    );
  });

  describe("deletion, vanish and expiration of what is held (grasp.md 11.1, 3.2)", () => {
    it(
      "remove drops it in every stage; only what was in purgatory is told",
      withStore(open, async (store) => {
        for (const stage of ["waiting", "soft-expired", "expired", "superseded"] as const) {
          const event = state("one", 1, { content: stage });
          await apply(store, [hold(event), ...restage(event, stage)]);
          const made = await apply(store, remove(event));
          expect(made.map(({ change }) => change)).toEqual(stage === "waiting" || stage === "soft-expired" ? ["removed"] : []);
          expect(await store.held.waits(event.id)).toBeUndefined();
          expect(await store.held.heldFor(alice, "one")).toEqual([]);
        }
      }),
    );

    it(
      "ownHeld: the author's own, by id, or by address up to the request's time",
      withStore(open, async (store) => {
        const [s5, s6, s7] = [state("one", 5), state("one", 6), state("one", 7)];
        const [mine, theirs, byBob] = [announcement("one"), pr(8), state("one", 1, { pubkey: bob })];
        for (const event of [s5, s6, s7, mine, theirs, byBob]) await apply(store, [hold(event)]);
        await apply(store, restage(s5, "expired"));
        const address = (pubkey = alice) => ({ kind: 30_618, pubkey, d: "one" });
        const own = async (...args: Parameters<OpenStore["held"]["ownHeld"]>) => (await store.held.ownHeld(...args)).map(({ id }) => id);
        expect(await own(alice, [], [address()], unixSeconds(6))).toEqual(ids(s6, s5));
        expect(await own(alice, ids(s7, theirs, s6, s6), [], unixSeconds(0))).toEqual(ids(s7, s6));
        expect(await own(alice, ids(mine), [address(), address(bob)], unixSeconds(5))).toEqual(ids(mine, s5));
        expect(await own(bob, [fakeId("unknown")], [], unixSeconds(99))).toEqual([]);
      }),
    );

    it(
      "toVanish names what is held too (NIP-62)",
      withStore(open, async (store) => {
        const request = fakeEvent({ kind: 62, created_at: 9 });
        const kept = [state("one", 10), state("one", 1, { pubkey: bob })];
        const gone = [state("one", 5), announcement("one", { created_at: 9 }), pr(3, alice)];
        await serve(store, request, fakeEvent({ created_at: 2 }));
        for (const event of [...kept, ...gone]) await apply(store, [hold(event)]);
        await apply(store, restage(gone[0] as VerifiedEvent, "superseded"));
        const left = (max: number) =>
          store.writer.transact((tx) => tx.toVanish({ request: request.id, author: alice, vanishUntil: unixSeconds(9) }, max));
        expect(sorted(await left(10))).toEqual(sorted(ids(...gone, fakeEvent({ created_at: 2 }))));
        for (const max of [0, 1, 3, 4, 5]) expect(await left(max)).toHaveLength(Math.min(max, 4));
      }),
    );

    it(
      "expired and nextExpiry see it, until it goes (NIP-40)",
      withStore(open, async (store) => {
        const [s1, s2] = [state("one", 1), state("one", 2)];
        await apply(store, [hold(s1, { expiresAt: unixSeconds(60) }), put(fakeEvent(), { expiresAt: 70 }), hold(s2)]);
        expect(await store.writer.nextExpiry()).toBe(60);
        expect(await store.writer.expired(unixSeconds(59), 9)).toEqual([]);
        expect(await store.writer.expired(unixSeconds(70), 9)).toEqual(ids(s1, fakeEvent()));
        await apply(store, remove(s1));
        expect(await store.writer.nextExpiry()).toBe(70);
      }),
    );
  });
}
