import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ensureBuilt } from "../kit/server-under-test.ts";

const MAIN = fileURLToPath(new URL("../../dist/main.js", import.meta.url));
/** Starting includes recovering the store; a loaded machine needs a while. */
const START_DEADLINE_MS = 60_000;

export const relayDirectory = (dataDir: string): string => join(dataDir, "relay");

/** The server as a process that may be killed at any moment, also before it is ready. */
export class KillableServer {
  readonly #child: ChildProcess;
  /** Resolves when the process is gone and everything it printed was read. */
  readonly ended: Promise<void>;
  readonly began = performance.now();
  output = "";

  private constructor(child: ChildProcess) {
    this.#child = child;
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on("data", (chunk: Buffer) => {
        this.output += chunk.toString("utf8");
      });
    }
    this.ended = new Promise((resolve) => child.once("close", () => resolve()));
  }

  /** `before` is a command that runs the server as its child, such as a tracer. */
  static async spawn(dataDir: string, before: readonly string[] = []): Promise<KillableServer> {
    await ensureBuilt();
    const [program, ...args] = [...before, process.execPath, MAIN, "serve"];
    const ours = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(HOLDFAST|NGIT)_/.test(name)));
    const child = spawn(program, args, {
      cwd: dataDir,
      // The fourth is a lifeline: it ends with this process, however that ends, and the server with it.
      stdio: ["ignore", "pipe", "pipe", "pipe"],
      env: { ...ours, ...settings(dataDir), HOLDFAST_LIFELINE_FD: "3" },
    });
    child.once("error", () => undefined);
    return new KillableServer(child);
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get isGone(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  /** The exit code, when it ended by itself. */
  get exitCode(): number | null {
    return this.#child.exitCode;
  }

  signal(name: "SIGTERM" | "SIGKILL"): void {
    this.#child.kill(name);
  }

  async kill(): Promise<void> {
    this.signal("SIGKILL");
    await this.ended;
  }

  /** The WebSocket address, once it listens and serves. */
  ready(): Promise<string> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        const found = /listening on http:\/\/(127\.0\.0\.1:\d+)/.exec(this.output);
        if (found?.[1] === undefined) return;
        settle();
        resolve(`ws://${found[1]}`);
      };
      const fail = (why: string): void => {
        settle();
        reject(new Error(`${why}\n${this.output.slice(-4_000)}`));
      };
      const timer = setTimeout(() => fail("the server did not listen in time"), START_DEADLINE_MS);
      const onExit = (): void => fail(`the server ended with ${this.#child.exitCode ?? this.#child.signalCode} before it listened`);
      const settle = (): void => {
        clearTimeout(timer);
        this.#child.stdout?.off("data", look);
        this.#child.off("exit", onExit);
      };
      this.#child.stdout?.on("data", look);
      this.#child.once("exit", onExit);
      look();
    });
  }
}

function settings(dataDir: string): Record<string, string> {
  const rates = ["EVENTS", "QUERIES", "MESSAGES"].flatMap((what) => [
    `HOLDFAST_${what}_PER_MINUTE`,
    `HOLDFAST_${what}_PER_MINUTE_PER_ADDRESS`,
  ]);
  return {
    HOLDFAST_BIND_ADDRESS: "127.0.0.1:0",
    HOLDFAST_DATA_PATH: dataDir,
    HOLDFAST_ACCEPTANCE: "open",
    // The load deletes much that never was there.
    HOLDFAST_MAX_UNUSED_DELETION_REQUESTS: "1000000",
    ...Object.fromEntries(rates.map((name) => [name, "0"])),
  };
}
