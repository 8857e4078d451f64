import { describe, expect, it } from "vitest";
import { instant, unixSeconds } from "../../../src/base/time.ts";
import type { EventId, NostrEvent, PublicKey } from "../../../src/nostr/event.ts";
import type { Change, GateTarget } from "../../../src/store/batch.ts";
import { fakeEvent, fakeId, fakeKey } from "../../kit/arbitrary/fake-event.ts";
import { acrossReopen, apply, ids, type OpenFunction, type OpenStore, put, remove, serve, sorted, withStore } from "./bench.ts";

const alice = fakeKey("alice");
const bob = fakeKey("bob");

type GateChange = Extract<Change, { kind: "gate" }>;

const gate = (request: string, targets: readonly GateTarget[], more: Partial<GateChange> = {}): GateChange => ({
  kind: "gate",
  request: fakeId(request),
  author: alice,
  targets,
  seenAt: instant(5000),
  used: false,
  ...more,
});
const onEvent = (event: NostrEvent): GateTarget => ({ kind: "event", id: event.id });
const onHold = (until: number, pubkey = alice): GateTarget => ({
  kind: "address",
  address: { kind: 30_617, pubkey, d: "hold" },
  until: unixSeconds(until),
});
const onKey = (until: number): GateTarget => ({ kind: "key", until: unixSeconds(until) });

const gateFor = (store: OpenStore, event: NostrEvent) => store.writer.transact((tx) => tx.gateFor(event));
const requestFor = async (store: OpenStore, event: NostrEvent) => (await gateFor(store, event))?.request;
const unused = (store: OpenStore, author = alice) => store.writer.transact((tx) => tx.unusedGates(author));

/** Remembered deletion and vanish requests (grasp.md 11.1, 11.2; NIP-09, NIP-62). */
export function gateContract(open: OpenFunction): void {
  describe("gates", () => {
    it(
      "an event target shuts out that id, if it is the author's own (grasp.md 11.1)",
      withStore(open, async (store) => {
        const mine = fakeEvent({ created_at: 1 });
        const theirs = fakeEvent({ created_at: 2, pubkey: bob });
        await apply(store, [gate("r", [onEvent(mine), onEvent(theirs)])]);
        expect(await gateFor(store, mine)).toEqual({
          request: fakeId("r"),
          author: alice,
          seenAt: 5000,
          lastUsedAt: undefined,
          served: false,
          vanishUntil: undefined,
        });
        expect(await gateFor(store, theirs)).toBeUndefined();
        expect(await gateFor(store, fakeEvent({ created_at: 3 }))).toBeUndefined();
      }),
    );

    it(
      "an address target shuts out versions up to the request's time, that second included (grasp.md 11.1)",
      withStore(open, async (store) => {
        const version = (created_at: number, more = {}) => fakeEvent({ kind: 30_617, created_at, tags: [["d", "hold"]], ...more });
        await apply(store, [gate("r", [onHold(50)])]);
        expect(await gateFor(store, version(49))).toMatchObject({ request: fakeId("r"), vanishUntil: undefined });
        expect(await requestFor(store, version(50))).toBe(fakeId("r"));
        expect(await requestFor(store, version(51))).toBeUndefined();
        expect(await requestFor(store, version(49, { kind: 30_618 }))).toBeUndefined();
        expect(
          await requestFor(
            store,
            version(49, {
              tags: [
                ["d", "fast"],
                ["d", "hold"],
              ],
            }),
          ),
        ).toBeUndefined();
        expect(await requestFor(store, version(49, { kind: 1 }))).toBeUndefined();
        expect(await requestFor(store, version(49, { pubkey: bob }))).toBeUndefined();
      }),
    );

    it(
      "an address of somebody else shuts out nothing, neither theirs nor the author's own (grasp.md 11.1)",
      withStore(open, async (store) => {
        await apply(store, [gate("r", [onHold(50, bob)])]);
        const version = (pubkey: PublicKey) => fakeEvent({ kind: 30_617, pubkey, created_at: 49, tags: [["d", "hold"]] });
        expect(await requestFor(store, version(bob))).toBeUndefined();
        expect(await requestFor(store, version(alice))).toBeUndefined();
      }),
    );

    it(
      "a request that is remembered already stays as it was: its time does not start anew (grasp.md 11.2)",
      withStore(open, async (store) => {
        const event = fakeEvent();
        await apply(store, [gate("r", [onEvent(event)]), { kind: "gate-used", request: fakeId("r"), at: instant(7000) }]);
        await apply(store, [gate("r", [onEvent(event)], { seenAt: instant(9000) })]);
        expect(await gateFor(store, event)).toMatchObject({ seenAt: 5000, lastUsedAt: 7000 });
        const other = fakeEvent({ created_at: 1 });
        await apply(store, [gate("r", [onEvent(other), onKey(50)])]);
        expect(await gateFor(store, other)).toBeUndefined();
        expect(await gateFor(store, event)).toMatchObject({ vanishUntil: undefined });
        await apply(store, [{ kind: "gate-forget", request: fakeId("r") }, gate("r", [onEvent(event)], { seenAt: instant(9000) })]);
        expect(await gateFor(store, event)).toMatchObject({ seenAt: 9000, lastUsedAt: undefined });
      }),
    );

    it(
      "an address target of a replaceable kind works without d (NIP-09)",
      withStore(open, async (store) => {
        await apply(store, [gate("r", [{ kind: "address", address: { kind: 0, pubkey: alice, d: "" }, until: unixSeconds(50) }])]);
        expect(await requestFor(store, fakeEvent({ kind: 0, created_at: 50, tags: [["d", "ignored"]] }))).toBe(fakeId("r"));
        expect(await requestFor(store, fakeEvent({ kind: 3, created_at: 50 }))).toBeUndefined();
      }),
    );

    it(
      "a key target shuts out everything of the key up to its time, and nobody else (NIP-62)",
      withStore(open, async (store) => {
        await apply(store, [gate("r", [onKey(50)])]);
        expect(await gateFor(store, fakeEvent({ created_at: 50 }))).toMatchObject({ request: fakeId("r"), vanishUntil: 50 });
        expect(await gateFor(store, fakeEvent({ created_at: 0, kind: 30_617 }))).toMatchObject({ vanishUntil: 50 });
        expect(await gateFor(store, fakeEvent({ created_at: 51 }))).toBeUndefined();
        expect(await gateFor(store, fakeEvent({ created_at: 1, pubkey: bob }))).toBeUndefined();
      }),
    );

    it.each([5, 62])("kind %i is shut out by a request to vanish and by nothing else (NIP-09, NIP-62)", (kind) =>
      withStore(open, async (store) => {
        const request = fakeEvent({ kind, created_at: 50 });
        const later = fakeEvent({ kind, created_at: 51 });
        const note = fakeEvent({ created_at: 50 });
        // Seen first and used, so that it would be the one if it counted.
        await apply(store, [gate("deletion", [onEvent(request), onEvent(later), onEvent(note)], { seenAt: instant(1), used: true })]);
        expect(await requestFor(store, note)).toBe(fakeId("deletion"));
        expect(await requestFor(store, request)).toBeUndefined();
        await apply(store, [gate("vanish", [onKey(50)])]);
        expect(await requestFor(store, note)).toBe(fakeId("deletion"));
        expect(await gateFor(store, request)).toMatchObject({ request: fakeId("vanish"), vanishUntil: 50 });
        expect(await requestFor(store, later)).toBeUndefined();
      })(),
    );

    it(
      "gate: the remembered request of an id, of either sort, until it is forgotten (grasp.md 11.2)",
      withStore(open, async (store) => {
        const request = fakeEvent({ kind: 62, created_at: 50 });
        const remembered = (id: EventId) => store.writer.transact((tx) => tx.gate(id));
        await apply(store, [put(request)]);
        expect(await remembered(request.id)).toBeUndefined();
        await apply(store, [
          gate("", [onKey(50)], { request: request.id, used: true }),
          gate("d", [onEvent(fakeEvent())], { author: bob }),
        ]);
        const vanish = { request: request.id, author: alice, seenAt: 5000, lastUsedAt: 5000, vanishUntil: 50 };
        expect(await remembered(request.id)).toEqual({ ...vanish, served: true });
        const deletion = { request: fakeId("d"), author: bob, seenAt: 5000, lastUsedAt: undefined, vanishUntil: undefined };
        expect(await remembered(fakeId("d"))).toEqual({ ...deletion, served: false });
        await apply(store, remove(request));
        expect(await remembered(request.id)).toEqual({ ...vanish, served: false });
        expect(await remembered(fakeId("unknown"))).toBeUndefined();
        await apply(store, [{ kind: "gate-forget", request: request.id }]);
        expect(await remembered(request.id)).toBeUndefined();
      }),
    );

    it(
      "gate: a work sees what it remembered and forgot itself, and nothing of it stays when it fails",
      withStore(open, async (store) => {
        const event = fakeEvent();
        const failing = store.writer.transact(async (tx) => {
          await tx.apply([gate("r", [onEvent(event)])]);
          expect(await tx.gate(fakeId("r"))).toMatchObject({ author: alice });
          expect(await tx.gateFor(event)).toMatchObject({ request: fakeId("r") });
          await tx.apply([{ kind: "gate-forget", request: fakeId("r") }]);
          expect(await tx.gate(fakeId("r"))).toBeUndefined();
          await tx.apply([gate("r", [onEvent(event)])]);
          throw new Error("changed my mind");
        });
        await expect(failing).rejects.toThrow("changed my mind");
        expect(await store.writer.transact((tx) => tx.gate(fakeId("r")))).toBeUndefined();
        expect(await gateFor(store, event)).toBeUndefined();
      }),
    );

    it(
      "credits a used request before an unused one, then the earliest seen, then the lowest id (grasp.md 11.2)",
      withStore(open, async (store) => {
        const event = fakeEvent({ created_at: 10 });
        const [low = "", middle = "", high = ""] = ["r1", "r2", "r3"].toSorted((a, b) => (fakeId(a) < fakeId(b) ? -1 : 1));
        await apply(store, [
          gate(high, [onKey(50)], { seenAt: instant(900) }),
          gate(middle, [onEvent(event)], { seenAt: instant(1000) }),
          gate(low, [onEvent(event)], { seenAt: instant(1000) }),
          gate("elsewhere", [onKey(9)], { seenAt: instant(1), used: true }),
        ]);
        expect(await gateFor(store, event)).toMatchObject({ request: fakeId(high), vanishUntil: 50 });
        await apply(store, [{ kind: "gate-forget", request: fakeId(high) }]);
        expect(await gateFor(store, event)).toMatchObject({ request: fakeId(low), vanishUntil: undefined });
        await apply(store, [{ kind: "gate-used", request: fakeId(middle), at: instant(2000) }]);
        expect(await gateFor(store, event)).toMatchObject({ request: fakeId(middle), lastUsedAt: 2000 });
        await apply(store, [gate("late", [onEvent(event)], { seenAt: instant(3000), used: true })]);
        expect(await gateFor(store, event)).toMatchObject({ request: fakeId(middle), lastUsedAt: 2000 });
      }),
    );

    it(
      "knows when a request was last used: when it came, or since (grasp.md 11.2)",
      withStore(open, async (store) => {
        const event = fakeEvent();
        await apply(store, [gate("r", [onEvent(event)], { used: true })]);
        expect(await gateFor(store, event)).toMatchObject({ seenAt: 5000, lastUsedAt: 5000 });
        await apply(store, [{ kind: "gate-used", request: fakeId("r"), at: instant(7000) }]);
        await apply(store, [{ kind: "gate-used", request: fakeId("unknown"), at: instant(8000) }]);
        expect(await gateFor(store, event)).toMatchObject({ seenAt: 5000, lastUsedAt: 7000 });
        expect(await store.writer.gates(undefined, 9)).toHaveLength(1);
      }),
    );

    it(
      "forgets a request with all its targets, and the request event stays (grasp.md 11.2)",
      withStore(open, async (store) => {
        const [first, second] = [fakeEvent({ created_at: 1 }), fakeEvent({ created_at: 2 })];
        const request = fakeEvent({ kind: 5, created_at: 3 });
        await apply(store, [put(request), gate("r", [onEvent(first), onHold(9), onEvent(second)], { request: request.id })]);
        await apply(store, [
          { kind: "gate-forget", request: request.id },
          { kind: "gate-forget", request: fakeId("unknown") },
        ]);
        expect(await gateFor(store, first)).toBeUndefined();
        expect(await gateFor(store, second)).toBeUndefined();
        expect(await gateFor(store, fakeEvent({ kind: 30_617, created_at: 5, tags: [["d", "hold"]] }))).toBeUndefined();
        expect(await store.writer.gates(undefined, 9)).toEqual([]);
        expect(await store.writer.transact((tx) => tx.serves(request.id))).toBe(true);
      }),
    );

    it(
      "outlives the request event, and says whether that is served (grasp.md 11.2)",
      withStore(open, async (store) => {
        const event = fakeEvent({ created_at: 1 });
        const request = fakeEvent({ kind: 5, created_at: 3 });
        await apply(store, [gate("r", [onEvent(event)], { request: request.id }), put(request)]);
        expect(await gateFor(store, event)).toMatchObject({ served: true });
        expect(await store.writer.gates(undefined, 9)).toMatchObject([{ served: true }]);
        await apply(store, remove(request));
        expect(await gateFor(store, event)).toMatchObject({ request: request.id, served: false });
        expect(await store.writer.gates(undefined, 9)).toMatchObject([{ served: false }]);
      }),
    );

    it(
      "does not remove what is served: that is for the batch to say",
      withStore(open, async (store) => {
        const event = fakeEvent({ created_at: 1 });
        await serve(store, event);
        await apply(store, [gate("r", [onEvent(event), onKey(50)])]);
        expect(await store.writer.transact((tx) => tx.serves(event.id))).toBe(true);
        expect(await requestFor(store, event)).toBe(fakeId("r"));
      }),
    );

    it(
      "unusedGates: how many of the author's requests never did anything (grasp.md 11.1)",
      withStore(open, async (store) => {
        await apply(store, [
          gate("r1", []),
          gate("r2", [onKey(1), onHold(2)]),
          gate("r3", [], { used: true }),
          gate("b", [], { author: bob }),
        ]);
        expect(await unused(store)).toBe(2);
        expect(await unused(store, bob)).toBe(1);
        expect(await unused(store, fakeKey("carol"))).toBe(0);
        await apply(store, [{ kind: "gate-used", request: fakeId("r1"), at: instant(6000) }]);
        expect(await unused(store)).toBe(1);
        await apply(store, [{ kind: "gate-forget", request: fakeId("r2") }]);
        expect(await unused(store)).toBe(0);
      }),
    );

    it(
      "gates: a walk by request id, page by page",
      withStore(open, async (store) => {
        const names = Array.from({ length: 23 }, (_, n) => `r${n}`);
        await apply(
          store,
          names.map((name, n) => gate(name, [onKey(n)], { seenAt: instant(n), used: n % 2 === 0 })),
        );
        const seen: string[] = [];
        let after: EventId | undefined;
        for (let pages = 0; pages < 10; pages++) {
          const page = await store.writer.gates(after, 5);
          expect(page.length).toBeLessThanOrEqual(5);
          if (page.length === 0) break;
          seen.push(...page.map((row) => row.request));
          after = page.at(-1)?.request;
        }
        expect(seen).toEqual(sorted(names.map(fakeId)));
        const all = await store.writer.gates(undefined, 100);
        const third = all.find((row) => row.request === fakeId("r2"));
        expect(third).toEqual({ request: fakeId("r2"), author: alice, seenAt: 2, lastUsedAt: 2, served: false, vanishUntil: 2 });
        expect(await store.writer.gates(undefined, 0)).toEqual([]);
      }),
    );

    it(
      "takes the 2,048 targets of the largest request (grasp.md 11.1)",
      withStore(open, async (store) => {
        const events = Array.from({ length: 2048 }, (_, n) => fakeEvent({ created_at: n }));
        await apply(store, [gate("r", events.map(onEvent))]);
        for (const event of [events[0], events[1000], events[2047]]) expect(await requestFor(store, event as NostrEvent)).toBe(fakeId("r"));
        expect(await store.writer.gates(undefined, 9)).toHaveLength(1);
        expect(await unused(store)).toBe(1);
      }),
    );

    it(
      "survive a restart, used or not",
      acrossReopen(
        open,
        async (store) => {
          const [e1, e2] = [fakeEvent({ created_at: 1 }), fakeEvent({ created_at: 2 })];
          await apply(store, [
            gate("r1", [onEvent(e1)]),
            gate("r2", [onHold(50), onEvent(e2)], { used: true }),
            gate("b", [onKey(50)], { author: bob }),
          ]);
          return { page: await store.writer.gates(undefined, 9), events: [e1, e2] as const };
        },
        async (store, { page, events }) => {
          expect(await store.writer.gates(undefined, 9)).toEqual(page);
          expect(ids(...page.map((row) => ({ id: row.request })))).toHaveLength(3);
          expect(await gateFor(store, events[0])).toMatchObject({ request: fakeId("r1"), lastUsedAt: undefined });
          expect(await gateFor(store, events[1])).toMatchObject({ request: fakeId("r2"), lastUsedAt: 5000 });
          expect(await gateFor(store, fakeEvent({ pubkey: bob, created_at: 50 }))).toMatchObject({ vanishUntil: 50 });
        },
      ),
    );
  });
}
