import { describe, expect, it } from "vitest";
import { unixSeconds } from "../../../src/base/time.ts";
import { fakeEvent, fakeId } from "../../kit/arbitrary/fake-event.ts";
import { filterOf } from "../../kit/arbitrary/filter.ts";
import { acrossReopen, apply, found, ids, type OpenFunction, put, query, remove, serve, withStore } from "./bench.ts";

/** What the housekeeping walks over. */
export function upkeepContract(open: OpenFunction): void {
  describe("expiry (NIP-40)", () => {
    it(
      "expired: what is over at that second, oldest expiration first, at most max",
      withStore(open, async (store) => {
        const times = [70, 50, 60, 80];
        const events = times.map((_, n) => fakeEvent({ created_at: n }));
        await apply(store, [put(fakeEvent({ created_at: 1000 })), ...events.map((event, n) => put(event, { expiresAt: times[n] ?? 0 }))]);
        const [at70, at50, at60, at80] = ids(...events);
        const expired = (now: number, max = 10) => store.writer.expired(unixSeconds(now), max);
        expect(await expired(49)).toEqual([]);
        expect(await expired(50)).toEqual([at50]);
        expect(await expired(70)).toEqual([at50, at60, at70]);
        expect(await expired(1e9)).toEqual([at50, at60, at70, at80]);
        expect(await expired(1e9, 2)).toEqual([at50, at60]);
        expect(await expired(1e9, 0)).toEqual([]);
      }),
    );

    it(
      "nextExpiry: the earliest of what is served, past or to come",
      withStore(open, async (store) => {
        const [e1, e2] = [fakeEvent({ created_at: 1 }), fakeEvent({ created_at: 2 })];
        expect(await store.writer.nextExpiry()).toBeUndefined();
        await apply(store, [put(e1, { expiresAt: 60 }), put(e2, { expiresAt: 50 }), put(fakeEvent())]);
        expect(await store.writer.nextExpiry()).toBe(50);
        await apply(store, remove(e2));
        expect(await store.writer.nextExpiry()).toBe(60);
        await apply(store, remove(e1));
        expect(await store.writer.nextExpiry()).toBeUndefined();
        expect(await store.writer.expired(unixSeconds(1e9), 10)).toEqual([]);
      }),
    );

    it(
      "takes the expiration from the change, not from the tags",
      withStore(open, async (store) => {
        await serve(store, fakeEvent({ tags: [["expiration", "50"]] }));
        expect(await store.writer.nextExpiry()).toBeUndefined();
        expect(await found(store, filterOf(), { now: unixSeconds(60) })).toHaveLength(1);
      }),
    );

    it(
      "survives a restart",
      acrossReopen(
        open,
        (store) => apply(store, [put(fakeEvent(), { expiresAt: 60 })]),
        async (store) => {
          expect(await store.writer.nextExpiry()).toBe(60);
          expect(await found(store, filterOf(), { now: unixSeconds(59) })).toHaveLength(1);
          expect(await found(store, filterOf(), { now: unixSeconds(60) })).toEqual([]);
        },
      ),
    );
  });

  describe("restart", () => {
    it(
      "keeps every served event as it was, and nothing that was removed",
      acrossReopen(
        open,
        async (store) => {
          const events = Array.from({ length: 50 }, (_, n) => fakeEvent({ id: fakeId(n), created_at: n % 7, tags: [["t", `${n % 3}`]] }));
          await serve(store, ...events);
          await apply(store, remove(...events.filter((_, n) => n % 4 === 0)));
          return { all: await query(store, filterOf()), some: await query(store, filterOf({ tags: { t: ["1"] }, limit: 5 })) };
        },
        async (store, { all, some }) => {
          expect(all).toHaveLength(37);
          expect(await query(store, filterOf())).toEqual(all);
          expect(await query(store, filterOf({ tags: { t: ["1"] }, limit: 5 }))).toEqual(some);
        },
      ),
    );
  });
}
