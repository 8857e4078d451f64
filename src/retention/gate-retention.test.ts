import { expect, test } from "vitest";
import { instant } from "../base/time.ts";
import { type GateStage, type Retentions, stageOf } from "./gate-retention.ts";

const DAY = 86_400_000;
/** grasp.md 11.2. */
const RETENTIONS: Retentions = { unusedServedMs: 30 * DAY, unusedGateMs: 180 * DAY, usedServedMs: 270 * DAY, usedGateMs: 90 * DAY };

test.each<[what: string, seen: number, used: number | undefined, day: number, stage: GateStage]>([
  ["unused, new", 0, undefined, 0, "served"],
  ["unused, on its last served day", 0, undefined, 30 - 1e-6, "served"],
  ["unused, after 30 days", 0, undefined, 30, "gate"],
  ["unused, on its last day", 0, undefined, 210 - 1e-6, "gate"],
  ["unused, after 180 more", 0, undefined, 210, "gone"],
  ["used, counted from its last use", 0, 100, 370 - 1e-6, "served"],
  ["used, after 270 days", 0, 100, 370, "gate"],
  ["used, on its last day", 0, 100, 460 - 1e-6, "gate"],
  ["used, after 90 more", 0, 100, 460, "gone"],
  ["used on arrival", 5, 5, 274, "served"],
  ["a clock set back", 10, undefined, 0, "served"],
])("grasp.md 11.2: %s", (_, seen, used, day, stage) => {
  const gate = { seenAt: instant(seen * DAY), lastUsedAt: used === undefined ? undefined : instant(used * DAY) };
  expect(stageOf(gate, instant(day * DAY), RETENTIONS)).toBe(stage);
});
