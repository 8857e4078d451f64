import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { KillRun, type Moment } from "./kill-rounds.ts";

const seed = process.env["HOLDFAST_TEST_SEED"] ?? randomBytes(4).toString("hex");
/** Some thirty starts, each with everything asked again. */
const TIMEOUT_MS = 240_000;
const CHECKPOINT_TRIES = 5;

const many = (moment: Moment, times: number): Moment[] => Array.from({ length: times }, () => moment);

describe("GRASP:3.2/ok-durable: OK true means durable", () => {
  it(
    `20 kills under load and some at special moments lose nothing that was answered (HOLDFAST_TEST_SEED=${seed})`,
    async () => {
      console.log(`kill test: HOLDFAST_TEST_SEED=${seed}`);
      await using run = await KillRun.begin(seed);
      for (const moment of many("birth", 3)) await run.round(moment);
      const moments = [...many("load", 15), ...many("stop", 3), ...many("checkpoint", 2), ...many("first-write", 3), ...many("start", 3)];
      for (const moment of ["first-write" as const, ...run.shuffled(moments)]) await run.round(moment);
      // A checkpoint is over in some milliseconds, and a loaded machine may miss it.
      for (let tries = 0; run.figures.halfCheckpoints === 0 && tries < CHECKPOINT_TRIES; tries++) await run.round("checkpoint");
      await run.end();
      expect(run.figures.oksBetweenKillsMin).toBeGreaterThanOrEqual(200);
      expect(run.figures.halfCheckpoints).toBeGreaterThan(0);
    },
    TIMEOUT_MS,
  );
});
