import { describe, expect, it } from "vitest";
import { unixSeconds } from "../../../src/base/time.ts";
import { eventText } from "../../../src/nostr/event.ts";
import { seq } from "../../../src/store/event-store.ts";
import { fakeEvent, fakeId, fakeKey } from "../../kit/arbitrary/fake-event.ts";
import { filterOf } from "../../kit/arbitrary/filter.ts";
import { apply, EARLY, found, ids, idsOf, type OpenFunction, put, query, remove, serve, withStore } from "./bench.ts";

const alice = fakeKey("alice");
const bob = fakeKey("bob");
const lowFirst = (a: { id: string }, b: { id: string }): number => (a.id < b.id ? -1 : 1);

/** What REQ and COUNT rest on. */
export function queryContract(open: OpenFunction): void {
  describe("query", () => {
    it(
      "gives newest first, ties by lower id (NIP-01; grasp.md 3.2)",
      withStore(open, async (store) => {
        const ties = ["a", "b", "c", "d", "e"].map((label) => fakeEvent({ id: fakeId(label), created_at: 200 }));
        const old = fakeEvent({ created_at: 199 });
        const young = fakeEvent({ created_at: 201 });
        await serve(store, ...ties, young, old);
        expect(await found(store, filterOf())).toEqual(ids(young, ...ties.toSorted(lowFirst), old));
      }),
    );

    it(
      "breaks ties by the whole id, however alike two begin (NIP-01; grasp.md 3.2)",
      withStore(open, async (store) => {
        const ties = Array.from({ length: 16 }, (_, n) => fakeEvent({ id: fakeId(n), created_at: 200 }));
        await serve(store, ...ties);
        const expected = ids(...ties.toSorted(lowFirst));
        expect(await found(store, filterOf())).toEqual(expected);
        for (const limit of [1, 2, 3, 5, 10]) expect(await found(store, filterOf({ limit, kinds: [1] }))).toEqual(expected.slice(0, limit));
        expect(idsOf(await store.reader.items(filterOf(), EARLY))).toEqual(expected);
      }),
    );

    it(
      "cuts at limit after sorting: 0 gives none, n the n newest, absent all (NIP-01)",
      withStore(open, async (store) => {
        const ties = ["a", "b", "c", "d"].map((label) => fakeEvent({ id: fakeId(label), created_at: 50 })).toSorted(lowFirst);
        const young = fakeEvent({ created_at: 60 });
        await serve(store, ...ties.toReversed(), young);
        for (const limit of [0, 1, 2, 4, 5, 6]) {
          expect(await found(store, filterOf({ limit })), `limit ${limit}`).toEqual(ids(young, ...ties).slice(0, limit));
          expect(await found(store, filterOf({ limit, kinds: [1], authors: [alice, bob] }))).toEqual(ids(young, ...ties).slice(0, limit));
        }
        expect(await found(store, filterOf())).toHaveLength(5);
      }),
    );

    it(
      "takes since and until as inclusive (NIP-01)",
      withStore(open, async (store) => {
        const [e1, e2, e3] = [fakeEvent({ created_at: 1 }), fakeEvent({ created_at: 2 }), fakeEvent({ created_at: 3 })];
        await serve(store, e1, e2, e3);
        expect(await found(store, filterOf({ since: 2 }))).toEqual(ids(e3, e2));
        expect(await found(store, filterOf({ until: 2 }))).toEqual(ids(e2, e1));
        expect(await found(store, filterOf({ since: 2, until: 2 }))).toEqual(ids(e2));
        expect(await found(store, filterOf({ since: 3, until: 2 }))).toEqual([]);
      }),
    );

    it(
      "knows times from 0 to 2^53-1 (grasp.md 3.2)",
      withStore(open, async (store) => {
        const first = fakeEvent({ created_at: 0 });
        const beforeLast = fakeEvent({ created_at: Number.MAX_SAFE_INTEGER - 1 });
        const last = fakeEvent({ created_at: Number.MAX_SAFE_INTEGER });
        await serve(store, first, last, beforeLast);
        expect(await found(store, filterOf())).toEqual(ids(last, beforeLast, first));
        expect(await found(store, filterOf({ since: Number.MAX_SAFE_INTEGER }))).toEqual(ids(last));
        expect(await found(store, filterOf({ until: 0 }))).toEqual(ids(first));
        expect((await query(store, filterOf())).map((event) => event.createdAt)).toEqual(
          [last, beforeLast, first].map((e) => e.created_at),
        );
      }),
    );

    it(
      "matches nothing with an empty list (NIP-01)",
      withStore(open, async (store) => {
        await serve(store, fakeEvent({ tags: [["t", "x"]] }));
        for (const empty of [{ ids: [] }, { authors: [] }, { kinds: [] }, { tags: { t: [] } }, { kinds: [1], tags: { t: [] } }]) {
          expect(await found(store, filterOf(empty)), JSON.stringify(empty)).toEqual([]);
          expect(await store.reader.count([filterOf(empty)], EARLY)).toBe(0);
        }
        expect(await found(store, filterOf({ tags: { t: ["x"] } }))).toHaveLength(1);
      }),
    );

    it(
      "wants every condition, and in each of them any value (NIP-01)",
      withStore(open, async (store) => {
        const a1 = fakeEvent({
          pubkey: alice,
          kind: 1,
          created_at: 4,
          tags: [
            ["t", "x"],
            ["p", bob],
          ],
        });
        const a2 = fakeEvent({
          pubkey: alice,
          kind: 1621,
          created_at: 3,
          tags: [
            ["t", "x"],
            ["t", "y"],
          ],
        });
        const b1 = fakeEvent({ pubkey: bob, kind: 1, created_at: 2, tags: [["t", "y"]] });
        const b2 = fakeEvent({ pubkey: bob, kind: 1621, created_at: 1 });
        await serve(store, a1, a2, b1, b2);
        expect(await found(store, filterOf({ authors: [alice], kinds: [1] }))).toEqual(ids(a1));
        expect(await found(store, filterOf({ kinds: [1, 1621, 1], authors: [bob, bob] }))).toEqual(ids(b1, b2));
        expect(await found(store, filterOf({ ids: ids(b2, a1, a1), authors: [alice] }))).toEqual(ids(a1));
        expect(await found(store, filterOf({ ids: [fakeId("unknown")] }))).toEqual([]);
        // An event that has two of the values is one result.
        expect(await found(store, filterOf({ tags: { t: ["x", "y"] } }))).toEqual(ids(a1, a2, b1));
        expect(await found(store, filterOf({ tags: { t: ["x"], p: [bob] } }))).toEqual(ids(a1));
        expect(await found(store, filterOf({ tags: { t: ["x"] }, kinds: [1621], since: 3, until: 3 }))).toEqual(ids(a2));
      }),
    );

    it(
      "looks only at the first value of single-letter tags, and tells cases apart (NIP-01)",
      withStore(open, async (store) => {
        const named = fakeEvent({ tags: [["e", "x", "y"]] });
        const upper = fakeEvent({
          created_at: 99,
          tags: [
            ["E", "x"],
            ["t", "X"],
          ],
        });
        const idle = fakeEvent({ created_at: 98, tags: [["ee", "x"], ["expiration", "x"], ["e"], ["t", ""]] });
        await serve(store, named, upper, idle);
        expect(await found(store, filterOf({ tags: { e: ["x"] } }))).toEqual(ids(named));
        expect(await found(store, filterOf({ tags: { e: ["y"] } }))).toEqual([]);
        expect(await found(store, filterOf({ tags: { e: [""] } }))).toEqual([]);
        expect(await found(store, filterOf({ tags: { t: [""] } }))).toEqual(ids(idle));
        expect(await found(store, filterOf({ tags: { E: ["x"] } }))).toEqual(ids(upper));
        expect(await found(store, filterOf({ tags: { t: ["x"] } }))).toEqual([]);
      }),
    );

    it(
      "compares tag values byte by byte, whatever is in them (NIP-01)",
      withStore(open, async (store) => {
        const values = ["x\u0000y", "x\u0000z", "x", "'; --", "%", "é", "e\u0301", "\u{1f426}", "x".repeat(5000), `${"x".repeat(5000)}y`];
        const events = values.map((value, n) => fakeEvent({ created_at: n, tags: [["t", value]] }));
        await serve(store, ...events);
        for (const [n, event] of events.entries())
          expect(await found(store, filterOf({ tags: { t: [values[n] ?? ""] } }))).toEqual(ids(event));
        expect(await found(store, filterOf({ tags: { t: ["_", "x%", "y", "e"] } }))).toEqual([]);
      }),
    );

    it(
      "finds any of several hundred values (grasp.md 3.3)",
      withStore(open, async (store) => {
        const events = Array.from({ length: 30 }, (_, n) => fakeEvent({ created_at: n, pubkey: fakeKey(n), tags: [["p", fakeKey(n)]] }));
        await serve(store, ...events);
        const keys = Array.from({ length: 600 }, (_, n) => fakeKey(n * 3));
        const expected = ids(...events.filter((_, n) => n % 3 === 0).toReversed());
        expect(await found(store, filterOf({ authors: keys }))).toEqual(expected);
        expect(await found(store, filterOf({ tags: { p: keys } }))).toEqual(expected);
        expect(await found(store, filterOf({ tags: { p: keys }, limit: 4 }))).toEqual(expected.slice(0, 4));
      }),
    );

    it(
      "serves the text it was given, with the number of the change that served it",
      withStore(open, async (store) => {
        const event = fakeEvent({ content: 'a "quoted" \u{1f426}\nline', tags: [["t", "\u0000"]] });
        await serve(store, fakeEvent({ created_at: 1 }), event);
        const expected = { seq: 2, id: event.id, createdAt: event.created_at, text: eventText(event) };
        expect(await query(store, filterOf({ ids: ids(event) }))).toEqual([expected]);
      }),
    );

    it(
      "hides what has expired at the view's time, that second included (NIP-40)",
      withStore(open, async (store) => {
        const brief = fakeEvent({ created_at: 2 });
        const lasting = fakeEvent({ created_at: 1 });
        await apply(store, [put(brief, { expiresAt: 500 }), put(lasting)]);
        const at = async (now: number) => {
          const view = { now: unixSeconds(now) };
          const all = await found(store, filterOf(), view);
          expect(await store.reader.count([filterOf()], view)).toBe(all.length);
          expect((await store.reader.items(filterOf(), view)).length).toBe(all.length);
          expect(await found(store, filterOf({ limit: 1 }), view)).toEqual(all.slice(0, 1));
          return all;
        };
        expect(await at(499)).toEqual(ids(brief, lasting));
        expect(await at(500)).toEqual(ids(lasting));
        expect(await at(501)).toEqual(ids(lasting));
      }),
    );

    it(
      "hides with upTo what a later change served (grasp.md 8.4)",
      withStore(open, async (store) => {
        const [e1, e2, e3] = [fakeEvent({ created_at: 1 }), fakeEvent({ created_at: 2 }), fakeEvent({ created_at: 3 })];
        await serve(store, e2, e1);
        const upTo = await store.reader.head();
        await serve(store, e3);
        expect(await found(store, filterOf(), { ...EARLY, upTo })).toEqual(ids(e2, e1));
        expect(await found(store, filterOf({ limit: 1 }), { ...EARLY, upTo })).toEqual(ids(e2));
        expect(await store.reader.count([filterOf()], { ...EARLY, upTo })).toBe(2);
        expect((await store.reader.items(filterOf(), { ...EARLY, upTo })).length).toBe(2);
        expect(await found(store, filterOf(), { ...EARLY, upTo: seq(0) })).toEqual([]);
        // What was removed and served again counts by the change that serves it now.
        await apply(store, [...remove(e1), put(e1)]);
        expect(await found(store, filterOf(), { ...EARLY, upTo })).toEqual(ids(e2));
      }),
    );
  });
}
