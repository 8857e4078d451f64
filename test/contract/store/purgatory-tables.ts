import { describe, expect, it } from "vitest";
import { instant } from "../../../src/base/time.ts";
import type { Oid } from "../../../src/git/oid.ts";
import type { RefName } from "../../../src/git/ref-name.ts";
import type { VerifiedEvent } from "../../../src/nostr/event.ts";
import type { Batch, Change } from "../../../src/store/batch.ts";
import type { OverlayRecord, StagedTip } from "../../../src/store/held.ts";
import { fakeEvent, fakeId } from "../../kit/arbitrary/fake-event.ts";
import { acrossReopen, apply, hold, type OpenFunction, put, remove, withStore } from "./bench.ts";

const [main, topic] = ["refs/heads/main", "refs/heads/topic"] as [RefName, RefName];
const [one, two] = ["1".repeat(40), "2".repeat(40)] as [Oid, Oid];
const state = (created_at: number) => fakeEvent({ kind: 30_618, created_at, tags: [["d", "hold"]] });
const record = (of: VerifiedEvent, ref = main, value: Oid | undefined = one, repository = "r1"): OverlayRecord => ({
  repository,
  ref,
  value,
  state: of.id,
});
const overlay = (...records: readonly OverlayRecord[]): Batch => records.map((each) => ({ kind: "overlay", ...each }));
const tip = (n: number, until: number, repository = "r1"): StagedTip => ({
  repository,
  id: fakeId(n),
  tip: one,
  until: instant(until),
  uploader: "192.0.2.1",
});
const stage = (...tips: readonly StagedTip[]): Batch => tips.map((each) => ({ kind: "stage-tip", ...each }));

/** Small durable tables that git's half needs beside events. */
export function purgatoryContract(open: OpenFunction): void {
  describe("overlay records (grasp.md 6.7)", () => {
    it(
      "are kept by repository, ref and state; a later value takes an earlier one's place",
      withStore(open, async (store) => {
        const [s1, s2] = [state(1), state(2)].toSorted((a, b) => (a.id < b.id ? -1 : 1)) as [VerifiedEvent, VerifiedEvent];
        await apply(store, overlay(record(s1, topic), record(s2), record(s1), record(s1, main, one, "r2"), record(s1, main, two)));
        const deleted: OverlayRecord = { repository: "r1", ref: topic, value: undefined, state: s1.id };
        await apply(store, overlay(deleted));
        expect(await store.held.overlays("r1")).toEqual([record(s1, main, two), record(s2), deleted]);
        expect(await store.held.overlays("r2")).toEqual([record(s1, main, one, "r2")]);
        expect(await store.held.hasOverlay(s1.id)).toBe(true);
        await apply(store, [{ kind: "overlay-drop", state: s1.id, repository: "r1" }]);
        expect(await store.held.overlays("r1")).toEqual([record(s2)]);
        expect(await store.held.hasOverlay(s1.id)).toBe(true);
        await apply(store, [{ kind: "overlay-drop", state: s1.id, repository: undefined }]);
        expect(await store.held.hasOverlay(s1.id)).toBe(false);
      }),
    );

    const ends: readonly [string, (id: VerifiedEvent) => Change][] = [
      ["is promoted", ({ id }) => ({ kind: "promote", id })],
      ["is deleted", ({ id }) => ({ kind: "remove", id })],
      ["expires", ({ id }) => ({ kind: "restage", id, from: "waiting", stage: "expired", until: instant(9) })],
      [
        "is superseded",
        ({ id }) => ({ kind: "withdraw", id, what: "state", stage: "superseded", at: instant(1), until: instant(9), supersededMax: 9 }),
      ],
    ];
    it.each(ends)("go when their state %s", (_, end) =>
      withStore(open, async (store) => {
        const [s1, s2] = [state(1), state(2)];
        await apply(store, [hold(s1), hold(s2), ...overlay(record(s1), record(s2))]);
        await apply(store, [{ kind: "restage", id: s1.id, from: "waiting", stage: "waiting", until: undefined }]);
        expect(await store.held.overlays("r1")).toHaveLength(2);
        await apply(store, [end(s1)]);
        expect(await store.held.overlays("r1")).toEqual([record(s2)]);
      })(),
    );

    it(
      "outlive a restart",
      acrossReopen(
        open,
        (store) => apply(store, overlay(record(state(1)))),
        async (store) => expect(await store.held.overlays("r1")).toEqual([record(state(1))]),
      ),
    );
  });

  describe("ref intents (grasp.md 6.8)", () => {
    it(
      "one a repository, until it is done, across a restart",
      acrossReopen(
        open,
        async (store) => {
          await apply(store, [
            { kind: "intend", repository: "r2", plan: "[2]" },
            { kind: "intend", repository: "r1", plan: "[0]" },
            { kind: "intend", repository: "r1", plan: "[1]" },
          ]);
        },
        async (store) => {
          expect(await store.held.intents()).toEqual([
            { repository: "r1", plan: "[1]" },
            { repository: "r2", plan: "[2]" },
          ]);
          await apply(store, [{ kind: "intent-done", repository: "r1" }]);
          expect(await store.held.intents()).toEqual([{ repository: "r2", plan: "[2]" }]);
        },
      ),
    );
  });

  describe("staged tips (grasp.md 7.9)", () => {
    it(
      "are kept by repository, id and tip, so that nobody overwrites another's, and listed by deadline",
      withStore(open, async (store) => {
        const other = { ...tip(1, 30), tip: two, uploader: "2001:db8::1" };
        await apply(store, stage(tip(1, 50), tip(2, 40), other, tip(1, 20, "r2")));
        expect(await store.held.tips()).toEqual([tip(1, 20, "r2"), other, tip(2, 40), tip(1, 50)]);
        expect(await store.held.tipsOf(fakeId(1))).toEqual([tip(1, 20, "r2"), other, tip(1, 50)]);
        await apply(store, [{ kind: "unstage-tip", repository: "r1", id: fakeId(1), tip: two }, ...stage(tip(1, 60))]);
        expect(await store.held.tips()).toEqual([tip(1, 20, "r2"), tip(2, 40), tip(1, 60)]);
      }),
    );

    it(
      "outlive a restart",
      acrossReopen(
        open,
        (store) => apply(store, stage(tip(1, 50))),
        async (store) => expect(await store.held.tips()).toEqual([tip(1, 50)]),
      ),
    );
  });

  describe("time we were down (grasp.md 6.2)", () => {
    it(
      "the mark is kept, and a start moves the deadlines in purgatory and staging, no others",
      withStore(open, async (store) => {
        expect(await store.held.aliveAt()).toBeUndefined();
        const [s1, s2, s3] = [state(1), state(2), state(3)];
        await apply(store, [hold(s1), hold(s2), hold(s3, { until: undefined }), ...stage(tip(1, 50)), put(fakeEvent())]);
        await apply(store, [{ kind: "restage", id: s2.id, from: "waiting", stage: "expired", until: instant(7000) }]);
        expect(await apply(store, [{ kind: "alive", at: instant(100), shiftMs: 0 }])).toEqual([]);
        expect(await store.held.heldEvent(s1.id)).toMatchObject({ heldAt: 1000, until: 2000 });
        await apply(store, [{ kind: "alive", at: instant(900), shiftMs: 800 }]);
        expect(await store.held.aliveAt()).toBe(900);
        expect(await store.held.heldEvent(s1.id)).toMatchObject({ heldAt: 1800, until: 2800 });
        expect(await store.held.heldEvent(s2.id)).toMatchObject({ heldAt: 1000, until: 7000 });
        expect((await store.held.heldEvent(s3.id))?.until).toBeUndefined();
        expect(await store.held.tips()).toEqual([tip(1, 850)]);
      }),
    );

    it(
      "the mark outlives a restart",
      acrossReopen(
        open,
        async (store) => {
          await apply(store, [hold(state(1)), ...remove(state(1)), { kind: "alive", at: instant(77), shiftMs: 0 }]);
        },
        async (store) => expect(await store.held.aliveAt()).toBe(77),
      ),
    );
  });
}
