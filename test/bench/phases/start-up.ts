import { type Bench, guarded, type Target } from "../bench.ts";
import { type Running, start } from "../peers.ts";
import { costOf, diskBytes } from "../process-cost.ts";
import type { Row } from "../sheet.ts";

const MIB = 1024 * 1024;
/** Restarts of a loaded server take long and vary little. */
const RESTARTS_MAX = 3;

/** What a loaded set costs at rest, and how long a restart keeps clients waiting. Resolves with the process that runs then. */
export async function startUpPhase(bench: Bench, target: Target, running: Running | undefined): Promise<Running | undefined> {
  const row = (label: string, unit: string): Row => ({
    section: `At rest with ${bench.options.negItems.toLocaleString("en")} small events`,
    label,
    unit,
    better: "less",
  });
  const memory = (when: string): void => {
    const cost = target.pid === undefined ? undefined : costOf(target.pid);
    if (cost === undefined) return;
    bench.sheet.add(target.name, row(`memory ${when}`, "MiB"), cost.rssBytes / MIB);
    bench.sheet.add(target.name, row(`memory ${when}, without mapped files`, "MiB"), cost.anonymousBytes / MIB);
  };
  let current = running;
  await guarded(bench, target, "start-up", async () => {
    memory("after loading");
    const { recipe, dir } = target;
    if (recipe === undefined || dir === undefined) return;
    for (let round = 0; round < Math.min(bench.options.rounds, RESTARTS_MAX); round++) {
      bench.progress.say(`${target.name}: restarting`);
      await current?.stop();
      current = await start(recipe, Number(new URL(target.url).port), dir);
      target.pid = current.pid;
      bench.sheet.add(target.name, row("start until the first EOSE", "ms"), current.readyMs);
      const cpu = costOf(current.pid)?.cpuSeconds;
      if (cpu !== undefined) bench.sheet.add(target.name, { ...row("CPU until then", "ms"), mean: true }, cpu * 1000);
      memory("then");
    }
    bench.sheet.add(target.name, row("disk", "MiB"), diskBytes(dir) / MIB);
  });
  return current;
}
