import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { FaultError, faultOf } from "../../base/fault.ts";
import { workerUrl } from "../../base/io/worker-url.ts";
import { type Channel, type FromHelper, type ToHelper, ticketText } from "./helper-messages.ts";

export interface GitCommand {
  /** Absolute path to the binary. */
  readonly path: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** All of it: nothing of our own environment reaches git. */
  readonly env: Readonly<Record<string, string>>;
}

export interface GitExit {
  readonly code: number | undefined;
  readonly signal: string | undefined;
  /** The last 16 KiB. */
  readonly stderr: string;
}

export interface StartedGit {
  readonly pid: number;
  readonly stdin: Socket;
  readonly stdout: Socket;
  /** Rejects when the helper died: then nobody knows how git ended. */
  readonly exited: Promise<GitExit>;
  /** Ends the whole process group: asked to first, then killed. */
  kill(): void;
}

interface Entry {
  pid: number | undefined;
  readonly started: PromiseWithResolvers<number>;
  readonly exited: PromiseWithResolvers<GitExit>;
}

/** Enough for thousands of processes, and it must stay small: that is what it is for. */
const FLAGS = ["--max-old-space-size=64", "--max-semi-space-size=1"];
/** What Node itself may need in order to start. Secrets in our environment stay here. */
const HANDED_DOWN = ["PATH", "LD_LIBRARY_PATH", "TMPDIR"];
const GONE = new Set(["ENOENT", "ECONNREFUSED", "ECONNRESET", "EPIPE"]);
/** Tickets have eight hex digits; the number starts again long before that. */
const IDS_MAX = 0x7fff_ffff;

/** One life of the helper process. */
export class HelperConnection {
  readonly #child: ChildProcess;
  readonly #directory: string;
  readonly #entries = new Map<number, Entry>();
  readonly #ready = Promise.withResolvers<void>();
  /** Resolves when the process has ended. */
  readonly ended: Promise<void>;
  #next = 0;
  #isOpen = true;
  #isBroken = false;

  constructor(onTrouble: (text: string) => void) {
    // Only we may enter: the path is the whole access control. A short path, for sockets have 107 bytes.
    this.#directory = mkdtempSync(join(tmpdir(), "holdfast-git-"));
    const env = Object.fromEntries(HANDED_DOWN.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])));
    this.#child = fork(fileURLToPath(workerUrl(import.meta.url, "git-helper-main")), [this.#socketPath], {
      execArgv: FLAGS,
      env,
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
    this.#child.on("message", (message: FromHelper) => {
      if (message.kind === "trouble") onTrouble(message.text);
      else this.#onMessage(message);
    });
    const gone = Promise.race([once(this.#child, "exit"), once(this.#child, "error")]);
    this.ended = gone.then(
      () => this.#onEnd(),
      () => this.#onEnd(),
    );
  }

  get #socketPath(): string {
    return join(this.#directory, "s");
  }
  get isOpen(): boolean {
    return this.#isOpen && !this.#isBroken;
  }
  get pid(): number | undefined {
    return this.#child.pid;
  }
  ready(): Promise<void> {
    return this.#ready.promise;
  }

  async start(command: GitCommand): Promise<StartedGit> {
    const id = this.#takeId();
    const entry: Entry = { pid: undefined, started: Promise.withResolvers(), exited: Promise.withResolvers() };
    // Who does not ask how it ended must not be told by a crash.
    entry.exited.promise.catch(() => undefined);
    this.#entries.set(id, entry);
    const stdin = this.#connect(id, "i", entry);
    const stdout = this.#connect(id, "o", entry);
    // The other direction carries nothing, but only a read notices that git has closed its end.
    stdin.resume();
    this.#send({ kind: "run", id, ...command });
    try {
      const pid = await entry.started.promise;
      return { pid, stdin, stdout, exited: entry.exited.promise, kill: () => this.#send({ kind: "kill", id }) };
    } catch (error) {
      this.#entries.delete(id);
      this.#send({ kind: "kill", id });
      stdin.destroy();
      stdout.destroy();
      throw new FaultError(faultOf(error));
    }
  }

  /** The helper ends by itself when the channel closes, and everything it started with it. */
  async close(): Promise<void> {
    if (this.#child.connected) this.#child.disconnect();
    await this.ended;
  }

  #takeId(): number {
    do this.#next = (this.#next % IDS_MAX) + 1;
    while (this.#entries.has(this.#next));
    return this.#next;
  }

  #connect(id: number, channel: Channel, entry: Entry): Socket {
    const socket = connect(this.#socketPath);
    socket.on("error", (error) => {
      if (entry.pid !== undefined) return;
      // The helper is dying, or somebody removed its path: only a new one helps. Want of descriptors passes by itself.
      if (GONE.has((error as NodeJS.ErrnoException).code ?? "")) {
        this.#isBroken = true;
        this.#child.kill("SIGKILL");
      }
      entry.started.reject(error);
    });
    socket.write(ticketText(id, channel));
    return socket;
  }

  #send(message: ToHelper): void {
    // A send that fails means that the helper is gone, which its end reports.
    if (this.#child.connected) this.#child.send(message, () => undefined);
  }

  #onMessage(message: Exclude<FromHelper, { kind: "trouble" }>): void {
    if (message.kind === "ready") return this.#ready.resolve();
    const entry = this.#entries.get(message.id);
    if (entry === undefined) return;
    if (message.kind === "started") {
      entry.pid = message.pid;
      entry.started.resolve(message.pid);
    } else if (message.kind === "failed") {
      entry.started.reject(new FaultError({ kind: "io", code: message.code }));
    } else {
      this.#entries.delete(message.id);
      entry.exited.resolve(message);
    }
  }

  #onEnd(): void {
    this.#isOpen = false;
    rmSync(this.#directory, { recursive: true, force: true });
    const error = new FaultError({ kind: "closed", code: "git-helper" });
    this.#ready.promise.catch(() => undefined);
    this.#ready.reject(error);
    for (const entry of this.#entries.values()) {
      // Orphans: nobody waits for them any more.
      if (entry.pid !== undefined) killGroup(entry.pid);
      entry.started.promise.catch(() => undefined);
      entry.started.reject(error);
      entry.exited.reject(error);
    }
    this.#entries.clear();
  }
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // It has ended already.
  }
}
