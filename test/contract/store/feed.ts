import { describe, expect, it } from "vitest";
import { instant } from "../../../src/base/time.ts";
import { eventText, type VerifiedEvent } from "../../../src/nostr/event.ts";
import { type FeedChange, seq } from "../../../src/store/event-store.ts";
import type { Provenance } from "../../../src/store/provenance.ts";
import { fakeEvent, fakeId } from "../../kit/arbitrary/fake-event.ts";
import { filterOf } from "../../kit/arbitrary/filter.ts";
import { acrossReopen, apply, feedAfter, found, gather, ids, type OpenFunction, put, remove, serve, withStore } from "./bench.ts";

const [e1, e2, e3] = [fakeEvent({ created_at: 1 }), fakeEvent({ created_at: 2 }), fakeEvent({ created_at: 3 })] as const;

const served = (at: number, event: VerifiedEvent): FeedChange => ({
  seq: seq(at),
  change: "served",
  event: { seq: seq(at), id: event.id, createdAt: event.created_at, text: eventText(event) },
});
const passed = (at: number, { id }: VerifiedEvent): FeedChange => ({ seq: seq(at), change: "passed", id });
const removed = (at: number, { id }: VerifiedEvent): FeedChange => ({ seq: seq(at), change: "removed", id });

const numbers = (changes: readonly FeedChange[]): number[] => changes.map((change) => change.seq);

/** The sequence that everything inside reads instead of being called back (grasp.md 8.4). */
export function feedContract(open: OpenFunction): void {
  describe("feed (grasp.md 8.4)", () => {
    it(
      "starts empty, at 0, and numbers changes from 1 on",
      withStore(open, async (store) => {
        expect(await store.reader.head()).toBe(0);
        expect(await feedAfter(store)).toEqual([]);
        expect(await serve(store, e2, e1)).toEqual([served(1, e2), served(2, e1)]);
        expect(await serve(store, e3)).toEqual([served(3, e3)]);
        expect(await store.reader.head()).toBe(3);
        expect(await feedAfter(store)).toEqual([served(1, e2), served(2, e1), served(3, e3)]);
      }),
    );

    it(
      "tells what was removed, and keeps the number of what it had served",
      withStore(open, async (store) => {
        await serve(store, e1, e2);
        expect(await apply(store, remove(e1))).toEqual([removed(3, e1)]);
        expect(await feedAfter(store)).toEqual([passed(1, e1), served(2, e2), removed(3, e1)]);
        expect(await found(store, filterOf())).toEqual(ids(e2));
        expect(await store.reader.provenance(e1.id)).toBeUndefined();
      }),
    );

    it(
      "shows what is served again at its new number only",
      withStore(open, async (store) => {
        await serve(store, e1);
        await apply(store, remove(e1));
        await serve(store, e1);
        expect(await feedAfter(store)).toEqual([passed(1, e1), removed(2, e1), served(3, e1)]);
      }),
    );

    it(
      "numbers every change of a batch, in the batch's order",
      withStore(open, async (store) => {
        await serve(store, e1);
        const made = await apply(store, [...remove(e1), put(e2), put(e3), ...remove(e3)]);
        expect(numbers(made)).toEqual([2, 3, 4, 5]);
        expect(await feedAfter(store)).toEqual([passed(1, e1), removed(2, e1), served(3, e2), passed(4, e3), removed(5, e3)]);
      }),
    );

    it(
      "takes no number for a put of what is served, nor for a remove of what is not",
      withStore(open, async (store) => {
        await apply(store, [put(e1, { provenance: { how: "live", relay: "wss://one.example" } })]);
        expect(await apply(store, [put(e1, { expiresAt: 7 }), ...remove(e2)])).toEqual([]);
        expect(await apply(store, [put(e2), put(e2), ...remove(e2, e2)])).toHaveLength(2);
        expect(numbers(await feedAfter(store))).toEqual([1, 2, 3]);
        expect(await store.reader.provenance(e1.id)).toEqual({ how: "live", relay: "wss://one.example" });
        expect(await store.writer.nextExpiry()).toBeUndefined();
        expect(await found(store, filterOf())).toEqual(ids(e1));
      }),
    );

    it(
      "takes no number for what is remembered about requests",
      withStore(open, async (store) => {
        const gate = { kind: "gate", request: fakeId("r"), author: e1.pubkey, targets: [], seenAt: instant(5), used: false } as const;
        expect(await apply(store, [gate, { kind: "gate-used", request: gate.request, at: instant(6) }])).toEqual([]);
        expect(await apply(store, [{ kind: "gate-forget", request: gate.request }])).toEqual([]);
        expect(await store.reader.head()).toBe(0);
        expect(await feedAfter(store)).toEqual([]);
      }),
    );

    it(
      "reads on from any number",
      withStore(open, async (store) => {
        await serve(store, e1, e2);
        await apply(store, [...remove(e1), put(e3)]);
        const all = await feedAfter(store);
        for (let after = 0; after <= 5; after++) expect(await feedAfter(store, seq(after)), `after ${after}`).toEqual(all.slice(after));
      }),
    );

    it(
      "gives long stretches in slices, without a hole, up to the newest at the time of the call",
      withStore(open, async (store) => {
        const events = Array.from({ length: 2500 }, (_, n) => fakeEvent({ id: fakeId(n), created_at: n }));
        await serve(store, ...events);
        await apply(store, remove(...events.filter((_, n) => n % 3 === 0)));
        const head = await store.reader.head();
        const seen: number[] = [];
        let turn = 0;
        for await (const slice of store.feed.read(seq(0))) {
          seen.push(...numbers(slice));
          await serve(store, fakeEvent({ created_at: 9000 + turn++ }));
        }
        expect(turn).toBeGreaterThan(1);
        expect(seen).toEqual(Array.from({ length: head }, (_, n) => n + 1));
        const since = store.feed.read(head);
        await serve(store, fakeEvent({ created_at: 9000 + turn }));
        expect(await gather(since)).toHaveLength(turn);
      }),
    );

    it(
      "survives a restart, and goes on counting where it was",
      acrossReopen(
        open,
        async (store) => {
          await serve(store, e1, e2);
          await apply(store, remove(e2));
          return feedAfter(store);
        },
        async (store, before) => {
          expect(await store.reader.head()).toBe(3);
          expect(await feedAfter(store)).toEqual(before);
          await apply(store, remove(e1));
          await serve(store, e3);
          expect(await feedAfter(store)).toEqual([passed(1, e1), passed(2, e2), removed(3, e2), removed(4, e1), served(5, e3)]);
        },
      ),
    );

    it(
      "does not give a number twice when the newest changes left nothing behind and the store restarts",
      acrossReopen(
        open,
        async (store) => {
          await apply(store, [put(e1), put(e2), ...remove(e1, e2)]);
        },
        async (store) => {
          expect(await store.reader.head()).toBe(4);
          expect(numbers(await serve(store, e3))).toEqual([5]);
        },
      ),
    );
  });

  describe("provenance (grasp.md 8.24)", () => {
    const table: readonly Provenance[] = [
      { how: "direct" },
      { how: "live", relay: "wss://one.example" },
      { how: "catch-up", relay: "wss://two.example/path" },
      { how: "daily", relay: "wss://one.example" },
    ];
    const events = table.map((_, n) => fakeEvent({ created_at: n }));
    const puts = table.map((provenance, n) => put(events[n] as VerifiedEvent, { provenance }));

    it(
      "is kept for every served event, and for nothing else",
      withStore(open, async (store) => {
        await apply(store, puts);
        for (const [n, event] of events.entries()) expect(await store.reader.provenance(event.id)).toEqual(table[n]);
        expect(await store.reader.provenance(fakeId("unknown"))).toBeUndefined();
      }),
    );

    it(
      "survives a restart",
      acrossReopen(
        open,
        (store) => apply(store, puts),
        async (store) => {
          for (const [n, event] of events.entries()) expect(await store.reader.provenance(event.id)).toEqual(table[n]);
        },
      ),
    );
  });
}
