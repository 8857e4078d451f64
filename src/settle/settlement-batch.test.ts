import { expect, test } from "vitest";
import { fakeId, fakeKey } from "../../test/kit/arbitrary/fake-event.ts";
import { instant, plus, unixSeconds } from "../base/time.ts";
import type { RefName } from "../git/ref-name.ts";
import type { Identifier } from "../grasp/identifier.ts";
import type { Settlement } from "./settlement.ts";
import { KEPT_MS, settlementBatch } from "./settlement-batch.ts";

const [alice, bob] = [fakeKey("alice"), fakeKey("bob")];
const now = instant(1000);
const nothing: Settlement = { repositories: [], promotions: [], superseded: [], dropped: [], withdrawn: [], goneRecords: [], keep: [] };
const record = (ref: string) => ({
  repo: { owner: alice, identifier: "hold" as Identifier },
  ref: ref as RefName,
  value: undefined,
  state: fakeId("pushed"),
  stateCreatedAt: unixSeconds(1),
});

const settlement: Settlement = {
  ...nothing,
  promotions: [{ kind: "state", id: fakeId("new"), needs: [alice, bob] }],
  superseded: [
    { kind: "state", id: fakeId("old"), by: fakeId("new") },
    { kind: "announcement", id: fakeId("earlier"), by: fakeId("later") },
  ],
  dropped: [{ kind: "state", id: fakeId("lost"), by: fakeId("new") }],
  withdrawn: [{ id: fakeId("announcement"), owner: alice }],
  goneRecords: [record("refs/heads/a"), record("refs/heads/b")],
};
const kept = { at: now, until: plus(now, KEPT_MS), supersededMax: 10 };

test("room is made before anything is promoted, and superseded states are kept (grasp.md 11.3)", () => {
  expect(settlementBatch(settlement, () => true, now)).toEqual([
    { kind: "withdraw", id: fakeId("old"), what: "state", stage: "superseded", ...kept },
    { kind: "remove", id: fakeId("earlier") },
    { kind: "remove", id: fakeId("lost") },
    { kind: "withdraw", id: fakeId("announcement"), what: "announcement", stage: "waiting", ...kept },
    { kind: "promote", id: fakeId("new") },
    { kind: "overlay-drop", state: fakeId("pushed"), repository: `30617:${alice}:hold` },
  ]);
});

test("one aligned repository is enough for a promotion; what belongs to the other does not happen (6.6)", () => {
  expect(settlementBatch(settlement, (owner) => owner === bob, now).map(({ kind }) => kind)).toEqual([
    "withdraw",
    "remove",
    "remove",
    "promote",
  ]);
});

test("where no repository was aligned, nothing gives way to what was not promoted", () => {
  expect(settlementBatch(settlement, () => false, now)).toEqual([{ kind: "remove", id: fakeId("earlier") }]);
});
