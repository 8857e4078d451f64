import { type EventSet, eventFrame, type World } from "./events.ts";
import type { Options } from "./options.ts";
import type { Recipe } from "./peers.ts";
import { costOf } from "./process-cost.ts";
import type { Progress } from "./progress.ts";
import type { Sheet } from "./sheet.ts";

/** One relay of the comparison. */
export interface Target {
  readonly name: string;
  url: string;
  pid: number | undefined;
  /** Present when the bench started it and so may start it again. */
  readonly recipe: Recipe | undefined;
  dir: string | undefined;
  /** Events one connection may publish, as found by trying. */
  perConnection: number;
  /** Why nothing more is asked of it. */
  lost: string | undefined;
}

/** What every phase is given. */
export interface Bench {
  readonly world: World;
  readonly sheet: Sheet;
  readonly progress: Progress;
  readonly options: Options;
  readonly targets: readonly Target[];
}

export interface Spent {
  /** Undefined when the relay's process is not known. */
  readonly serverCpuS: number | undefined;
  readonly driverCpuS: number;
}

/** Runs `work` and says what CPU it took on both sides. */
export async function measured<T>(target: Target, work: () => Promise<T>): Promise<{ readonly result: T; readonly spent: Spent }> {
  const before = target.pid === undefined ? undefined : costOf(target.pid);
  const driverBefore = process.cpuUsage();
  const result = await work();
  const driver = process.cpuUsage(driverBefore);
  const after = target.pid === undefined ? undefined : costOf(target.pid);
  const serverCpuS = before === undefined || after === undefined ? undefined : after.cpuSeconds - before.cpuSeconds;
  return { result, spent: { serverCpuS, driverCpuS: (driver.user + driver.system) / 1e6 } };
}

/** Round after round, every relay in turn, so that a noisy minute hits all alike; one that fails is left out of the rounds that follow. */
export async function interleaved(bench: Bench, what: string, round: (target: Target, round: number) => Promise<void>): Promise<void> {
  const failed = new Set<Target>();
  for (let n = 0; n < bench.options.rounds; n++) {
    for (const target of bench.targets) {
      if (target.lost !== undefined || failed.has(target)) continue;
      bench.progress.say(`${what}: round ${n + 1} of ${bench.options.rounds}, ${target.name}`);
      if (!(await guarded(bench, target, what, () => round(target, n)))) failed.add(target);
    }
  }
}

/** One relay's failure is written down and stays its own. Resolves with whether all went well. */
export async function guarded(bench: Bench, target: Target, what: string, work: () => Promise<void>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    bench.progress.say(`${target.name}: ${what} failed: ${reason}`);
    bench.sheet.note(target.name, { section: "Failures", label: what, unit: "", better: "more" }, reason);
    return false;
  }
}

let serial = 0;

/** Frames of events that no relay has seen, dated within the last hour. The same for all relays of a round. */
export function freshFrames(bench: Bench, count: number): Buffer[] {
  serial += 1;
  const now = Math.floor(Date.now() / 1000);
  const set: EventSet = { name: `fresh-${process.pid}-${now}-${serial}`, count, size: "full", from: now - 3_600, spanS: 3_600 };
  return Array.from(bench.world.events(set), eventFrame);
}

/** A frame source for `publish`. */
export function fromList(frames: readonly Buffer[]): () => Buffer | undefined {
  let at = 0;
  return () => frames[at++];
}
