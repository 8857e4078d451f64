import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Clock } from "../../src/base/clock.ts";
import { systemClockWith } from "../../src/base/io/system-clock.ts";
import { findGit } from "../../src/git/io/git-binary.ts";
import { GitHelper } from "../../src/git/io/git-helper.ts";
import { GitProcesses } from "../../src/git/io/git-process.ts";
import { GitSlots, slotLimits } from "../../src/git/io/git-slots.ts";
import { type Oid, readOid } from "../../src/git/oid.ts";
import { type RefName, readRefName } from "../../src/git/ref-name.ts";

/** Who and when are fixed, so that the same content has the same object id in every run. */
const WHO = { NAME: "alice", EMAIL: "alice@example.com", DATE: "1700000000 +0000" };
const ENVIRONMENT = {
  PATH: process.env["PATH"] ?? "/usr/bin:/bin",
  LC_ALL: "C",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  ...Object.fromEntries(
    ["AUTHOR", "COMMITTER"].flatMap((role) => Object.entries(WHO).map(([key, value]) => [`GIT_${role}_${key}`, value])),
  ),
};

export interface GitOptions {
  readonly cwd: string;
  readonly input?: string | Uint8Array;
  readonly env?: Readonly<Record<string, string>>;
}

/** The system's git as a person would use it: what our own work is compared with. */
export function git(args: readonly string[], { cwd, input, env }: GitOptions): string {
  return gitBytes(args, { cwd, ...(input === undefined ? {} : { input }), ...(env === undefined ? {} : { env }) })
    .toString("utf8")
    .trimEnd();
}

export function gitBytes(args: readonly string[], { cwd, input, env }: GitOptions): Buffer {
  return execFileSync("git", args, {
    cwd,
    input: input ?? "",
    env: { ...ENVIRONMENT, ...env },
    stdio: ["pipe", "pipe", "pipe"],
    maxBuffer: 256 * 1024 * 1024,
  });
}

export function oid(text: string): Oid {
  const read = readOid(text);
  if (read === undefined) throw new Error(`no object id: ${text}`);
  return read;
}

export function ref(text: string): RefName {
  const read = readRefName(text);
  if (read === undefined) throw new Error(`no ref name: ${text}`);
  return read;
}

/** A commit on top of `parents` whose tree is one file; returns its id. */
export function commit(gitDir: string, content: string, parents: readonly string[] = []): Oid {
  const blob = git(["hash-object", "-w", "--stdin"], { cwd: gitDir, input: content });
  const tree = git(["mktree"], { cwd: gitDir, input: `100644 blob ${blob}\tfile\n` });
  return oid(git(["commit-tree", tree, "-m", content.slice(0, 60), ...parents.flatMap((parent) => ["-p", parent])], { cwd: gitDir }));
}

/** A directory of its own, a helper process, and everything that starts git through it. */
export class GitRig implements AsyncDisposable {
  readonly directory: string = mkdtempSync(join(tmpdir(), "holdfast-git-io-"));
  readonly troubles: string[] = [];
  readonly helper: GitHelper = new GitHelper({ onTrouble: (text) => void this.troubles.push(text) });
  readonly clock: Clock;
  readonly processes: GitProcesses;
  readonly slots: GitSlots;

  private constructor(path: string, clock: Clock) {
    this.clock = clock;
    this.slots = new GitSlots(slotLimits(2));
    this.processes = new GitProcesses({ helper: this.helper, slots: this.slots, clock, path });
  }

  static async open(clock: Clock = systemClockWith({ unref: true })): Promise<GitRig> {
    const path = await findGit(process.env["PATH"] ?? "");
    if (path === undefined) throw new Error("git is not installed");
    return new GitRig(path, clock);
  }

  path(...parts: readonly string[]): string {
    return join(this.directory, ...parts);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.helper[Symbol.asyncDispose]();
    rmSync(this.directory, { recursive: true, force: true });
  }
}
