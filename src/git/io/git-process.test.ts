import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, it } from "vitest";
import { GitRig, git } from "../../../test/kit/git-rig.ts";
import { TestClock } from "../../../test/kit/test-clock.ts";
import { FaultError } from "../../base/fault.ts";
import { findGit, gitProblem, readGitVersion } from "./git-binary.ts";
import { GitProcesses, type RunningGit } from "./git-process.ts";
import { GitSlots, slotLimits } from "./git-slots.ts";

let rig: GitRig;
beforeAll(async () => {
  rig = await GitRig.open();
  git(["init", "-q", "--bare", "r"], { cwd: rig.directory });
});
afterAll(() => rig[Symbol.asyncDispose]());

const job = { purpose: "upkeep" } as const;
/** Reads its input to the end, so it lives as long as we let it. */
const waits = (): { args: string[] } & typeof job => ({ ...job, args: ["--git-dir", rig.path("r"), "cat-file", "--batch-check"] });

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return readFileSync(`/proc/${pid}/stat`, "utf8").split(" ")[2] !== "Z";
  } catch {
    return false;
  }
};
const until = async (condition: () => boolean): Promise<void> => {
  await expect.poll(condition, { timeout: 20_000, interval: 10 }).toBe(true);
};

it("runs git with input and output", async () => {
  const { stdout } = await rig.processes.run({ ...job, args: ["hash-object", "--stdin"] }, "hello\n");
  expect(stdout.toString()).toBe("ce013625030ba8dba906f756967f9e9ca394464a\n");
});

it("input is fed while output drains: more than any pipe holds, both ways at once", async () => {
  const line = `${"0".repeat(39)}1\n`;
  const { stdout } = await rig.processes.run(waits(), line.repeat(20_000));
  expect(stdout.length).toBe(20_000 * `${"0".repeat(39)}1 missing\n`.length);
});

it("nothing of our own environment reaches git", async () => {
  process.env["HOLDFAST_TEST_SECRET"] = "x";
  try {
    await rig.helper.ready();
    const alias = "alias.e=!cat /proc/self/environ";
    const { stdout } = await rig.processes.run({ ...job, args: ["-c", alias, "e"] });
    expect(stdout.toString()).not.toContain("HOLDFAST_TEST_SECRET");
    expect(stdout.toString()).toContain("GIT_CONFIG_NOSYSTEM=1");
  } finally {
    delete process.env["HOLDFAST_TEST_SECRET"];
  }
});

it("a failing git is a fault with its code and the end of what it said", async () => {
  const failure = rig.processes.run({ ...job, args: ["cat-file", "-t", "nonsense"], cwd: rig.directory });
  await expect(failure).rejects.toMatchObject({ name: "FaultError", fault: { kind: "git-exit", code: 128, signal: undefined } });
  const { fault } = (await failure.catch((error: unknown) => error)) as FaultError;
  expect(String(fault.cause)).toContain("not a git repository");
});

it("of endless complaints only the end is kept", async () => {
  const alias = `alias.e=!yes complaint | head -c 3000000 >&2; echo last words >&2; exit 3`;
  const end = await (await rig.processes.start({ ...job, args: ["-c", alias, "e"] })).ended;
  expect(end.fault).toMatchObject({ kind: "git-exit", code: 3 });
  expect(end.stderr.length).toBeLessThanOrEqual(16_384);
  expect(end.stderr.endsWith("last words\n")).toBe(true);
});

it("a directory that is not there is a fault, not the end of the helper", async () => {
  const pid = rig.helper.pid;
  await expect(rig.processes.run({ ...job, args: ["version"], cwd: rig.path("nowhere") })).rejects.toMatchObject({
    fault: { kind: "io", code: "ENOENT" },
  });
  expect((await rig.processes.run({ ...job, args: ["version"] })).stdout.toString()).toContain("git version");
  expect(rig.helper.pid).toBe(pid);
});

it("an abort kills what git has started too (grasp.md 7.2)", async () => {
  const abort = new AbortController();
  const alias = "alias.e=!sleep 1000 & echo $!; wait";
  const running = await rig.processes.start({ ...job, args: ["-c", alias, "e"], signal: abort.signal });
  const [chunk] = (await running.stdout.take(1).toArray()) as [Buffer];
  const grandchild = Number(chunk.toString());
  expect(isAlive(grandchild)).toBe(true);
  abort.abort();
  expect((await running.ended).fault).toMatchObject({ kind: "aborted" });
  await until(() => !isAlive(grandchild));
});

it("silence kills, work does not", async () => {
  const clock = new TestClock();
  const slots = new GitSlots(slotLimits(1));
  const path = (await findGit(process.env["PATH"] ?? "")) ?? "";
  const processes = new GitProcesses({ helper: rig.helper, slots, clock, path });
  const running = await processes.start({ ...waits(), silenceMs: 1_000 });
  const answers = running.stdout[Symbol.asyncIterator]();
  for (let n = 0; n < 5; n++) {
    running.stdin.write("x\n");
    await answers.next();
    await clock.advance(900);
  }
  let isOver = false;
  void running.ended.then(() => (isOver = true));
  expect(slots.running).toBe(1);
  expect(isOver).toBe(false);
  await clock.advance(1_300);
  expect((await running.ended).fault).toMatchObject({ kind: "timeout", afterMs: 1_000 });
  expect(slots.running).toBe(0);
});

it("a total time kills although there is work", async () => {
  const clock = new TestClock();
  const path = (await findGit(process.env["PATH"] ?? "")) ?? "";
  const processes = new GitProcesses({ helper: rig.helper, slots: new GitSlots(slotLimits(1)), clock, path });
  const running = await processes.start({ ...waits(), totalMs: 5_000 });
  await clock.advance(5_000);
  expect((await running.ended).fault).toMatchObject({ kind: "timeout", afterMs: 5_000 });
});

it("a helper that was killed fails what it ran, takes it along, and is started again", async () => {
  const running: RunningGit = await rig.processes.start(waits());
  const before = rig.helper.pid as number;
  process.kill(before, "SIGKILL");
  expect((await running.ended).fault).toMatchObject({ kind: "closed", code: "git-helper" });
  const { stdout } = await rig.processes.run({ ...job, args: ["version"] });
  expect(stdout.toString()).toContain("git version");
  expect(rig.helper.pid).not.toBe(before);
  expect(rig.troubles.join()).toContain("started again");
  expect(rig.slots.running).toBe(0);
});

it("what is asked of a dying helper is asked of the next one", async () => {
  for (let n = 0; n < 3; n++) {
    await rig.helper.ready();
    process.kill(rig.helper.pid as number, "SIGKILL");
    expect((await rig.processes.run({ ...job, args: ["version"] })).stdout.toString()).toContain("git version");
  }
});

it("the helper and what it runs end with the one who started it", async () => {
  const other = await GitRig.open();
  const running = await other.processes.start({ ...job, args: ["-c", "alias.e=!echo $$; sleep 1000", "e"] });
  const [chunk] = (await running.stdout.take(1).toArray()) as [Buffer];
  const helper = other.helper.pid as number;
  await other[Symbol.asyncDispose]();
  await until(() => !isAlive(Number(chunk.toString())) && !isAlive(helper));
  expect((await running.ended).fault).toMatchObject({ kind: "closed" });
});

it("so they do when he is killed outright", async () => {
  const url = (name: string): string => JSON.stringify(new URL(`./${name}`, import.meta.url).href);
  const script = `
import { GitHelper } from ${url("git-helper.ts")};
const helper = new GitHelper({ onTrouble: () => undefined });
const git = await helper.start({ path: "/bin/sh", args: ["-c", "sleep 1000"], cwd: "/", env: {} });
console.log(helper.pid + " " + git.pid);
`;
  const server = spawn(process.execPath, ["--input-type=module", "--no-warnings", "-e", script], { stdio: ["ignore", "pipe", "inherit"] });
  const [said] = (await once(server.stdout, "data")) as [Buffer];
  const pids = said.toString().trim().split(" ").map(Number);
  expect(pids.map(isAlive)).toEqual([true, true]);
  server.kill("SIGKILL");
  await until(() => !pids.some(isAlive));
});

it.each([
  ["git version 2.39.5\n", undefined],
  ["git version 2.52.0.windows.1\n", undefined],
  ["git version 3.0.0 (Apple Git-200)\n", undefined],
  ["git version 2.38.9\n", "/usr/bin/git is git 2.38.9; git 2.39 or newer is needed."],
  ["not git\n", "/usr/bin/git does not say which version of git it is; git 2.39 or newer is needed."],
])("%j", (output, problem) => expect(gitProblem("/usr/bin/git", output)).toBe(problem));

it("says what to do when there is no git", async () => {
  expect(await findGit(rig.directory)).toBeUndefined();
  expect(gitProblem(undefined, undefined)).toBe(
    "git was not found; git 2.39 or newer is needed. Install it, or put its directory on PATH.",
  );
  expect(readGitVersion("git version 2.39.5")).toEqual({ major: 2, minor: 39, text: "2.39.5" });
});
