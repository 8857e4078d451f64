import { dirname } from "node:path";
import type { Readable, Writable } from "node:stream";
import type { Clock } from "../../base/clock.ts";
import { type Fault, FaultError, faultOf } from "../../base/fault.ts";
import { plus } from "../../base/time.ts";
import { COMMON, configFlags, type GitSetting, gitEnvironment } from "../settings.ts";
import type { GitHelper } from "./git-helper.ts";
import type { GitPurpose, GitSlots } from "./git-slots.ts";
import type { StartedGit } from "./helper-connection.ts";

export interface GitJob {
  /** Without `git` itself and without `-c`. */
  readonly args: readonly string[];
  /** Beside those that every git process is told. */
  readonly settings?: readonly GitSetting[];
  /** Beside that of every git process. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly purpose: GitPurpose;
  /** The client it is done for, if any. */
  readonly address?: string;
  readonly signal?: AbortSignal;
  /** Without a byte in either direction for so long, the group is killed. */
  readonly silenceMs?: number;
  readonly totalMs?: number;
  /** Long-lived readers have a bound of their own and wait for no slot. */
  readonly withoutSlot?: boolean;
}

/** How it ended: `fault` is absent only after exit code 0. */
export interface GitEnd {
  readonly fault: Fault | undefined;
  /** The last 16 KiB, for logs and for people; nothing is decided by it. */
  readonly stderr: string;
}

export interface RunningGit {
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** Never rejects. */
  readonly ended: Promise<GitEnd>;
  /** Ends the process group; `ended` then tells this fault. */
  kill(fault: Fault): void;
}

export interface GitOutput {
  readonly stdout: Buffer;
  readonly stderr: string;
}

export interface GitProcessesOptions {
  readonly helper: GitHelper;
  readonly slots: GitSlots;
  readonly clock: Clock;
  /** Absolute path to git. */
  readonly path: string;
}

/** What a short question may answer; long answers are streamed. */
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;

/** Every git process of the server is started here. */
export class GitProcesses {
  readonly #options: GitProcessesOptions;

  constructor(options: GitProcessesOptions) {
    this.#options = options;
  }

  /** Waits for its turn. Fails with a `FaultError` when it cannot be started; afterwards `ended` tells. */
  async start(job: GitJob): Promise<RunningGit> {
    const { helper, slots, clock, path } = this.#options;
    const giveBack = job.withoutSlot === true ? () => undefined : await slots.take(job.purpose, job.address, job.signal);
    try {
      const git = await helper.start({
        path,
        args: [...configFlags(COMMON, job.settings ?? []), ...job.args],
        env: gitEnvironment(`${dirname(path)}:/usr/bin:/bin`, job.env),
        cwd: job.cwd ?? "/",
      });
      return follow(git, job, clock, giveBack);
    } catch (error) {
      giveBack();
      throw new FaultError(faultOf(error));
    }
  }

  /** Runs to the end and returns all output; throws a `FaultError` unless git exits with 0 and its output was read whole. */
  async run(job: GitJob, input: string | Uint8Array = ""): Promise<GitOutput> {
    const git = await this.start(job);
    git.stdin.end(input);
    const chunks: Buffer[] = [];
    let bytes = 0;
    try {
      for await (const chunk of git.stdout as AsyncIterable<Buffer>) {
        bytes += chunk.length;
        if (bytes > OUTPUT_BYTES_MAX) throw new FaultError({ kind: "protocol", what: "output too long" });
        chunks.push(chunk);
      }
    } catch (error) {
      git.kill(faultOf(error));
    }
    const { fault, stderr } = await git.ended;
    if (fault) throw new FaultError(fault);
    return { stdout: Buffer.concat(chunks), stderr };
  }
}

function follow(git: StartedGit, job: GitJob, clock: Clock, giveBack: () => void): RunningGit {
  const { stdin, stdout } = git;
  const timers = new Set<() => void>();
  let killedBy: Fault | undefined;
  const kill = (fault: Fault): void => {
    if (killedBy !== undefined) return;
    killedBy = fault;
    git.kill();
    stdin.destroy();
    stdout.destroy();
  };
  const at = (ms: number, wake: () => void): void => {
    const cancel = clock.at(plus(clock.now(), ms), () => {
      timers.delete(cancel);
      wake();
    });
    timers.add(cancel);
  };
  const abort = () => kill({ kind: "aborted", cause: job.signal?.reason });
  if (job.signal?.aborted) abort();
  job.signal?.addEventListener("abort", abort, { once: true });
  const { silenceMs, totalMs } = job;
  if (silenceMs !== undefined) watchSilence(silenceMs, () => stdin.bytesWritten + stdout.bytesRead, at, kill);
  if (totalMs !== undefined) at(totalMs, () => kill({ kind: "timeout", afterMs: totalMs }));
  const leave = (end: GitEnd): GitEnd => {
    for (const cancel of timers) cancel();
    job.signal?.removeEventListener("abort", abort);
    giveBack();
    // Nobody reads it any more.
    stdin.destroy();
    return end;
  };
  const ended = git.exited.then(
    ({ code, signal, stderr }) => {
      const fault: Fault | undefined = code === 0 ? undefined : { kind: "git-exit", code, signal, cause: stderr };
      return leave({ fault: killedBy ?? fault, stderr });
    },
    (error: unknown) => {
      stdout.destroy();
      return leave({ fault: killedBy ?? faultOf(error), stderr: "" });
    },
  );
  return { stdin, stdout, ended, kill };
}

/** Aborts when the given signal does, and when git has ended: who feeds it shall not wait for a client that git waits for no more. */
export function untilEnd(git: RunningGit, signal: AbortSignal | undefined): AbortSignal {
  const over = new AbortController();
  void git.ended.then(() => over.abort());
  return signal === undefined ? over.signal : AbortSignal.any([signal, over.signal]);
}

/** Looks four times in each window, so silence is noticed after a quarter more at the latest and a byte costs nothing. */
function watchSilence(
  silenceMs: number,
  bytes: () => number,
  at: (ms: number, wake: () => void) => void,
  kill: (fault: Fault) => void,
): void {
  let seen = bytes();
  let quiet = 0;
  const look = (): void => {
    const now = bytes();
    quiet = now === seen ? quiet + 1 : 0;
    seen = now;
    if (quiet >= 4) kill({ kind: "timeout", afterMs: silenceMs });
    else at(silenceMs / 4, look);
  };
  at(silenceMs / 4, look);
}
