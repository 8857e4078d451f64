import { rmSync, writeFileSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { type Bench, guarded, type Target } from "./bench.ts";
import { type EventFile, eventFile } from "./event-file.ts";
import { type EventSet, World } from "./events.ts";
import { type Options, readOptions } from "./options.ts";
import { customRecipe, freePort, preset, type Recipe, type Running, start } from "./peers.ts";
import { fanOutPhase } from "./phases/fan-out.ts";
import { negentropyPhase, splitOf } from "./phases/negentropy.ts";
import { bulkLoad, prepareTarget } from "./phases/prepare.ts";
import { publishPhase } from "./phases/publish.ts";
import { queryPhase } from "./phases/query.ts";
import { startUpPhase } from "./phases/start-up.ts";
import { Progress } from "./progress.ts";
import { Sheet } from "./sheet.ts";
import { asJson, markdown } from "./table.ts";

/** 2026-01-01 and 2025-01-01: the two stored sets lie in years of their own, so that a filter by time tells them apart. */
const STORED_FROM = 1_767_225_600;
const NEG_FROM = 1_735_689_600;
const DAY_S = 86_400;

async function main(options: Options): Promise<number> {
  const progress = new Progress();
  const world = new World(options.seed);
  progress.say(`signing with ${world.signer.name}; repository ${world.coordinate}`);
  const root = options.dir ?? (await mkdtemp(join(tmpdir(), "bench-relay-")));
  const targets = targetsOf(options);
  const bench: Bench = { world, sheet: new Sheet(targets.map((target) => target.name)), progress, options, targets };
  const running = new Map<Target, Running>();
  const stopAll = async (): Promise<void> => {
    await Promise.all([...running.values()].map((server) => server.stop()));
    if (options.dir === undefined) rmSync(root, { recursive: true, force: true });
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void stopAll().finally(() => process.exit(1)));
  try {
    await startFresh(bench, running, root, "a");
    await smallPhases(bench);
    if (options.phases.has("negentropy") || options.phases.has("startup")) await bigPhases(bench, running, root);
  } finally {
    await stopAll();
  }
  const about = {
    at: new Date().toISOString(),
    node: process.version,
    cpus: cpus().map((cpu) => cpu.model),
    options: { ...options, phases: [...options.phases] },
  };
  process.stdout.write(markdown(bench.sheet));
  if (options.json !== undefined) writeFileSync(options.json, asJson(bench.sheet, about));
  return targets.every((target) => target.lost !== undefined) ? 1 : 0;
}

function targetsOf(options: Options): Target[] {
  const blank = { dir: undefined, perConnection: Number.POSITIVE_INFINITY, lost: undefined };
  const recipes: Recipe[] = [...options.peers.map(preset), ...options.starts.map(customRecipe)];
  const targets: Target[] = [
    ...options.urls.map((url, at) => ({ ...blank, name: url, url, pid: options.pids[at], recipe: undefined })),
    ...recipes.map((recipe) => ({ ...blank, name: recipe.name, url: "", pid: undefined, recipe })),
  ];
  const seen = new Map<string, number>();
  return targets.map((target, at) => {
    const name = options.names[at] ?? target.name;
    const times = (seen.get(name) ?? 0) + 1;
    seen.set(name, times);
    return { ...target, name: times === 1 ? name : `${name} (${times})` };
  });
}

/** An empty server for every target that the bench starts itself; for the others, only what makes them accept the load. */
async function startFresh(bench: Bench, running: Map<Target, Running>, root: string, generation: string): Promise<void> {
  for (const [at, target] of bench.targets.entries()) {
    await guarded(bench, target, "start", async () => {
      await running.get(target)?.stop();
      running.delete(target);
      target.lost = "not started";
      if (target.recipe !== undefined) {
        const port = await freePort();
        target.dir = join(root, `${generation}${at}`);
        const server = await start(target.recipe, port, target.dir);
        running.set(target, server);
        target.url = `ws://127.0.0.1:${port}`;
        target.pid = server.pid;
      }
      await prepareTarget(bench, target);
      if (target.lost === "not started") target.lost = undefined;
    });
  }
}

/** The stored set comes first, so that new events meet a relay that is in use. */
async function smallPhases(bench: Bench): Promise<void> {
  const { options, targets, world, progress } = bench;
  let stored: EventFile | undefined;
  if (options.phases.has("query")) {
    const set: EventSet = { name: "stored", count: options.stored, size: "full", from: STORED_FROM, spanS: 180 * DAY_S };
    stored = await eventFile(options.cacheDir, world, set, progress);
    for (const target of targets) if (target.lost === undefined && !options.preloaded) await bulkLoad(bench, target, stored);
  }
  if (options.phases.has("publish")) await publishPhase(bench, stored?.set.count ?? 0);
  if (stored !== undefined) await queryPhase(bench, stored);
  if (options.phases.has("fanout")) await fanOutPhase(bench);
}

/** A million events each: relays that the bench starts get an empty directory and run alone, one after the other. */
async function bigPhases(bench: Bench, running: Map<Target, Running>, root: string): Promise<void> {
  const { options, targets, world, progress } = bench;
  const split = splitOf(options);
  const set: EventSet = { name: "neg", count: split.count, size: "small", from: NEG_FROM, spanS: 300 * DAY_S };
  const file = await eventFile(options.cacheDir, world, set, progress);
  await startFresh(bench, running, root, "b");
  for (const target of targets) {
    if (target.lost !== undefined) continue;
    if (!options.preloaded) await bulkLoad(bench, target, file, split.relayLacks);
    if (options.phases.has("negentropy")) await negentropyPhase(bench, target, file, split);
    if (!options.phases.has("startup")) continue;
    const server = await startUpPhase(bench, target, running.get(target));
    if (server !== undefined) running.set(target, server);
  }
}

const given = readOptions(process.argv.slice(2));
if (typeof given === "string") {
  process.stderr.write(`${given}\n`);
  process.exitCode = given.startsWith("npm run") ? 0 : 2;
} else process.exitCode = await main(given);
