import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { KillableServer, relayDirectory } from "../integration/kill-server.ts";
import { Drive } from "../kit/write-drive.ts";
import { makeLanes } from "../kit/write-load.ts";
import { type Figure, writeFigures } from "./figures.ts";
import { type Call, readTrace, straceCommand } from "./strace.ts";
import { checkSyncOrder } from "./sync-order.ts";

const ONE_BY_ONE = 200;
const IN_BURSTS = 2_000;
const CONNECTIONS = 8;
const DEPTH = 16;
/** Sent again to the restarted server: some that it must know. */
const AFTER_RESTART = 20;

const folder = mkdtempSync(join(tmpdir(), "holdfast-trace-"));
const dataDir = join(folder, "data");
const log = join(relayDirectory(dataDir), "holdfast.sqlite-wal");
const lanes = makeLanes("trace", CONNECTIONS, Math.floor(Date.now() / 1000));
const figures: Figure[] = [];
let first = "";
let second = "";
/** Figures are for the page only when everything held. */
let hasFailed = false;
/** Events that the clients were told `true` for, and that were stored by that. */
let accepted = 0;

const hasStrace = (): boolean => spawnSync("strace", ["--version"]).status === 0;

/** The server is strace's only child. Zero would name our own process group, so anything but a real number is refused. */
function tracedPid(strace: number): number {
  const pid = Number(readFileSync(`/proc/${strace}/task/${strace}/children`, "utf8").trim().split(" ")[0]);
  if (!Number.isInteger(pid) || pid <= 1) throw new Error("strace has no child");
  return pid;
}

async function traced(name: string, work: (url: string, kill: () => void) => Promise<void>): Promise<string> {
  const file = join(folder, name);
  const server = await KillableServer.spawn(dataDir, straceCommand(file));
  const url = await server.ready();
  const pid = tracedPid(server.pid);
  let isKilled = false;
  const kill = (): void => {
    if (!isKilled && !server.isGone) process.kill(pid, "SIGKILL");
    isKilled = true;
  };
  try {
    await work(url, kill);
  } finally {
    kill();
    await server.ended;
  }
  return readFileSync(file, "utf8");
}

/** Writes with so many under way on each connection until so many OKs have come, then kills or waits for the rest. */
async function write(
  url: string,
  connections: number,
  depth: number,
  wanted: number,
  then: (drive: Drive) => Promise<void>,
): Promise<void> {
  const reached = Promise.withResolvers<void>();
  const onAnswer = (count: number): void => {
    if (count === wanted) reached.resolve();
  };
  const drive = await Drive.start(url, lanes.slice(0, connections), { depth, bulk: false, onAnswer });
  await Promise.race([reached.promise, drive.ended]);
  await then(drive);
  expect(drive.problems).toEqual([]);
  expect(drive.answers).toBeGreaterThanOrEqual(wanted);
}

beforeAll(async () => {
  if (!hasStrace()) {
    // A bare machine: the proof brings what it needs where it may.
    spawnSync("apt-get", ["update"]);
    spawnSync("apt-get", ["install", "-y", "strace"]);
    if (!hasStrace()) throw new Error("this proof needs strace, and it could not be installed: install the package `strace`");
  }
  mkdirSync(dataDir);
  first = await traced("first.trace", async (url, kill) => {
    await write(url, 1, 1, ONE_BY_ONE, async (drive) => {
      drive.stop();
      drive.close();
    });
    await write(url, CONNECTIONS, DEPTH, IN_BURSTS, async (drive) => {
      kill();
      await drive.ended;
    });
  });
  for (const lane of lanes) accepted += lane.sent.filter(({ answer, probe }) => answer === true && !probe).length;
  const known = lanes.flatMap((lane) => lane.sent.filter((sent) => sent.answer === true && !sent.probe && sent.event.kind === 5).slice(-2));
  second = await traced("second.trace", async (url) => {
    const { RawClient } = await import("../bench/raw-client.ts");
    let answers = 0;
    const done = Promise.withResolvers<void>();
    const again = known.slice(0, AFTER_RESTART);
    const client = await RawClient.connect(url, () => (++answers === again.length ? done.resolve() : undefined));
    for (const { event } of again) client.sendText(`["EVENT",${event.json}]`);
    await done.promise;
    client.close();
  });
});

afterEach(({ task }) => {
  if (task.result?.state === "fail") hasFailed = true;
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
  if (!hasFailed && figures.length > 0) writeFigures("sync-trace", figures);
});

describe("grasp.md 3.2: OK true means durable", () => {
  it("every event was written to the log, the log was synced, and then its OK was sent", () => {
    const calls = readTrace(first);
    const order = checkSyncOrder(calls, log);
    expect(order.problems).toEqual([]);
    expect(order.proved.length).toBeGreaterThan((ONE_BY_ONE + IN_BURSTS) * 0.7);
    // Nothing that clients heard is missing from the trace; those that were superseded at once are the difference.
    expect(order.proved.length).toBeGreaterThan(accepted * 0.9);
    figures.push(["events written, synced and only then answered", order.proved.length]);
    figures.push(["of these, replaced or deleted again within one transaction", order.passed]);
    figures.push(
      ["transactions in the log", order.transactions],
      ["writes to the log", order.logWrites],
      ["syncs of the log", order.logSyncs],
    );
  });

  it("the folders that name a new store were synced before the first OK", () => {
    const calls = readTrace(first);
    const firstOk = calls.find((call) => call.target.startsWith("TCP") && call.data.includes('["OK",'))?.began ?? -1;
    const firstWrite = calls.find((call) => call.target === log)?.began ?? Number.POSITIVE_INFINITY;
    for (const path of [dirname(log), dataDir]) {
      const synced = calls.some(
        (call) => call.name === "fsync" && call.target === path && call.result === 0 && call.began > firstWrite && call.ended < firstOk,
      );
      expect(synced, path).toBe(true);
    }
  });

  it("a restarted server syncs what the killed one left in the log before it calls it known", () => {
    const order = checkSyncOrder(readTrace(second), log);
    expect(order.problems).toEqual([]);
    expect(order.knownBefore.length).toBeGreaterThan(0);
    figures.push(["events that a restarted server called known, after it had synced the log it found", order.knownBefore.length]);
  });
});

describe("the checker, given a trace that was tampered with", () => {
  const isSync = (line: string): boolean => /\b(fsync|fdatasync)\(/.test(line) && line.includes(log);
  const problemsOf = (calls: readonly Call[]): number => checkSyncOrder(calls, log).problems.length;

  it("fails for every event when the log is never synced, as with `synchronous = OFF`", () => {
    const calls = readTrace(
      first
        .split("\n")
        .map((line) => (isSync(line) ? "" : line))
        .join("\n"),
    );
    const { proved, problems } = checkSyncOrder(calls, log);
    expect(proved).toEqual([]);
    expect(problems.length).toBe(checkSyncOrder(readTrace(first), log).proved.length);
    figures.push(["tampered with, no syncs: events that the checker refused", problems.length]);
  });

  it("fails when syncs return an error", () => {
    const calls = readTrace(first).map((call) => (call.name === "fsync" || call.name === "fdatasync" ? { ...call, result: -1 } : call));
    expect(checkSyncOrder(calls, log).proved).toEqual([]);
  });

  it("fails when the syncs are those of another file", () => {
    const calls = readTrace(first).map((call) => (call.name.endsWith("sync") ? { ...call, target: log.replace(/-wal$/, "") } : call));
    expect(checkSyncOrder(calls, log).proved).toEqual([]);
  });

  it("fails when a single sync of those that were written one by one is missing", () => {
    const calls = readTrace(first);
    const needed = [...checkSyncOrder(calls, log).neededSyncs].slice(0, ONE_BY_ONE / 2);
    expect(needed.length).toBe(ONE_BY_ONE / 2);
    const refused = needed.filter((ended) => problemsOf(calls.filter((call) => call.ended !== ended)) > 0);
    expect(refused.length).toBe(needed.length);
    figures.push(["tampered with, one sync missing: traces that the checker refused", `${refused.length} of ${needed.length}`]);
  });

  it("fails when OKs leave while the sync is still running", () => {
    const calls = readTrace(first);
    const late = calls.map((call) => (call.target === log && call.name.endsWith("sync") ? { ...call, ended: call.ended + 40 } : call));
    expect(problemsOf(late)).toBeGreaterThan(0);
  });
});
