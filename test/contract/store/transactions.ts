import { describe, expect, it } from "vitest";
import { instant } from "../../../src/base/time.ts";
import { fakeEvent, fakeId, fakeKey } from "../../kit/arbitrary/fake-event.ts";
import { filterOf } from "../../kit/arbitrary/filter.ts";
import { apply, EARLY, feedAfter, found, ids, type OpenFunction, put, remove, serve, withStore } from "./bench.ts";

const alice = fakeKey("alice");
const [e1, e2, e3] = [fakeEvent({ created_at: 1 }), fakeEvent({ created_at: 2 }), fakeEvent({ created_at: 3 })] as const;

const gate = {
  kind: "gate",
  request: fakeId("request"),
  author: alice,
  targets: [{ kind: "event", id: fakeId("target") }],
  seenAt: instant(5000),
  used: false,
} as const;

/** All or nothing, and one after the other (grasp.md 3.2: `OK true` only when durable). */
export function transactionContract(open: OpenFunction): void {
  describe("transact", () => {
    it(
      "gives back what the work returned, after what it applied can be read",
      withStore(open, async (store) => {
        const answer = await store.writer.transact(async (tx) => {
          await tx.apply([put(e1)]);
          return "done";
        });
        expect(answer).toBe("done");
        expect(await found(store, filterOf())).toEqual(ids(e1));
        expect(await store.reader.head()).toBe(1);
      }),
    );

    it(
      "lets the work see what it applied before",
      withStore(open, async (store) => {
        await serve(store, e1);
        await store.writer.transact(async (tx) => {
          await tx.apply([...remove(e1), put(e2), gate]);
          expect(await tx.serves(e1.id)).toBe(false);
          expect(await tx.serves(e2.id)).toBe(true);
          expect(await tx.hasServed(alice)).toBe(true);
          expect(await tx.unusedGates(alice)).toBe(1);
          const made = await tx.apply([put(e1)]);
          expect(made.map((change) => change.seq)).toEqual([4]);
          expect(await tx.serves(e1.id)).toBe(true);
        });
        expect(await found(store, filterOf())).toEqual(ids(e2, e1));
      }),
    );

    it.each(["at once", "after waiting"])("leaves nothing when the work throws %s", (when) =>
      withStore(open, async (store) => {
        await apply(store, [put(e1), gate]);
        const before = await feedAfter(store);
        const failing = store.writer.transact(async (tx) => {
          await tx.apply([put(e2, { expiresAt: 50 }), ...remove(e1), { kind: "gate-forget", request: gate.request }]);
          if (when === "after waiting") await Promise.resolve();
          throw new Error("changed my mind");
        });
        await expect(failing).rejects.toThrow("changed my mind");
        expect(await feedAfter(store)).toEqual(before);
        expect(await found(store, filterOf())).toEqual(ids(e1));
        expect(await store.reader.count([filterOf()], EARLY)).toBe(1);
        expect(await store.reader.provenance(e2.id)).toBeUndefined();
        expect(await store.writer.nextExpiry()).toBeUndefined();
        expect(await store.writer.gates(undefined, 10)).toHaveLength(1);
        // The next one takes the number that was given back.
        expect((await serve(store, e3)).map((change) => change.seq)).toEqual([2]);
        expect((await feedAfter(store)).map((change) => change.seq)).toEqual([1, 2]);
      })(),
    );

    it(
      "rejects with what a work that is not even asynchronous throws, and goes on",
      withStore(open, async (store) => {
        const fault = new Error("thrown, not rejected");
        await expect(
          store.writer.transact(() => {
            throw fault;
          }),
        ).rejects.toBe(fault);
        await serve(store, e1);
        expect(await found(store, filterOf())).toEqual(ids(e1));
      }),
    );

    it(
      "runs works one after the other in the order they were asked, a failing one among them",
      withStore(open, async (store) => {
        const events = Array.from({ length: 40 }, (_, n) => fakeEvent({ created_at: n }));
        let inside = 0;
        const trace: number[] = [];
        const works = events.map((event, n) =>
          store.writer.transact(async (tx) => {
            inside++;
            expect(inside).toBe(1);
            trace.push(n);
            // Each sees what all that succeeded before it did.
            for (const [earlier, other] of events.entries()) expect(await tx.serves(other.id)).toBe(earlier < n && earlier % 5 !== 4);
            await tx.apply([put(event)]);
            inside--;
            if (n % 5 === 4) throw new Error(`work ${n}`);
          }),
        );
        const ends = await Promise.allSettled(works);
        expect(ends.map((end) => end.status)).toEqual(events.map((_, n) => (n % 5 === 4 ? "rejected" : "fulfilled")));
        expect(trace).toEqual(events.map((_, n) => n));
        const feed = await feedAfter(store);
        expect(feed.map((change) => change.seq)).toEqual(Array.from({ length: 32 }, (_, n) => n + 1));
        expect(feed.map((change) => (change.change === "served" ? change.event.id : change.id))).toEqual(
          ids(...events.filter((_, n) => n % 5 !== 4)),
        );
      }),
    );

    it(
      "shows readers nothing of a work before it is whole",
      withStore(open, async (store) => {
        await serve(store, e1);
        await store.writer.transact(async (tx) => {
          await tx.apply([put(e2), ...remove(e1), gate]);
          expect(await found(store, filterOf())).toEqual(ids(e1));
          expect(await store.reader.head()).toBe(1);
          expect(await feedAfter(store)).toHaveLength(1);
        });
        expect(await found(store, filterOf())).toEqual(ids(e2));
        expect(await store.reader.head()).toBe(3);
      }),
    );
  });
}
