import { describe, expect, it } from "vitest";
import { unixSeconds } from "../../../src/base/time.ts";
import type { EventId } from "../../../src/nostr/event.ts";
import { seq } from "../../../src/store/event-store.ts";
import { fakeEvent, fakeId, fakeKey } from "../../kit/arbitrary/fake-event.ts";
import { type FilterParts, filterOf } from "../../kit/arbitrary/filter.ts";
import { apply, EARLY, found, ids, idsOf, type OpenFunction, put, query, remove, serve, sorted, withStore } from "./bench.ts";

/** More than any store reads in one go. */
const MANY = 2500;

/** Many ties, so that a slice ends between two events of one second. */
const manyEvents = Array.from({ length: MANY }, (_, n) =>
  fakeEvent({ id: fakeId(`many ${n}`), created_at: 1000 + Math.floor(n / 40), kind: n % 2 }),
);
const inOrder = ids(...manyEvents.toSorted((a, b) => b.created_at - a.created_at || (a.id < b.id ? -1 : 1)));

/** Long answers, counts, and the lists that negentropy works on. */
export function sliceContract(open: OpenFunction): void {
  describe("long answers", () => {
    it(
      "are slices that make up the whole, each event once, in order",
      withStore(open, async (store) => {
        await serve(store, ...manyEvents);
        const slices: EventId[][] = [];
        for await (const slice of store.reader.query(filterOf(), EARLY)) slices.push(slice.map((event) => event.id));
        expect(slices.length).toBeGreaterThan(1);
        expect(slices.flat()).toEqual(inOrder);
        expect(await found(store, filterOf({ limit: MANY - 1 }))).toEqual(inOrder.slice(0, -1));
        expect(await found(store, filterOf({ kinds: [0, 1] }))).toEqual(inOrder);
      }),
    );

    it(
      "are whole and in order where a slice ends between ids that begin alike",
      withStore(open, async (store) => {
        const alike = Array.from({ length: MANY }, (_, n) => fakeEvent({ id: fakeId(n), created_at: 1000 }));
        await serve(store, ...alike);
        expect(await found(store, filterOf())).toEqual(sorted(ids(...alike)));
        expect(idsOf(await store.reader.items(filterOf(), EARLY))).toEqual(sorted(ids(...alike)));
      }),
    );

    it(
      "may be left early, and leave the store as it was",
      withStore(open, async (store) => {
        await serve(store, ...manyEvents);
        for (let round = 0; round < 5; round++) {
          for await (const slice of store.reader.query(filterOf(), EARLY)) {
            expect(slice[0]?.id).toBe(inOrder[0]);
            break;
          }
          for await (const slice of store.feed.read(seq(0))) {
            expect(slice[0]?.seq).toBe(1);
            break;
          }
        }
        const thrown = (async () => {
          for await (const _ of store.reader.query(filterOf(), EARLY)) throw new Error("the reader's own");
        })();
        await expect(thrown).rejects.toThrow("the reader's own");
        await serve(store, fakeEvent({ created_at: 1 }));
        expect(await found(store, filterOf())).toHaveLength(MANY + 1);
      }),
    );

    it(
      "stay in order and whole while others write between two slices (grasp.md 8.4)",
      withStore(open, async (store) => {
        await serve(store, ...manyEvents);
        const upTo = await store.reader.head();
        const gone = new Set<EventId>();
        const seen: { id: EventId; createdAt: number }[] = [];
        let turn = 0;
        for await (const slice of store.reader.query(filterOf(), { ...EARLY, upTo })) {
          seen.push(...slice);
          const victims = manyEvents.slice(turn * 7, turn * 7 + 3);
          for (const victim of victims) gone.add(victim.id);
          await apply(store, [
            ...remove(...victims),
            put(fakeEvent({ created_at: 1001 + turn })),
            put(fakeEvent({ created_at: 5000 + turn })),
          ]);
          turn++;
        }
        const seenIds = ids(...seen);
        expect(new Set(seenIds).size).toBe(seenIds.length);
        expect(seenIds).toEqual(inOrder.filter((id) => seenIds.includes(id)));
        expect(seenIds.filter((id) => !gone.has(id))).toEqual(inOrder.filter((id) => !gone.has(id)));
      }),
    );
  });

  describe("count", () => {
    it(
      "counts an event once however many filters it matches, and does not look at limit (NIP-45)",
      withStore(open, async (store) => {
        await serve(
          store,
          ...[1, 2, 3].map((created_at) =>
            fakeEvent({
              created_at,
              tags: [
                ["t", "x"],
                ["t", "y"],
              ],
            }),
          ),
          fakeEvent({ kind: 7, created_at: 4 }),
        );
        const count = (...filters: Parameters<typeof filterOf>[0][]) =>
          store.reader.count(
            filters.map((parts) => filterOf(parts)),
            EARLY,
          );
        expect(await count({ kinds: [1] }, { tags: { t: ["x", "y"] } }, { kinds: [1] })).toBe(3);
        expect(await count({ since: 3 }, { until: 1 })).toBe(3);
        expect(await count({ limit: 1 })).toBe(4);
        expect(await count({ limit: 0, kinds: [1] }, { limit: 1, kinds: [7] })).toBe(4);
        expect(await count({ authors: [fakeKey("mallory")] })).toBe(0);
        expect(await count()).toBe(0);
      }),
    );

    it(
      "counts what takes more than one slice to read",
      withStore(open, async (store) => {
        await serve(store, ...manyEvents);
        expect(await store.reader.count([filterOf({ kinds: [0] }), filterOf({ since: 1000 })], EARLY)).toBe(MANY);
        expect(await store.reader.count([filterOf({ kinds: [0] })], EARLY)).toBe(MANY / 2);
      }),
    );
  });

  describe("items", () => {
    it(
      "are the set that query finds, time ascending and ties by id ascending (NIP-77)",
      withStore(open, async (store) => {
        await serve(store, ...manyEvents);
        for (const parts of [{}, { kinds: [1] }, { kinds: [0, 1], since: 1010, until: 1040 }, { authors: [fakeKey("alice")] }]) {
          const asked = await query(store, filterOf(parts));
          const expected = asked.toSorted((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
          const items = await store.reader.items(filterOf({ ...parts, limit: 5 }), EARLY);
          expect(idsOf(items), JSON.stringify(parts)).toEqual(ids(...expected));
          expect([...items.createdAt.subarray(0, items.length)]).toEqual(expected.map((event) => event.createdAt));
          expect(items.length).toBe(expected.length);
        }
      }),
    );

    it.each<[string, FilterParts]>([
      ["everything", {}],
      ["one kind", { kinds: [1] }],
      ["two kinds", { kinds: [0, 1] }],
      ["ids", { ids: ids(...manyEvents) }],
      ["a tag", { tags: { t: ["x"] } }],
    ])("of %s are all when there are at most max, else max and one more (grasp.md 3.5)", (_what, parts) =>
      withStore(open, async (store) => {
        const events = manyEvents.slice(0, 60).map((event) => fakeEvent({ ...event, tags: [["t", "x"]] }));
        // Two in three have expired, and stand before and between the others.
        await apply(
          store,
          events.map((event, n) => put(event, n % 3 === 1 ? {} : { expiresAt: 10 })),
        );
        const view = { now: unixSeconds(10) };
        const all = await found(store, filterOf(parts), view);
        expect(all.length).toBeGreaterThan(5);
        for (const max of [0, 1, all.length - 1, all.length, all.length + 1, 1000]) {
          const items = idsOf(await store.reader.items(filterOf(parts), view, max));
          expect(items.length, `max ${max}`).toBe(Math.min(max + 1, all.length));
          expect(all).toEqual(expect.arrayContaining(items));
        }
      })(),
    );
  });
}
