import { randomBytes } from "node:crypto";
import { expect, it } from "vitest";
import { KillRun, type Moment } from "../integration/kill-rounds.ts";
import { minutes, writeFigures } from "./figures.ts";

const seed = process.env["HOLDFAST_TEST_SEED"] ?? randomBytes(4).toString("hex");
const PLAN: Readonly<Record<Exclude<Moment, "birth">, number>> = { load: 100, checkpoint: 12, stop: 20, "first-write": 20, start: 20 };
const BIRTHS = 20;
const TIMEOUT_MS = 60 * 60_000;

it(
  `grasp.md 3.2, OK true means durable: more than 100 kills lose nothing that was answered (HOLDFAST_TEST_SEED=${seed})`,
  async () => {
    console.log(`kill proof: HOLDFAST_TEST_SEED=${seed}`);
    const began = performance.now();
    await using run = await KillRun.begin(seed);
    for (let birth = 0; birth < BIRTHS; birth++) await run.round("birth");
    const planned = Object.entries(PLAN).flatMap(([moment, times]) => Array.from({ length: times }, () => moment as Moment));
    let done = 0;
    for (const moment of run.shuffled(planned)) {
      await run.round(moment);
      if (++done % 20 === 0) console.log(`${done} of ${planned.length} kills, ${run.figures.oks} OKs, ${minutes(began)}`);
    }
    await run.end();
    const { figures } = run;
    expect(figures.oksBetweenKillsMin).toBeGreaterThanOrEqual(200);
    expect(figures.halfCheckpoints).toBeGreaterThan(0);
    const kills = Object.values(figures.kills).reduce((sum, times) => sum + times, 0);
    writeFigures("kill", [
      ["seed", `\`${seed}\``],
      ["time", minutes(began)],
      ["kills", kills],
      ["of these under load", figures.kills.load],
      ["… in a round that waited for a checkpoint; left half done", `${figures.kills.checkpoint}; ${figures.halfCheckpoints}`],
      ["… during a stop; where the stop was faster", `${figures.kills.stop}; ${figures.stopsThatWon}`],
      ["… at the first write", figures.kills["first-write"]],
      ["… during start-up, on old data; on an empty directory", `${figures.kills.start}; ${figures.kills.birth}`],
      ["OKs that were received", figures.oks],
      ["fewest OKs before a kill under load", figures.oksBetweenKillsMin],
      ["look-ups by id: every event ever sent, after every restart", figures.idsAsked],
      [
        "events that a kill left unanswered: found whole; not at all",
        `${figures.unansweredThere.toLocaleString("en")}; ${figures.unansweredNot.toLocaleString("en")}`,
      ],
      ["events looked up in every index", figures.lookUps],
      ["events served at the end, each compared in every index", figures.servedAtTheEnd],
      ["numbers of the feed, without a hole", figures.feedLength],
      ["events lost or changed, replacements rolled back, deletions undone, holes: everything found wrong", run.problems.length],
    ]);
  },
  TIMEOUT_MS,
);
