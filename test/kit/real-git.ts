import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gitEnvironment } from "../../src/git/settings.ts";

export interface GitRun {
  readonly code: number | null;
  readonly stdout: Buffer;
  readonly stderr: string;
}

export interface GitOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string | Uint8Array;
}

/** Commits are the same in every run, so that their ids are. */
const PERSON = {
  GIT_AUTHOR_NAME: "Alice",
  GIT_AUTHOR_EMAIL: "alice@example.org",
  GIT_AUTHOR_DATE: "1700000000 +0000",
  GIT_COMMITTER_NAME: "Alice",
  GIT_COMMITTER_EMAIL: "alice@example.org",
  GIT_COMMITTER_DATE: "1700000000 +0000",
};

/** The system's git in the environment that the server gives it; a test's own server can answer meanwhile. */
export function runGit(args: readonly string[], { cwd = tmpdir(), env = {}, input = "" }: GitOptions = {}): Promise<GitRun> {
  return new Promise((resolve, reject) => {
    const child = spawn("git", args, { cwd, env: gitEnvironment(process.env["PATH"] ?? "", { ...PERSON, ...env }), timeout: 20_000 });
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    child.stdout.on("data", (chunk: Buffer) => out.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => err.push(chunk));
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, stdout: Buffer.concat(out), stderr: Buffer.concat(err).toString() }));
    // git may refuse before it has read everything.
    child.stdin.on("error", () => {});
    child.stdin.end(input);
  });
}

/** What it printed, without the last line end; it must succeed. */
export async function git(args: readonly string[], options?: GitOptions): Promise<string> {
  const { code, stdout, stderr } = await runGit(args, options);
  if (code !== 0) throw new Error(`git ${args.join(" ")} ended with ${code}: ${stderr}`);
  return stdout.toString().replace(/\n$/, "");
}

/** A directory that goes with the test. */
export async function workDirectory(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), "holdfast-git-"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}
