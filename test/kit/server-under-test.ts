import { type ChildProcess, execFile, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const MAIN = join(ROOT, "dist/main.js");
const STAMP = join(ROOT, "dist/.built-for-tests");

/** A relay that somebody else runs, when the suite is pointed at one. */
export const EXTERNAL_URL = process.env["HOLDFAST_TEST_URL"];
/** `all`: what would be skipped is a failure. */
export const EXPECT_ALL = process.env["HOLDFAST_TEST_EXPECT"] === "all";

/** Starting includes opening the store; a loaded machine needs a while. */
const START_DEADLINE_MS = 60_000;
/** A server that has not stopped by then is killed, and the test fails: a graceful stop is bounded. */
const STOP_DEADLINE_MS = 30_000;
/** A whole type check and emit of the sources on a loaded machine. */
const BUILD_DEADLINE_MS = 180_000;

export interface ServerUnderTest {
  /** ws://host:port[/base] */
  readonly url: string;
  /** http://host:port[/base] */
  readonly httpUrl: string;
  readonly external: boolean;
  /** Where our own server keeps its data; undefined for an external one. */
  readonly dataDir: string | undefined;
  readonly pid: number | undefined;
  /** Everything the server printed. */
  log(): string;
  /** Stops by SIGTERM; the data directory stays when `keepData` is given. */
  stop(options?: { readonly keepData?: boolean }): Promise<void>;
}

export interface StartOptions {
  /** `undefined` takes a setting of the tests back. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Start on data that an earlier run left. */
  readonly dataDir?: string;
}

/** The server ended before it was ready. */
export class StartFailed extends Error {
  override readonly name = "StartFailed";
  readonly output: string;
  readonly exitCode: number | null;

  constructor(reason: string, output: string, exitCode: number | null) {
    super(`${reason}\n${output.slice(-4_000)}`);
    this.output = output;
    this.exitCode = exitCode;
  }
}

export const wsToHttp = (url: string): string => url.replace(/^ws/, "http").replace(/\/$/, "");

/** The external relay when one is named, else our own server, freshly built, on a free port with an empty data directory. */
export async function startServer(options: StartOptions = {}): Promise<ServerUnderTest> {
  if (EXTERNAL_URL !== undefined) {
    return {
      url: EXTERNAL_URL,
      httpUrl: wsToHttp(EXTERNAL_URL),
      external: true,
      dataDir: undefined,
      pid: undefined,
      log: () => "",
      stop: async () => {},
    };
  }
  return startOwn(options);
}

export async function startOwn(options: StartOptions = {}): Promise<ServerUnderTest> {
  await ensureBuilt();
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), "holdfast-test-")));
  const child = spawn(process.execPath, [MAIN, "serve"], {
    cwd: dataDir,
    // The fourth is a lifeline: it ends with this process, however that ends, and the server with it.
    stdio: ["ignore", "pipe", "pipe", "pipe"],
    env: { ...cleanEnvironment(), ...ownSettings(dataDir), ...options.env, HOLDFAST_LIFELINE_FD: "3" },
  });
  let output = "";
  const hear = (chunk: Buffer): void => {
    output += chunk.toString("utf8");
  };
  child.stdout?.on("data", hear);
  child.stderr?.on("data", hear);
  const exited = new Promise<number | null>((resolve) => child.once("exit", resolve));
  try {
    const origin = await listeningAt(child, exited, () => output);
    const base = options.env?.["HOLDFAST_BASE_PATH"]?.replace(/\/$/, "") ?? "";
    return {
      url: `${origin.replace(/^http/, "ws")}${base}`,
      httpUrl: `${origin}${base}`,
      external: false,
      dataDir,
      pid: child.pid,
      log: () => output,
      stop: async ({ keepData = false } = {}) => {
        const graceful = await end(child, exited);
        if (!keepData) await rm(dataDir, { recursive: true, force: true });
        if (!graceful) throw new Error(`the server did not stop within ${STOP_DEADLINE_MS} ms of SIGTERM\n${output.slice(-4_000)}`);
      },
    };
  } catch (error) {
    await end(child, exited);
    if (options.dataDir === undefined) await rm(dataDir, { recursive: true, force: true });
    throw error;
  }
}

/** Whole files run from one address within a minute: rates are off, and files that test them set their own. */
const RATES_OFF = ["EVENTS", "QUERIES", "MESSAGES", "AUTHS"].flatMap((what) => [
  [`HOLDFAST_${what}_PER_MINUTE`, "0"],
  [`HOLDFAST_${what}_PER_MINUTE_PER_ADDRESS`, "0"],
]);

function ownSettings(dataDir: string): Record<string, string> {
  return {
    HOLDFAST_BIND_ADDRESS: "127.0.0.1:0",
    HOLDFAST_DATA_PATH: dataDir,
    HOLDFAST_ACCEPTANCE: "open",
    ...Object.fromEntries(RATES_OFF),
  };
}

/** The settings above, all back to what an operator gets who sets nothing. */
export const DEFAULT_LIMITS: Readonly<Record<string, undefined>> = Object.fromEntries(RATES_OFF.map(([name]) => [name, undefined]));

/** Settings of the person who runs the tests must not reach the server under test. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(HOLDFAST|NGIT)_/.test(name)));
}

async function listeningAt(child: ChildProcess, exited: Promise<number | null>, output: () => string): Promise<string> {
  const deadline = Date.now() + START_DEADLINE_MS;
  let code: number | null | undefined;
  void exited.then((exit) => {
    code = exit;
  });
  for (;;) {
    const found = /listening on (http:\/\/127\.0\.0\.1:\d+)/.exec(output());
    if (found?.[1] !== undefined) return found[1];
    if (code !== undefined) throw new StartFailed(`the server ended with ${code} before it listened`, output(), code);
    if (Date.now() > deadline) throw new StartFailed(`the server (pid ${child.pid}) did not listen in time`, output(), null);
    await delay(20);
  }
}

async function end(child: ChildProcess, exited: Promise<number | null>): Promise<boolean> {
  if (child.exitCode !== null || child.signalCode !== null) return true;
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), STOP_DEADLINE_MS);
  await exited;
  clearTimeout(timer);
  return child.signalCode !== "SIGKILL";
}

/** What an operator gets who sets nothing: setting by name, as it would be written. */
export async function defaultSettings(): Promise<ReadonlyMap<string, string | null>> {
  await ensureBuilt();
  const { stdout } = await promisify(execFile)(process.execPath, [MAIN, "--print-config", "--json"], {
    cwd: tmpdir(),
    env: cleanEnvironment(),
  });
  const { settings } = JSON.parse(stdout) as { readonly settings: readonly { readonly name: string; readonly written: string | null }[] };
  return new Map(settings.map(({ name, written }) => [name, written]));
}

let built: Promise<void> | undefined;

/** Builds dist/ once when a source is newer than it; test files in other processes wait for the one that builds. */
export function ensureBuilt(): Promise<void> {
  built ??= buildWhenStale();
  return built;
}

async function buildWhenStale(): Promise<void> {
  const lock = join(ROOT, "node_modules/.cache/holdfast-test-build.lock");
  await mkdir(dirname(lock), { recursive: true });
  const deadline = Date.now() + BUILD_DEADLINE_MS;
  for (;;) {
    if (await fresh()) return;
    try {
      await mkdir(lock);
      break;
    } catch {
      // A builder that died leaves its lock: after the deadline it is ours.
      if (Date.now() > deadline) await rm(lock, { recursive: true, force: true });
      await delay(100);
    }
  }
  try {
    if (!(await fresh())) await build();
  } finally {
    await rm(lock, { recursive: true, force: true });
  }
}

/** The runner is the parent of every test process: what was found fresh once is used until it ends, so that one run is a test of one build. */
const RUN = process.env["VITEST_MODE"] === "RUN" ? `run ${process.ppid}` : undefined;
const RUN_STAMP = join(ROOT, "dist/.built-for-run");
/** Process numbers come round again; no run lasts this long. */
const RUN_MS_MAX = 3_600_000;

async function fresh(): Promise<boolean> {
  try {
    if (!existsSync(MAIN)) return false;
    if (await foundFreshInThisRun()) return true;
    if ((await newestSource(join(ROOT, "src"))) >= (await stat(STAMP)).mtimeMs) return false;
    if (RUN !== undefined) await writeFile(RUN_STAMP, RUN);
    return true;
  } catch {
    return false;
  }
}

async function foundFreshInThisRun(): Promise<boolean> {
  if (RUN === undefined || !existsSync(RUN_STAMP)) return false;
  return Date.now() - (await stat(RUN_STAMP)).mtimeMs < RUN_MS_MAX && (await readFile(RUN_STAMP, "utf8")) === RUN;
}

async function newestSource(dir: string): Promise<number> {
  let newest = 0;
  for (const entry of await readdir(dir, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile() || entry.name.endsWith(".test.ts")) continue;
    newest = Math.max(newest, (await stat(join(entry.parentPath, entry.name))).mtimeMs);
  }
  return newest;
}

async function build(): Promise<void> {
  const startedAt = new Date();
  const require = createRequire(import.meta.url);
  const tsc = join(dirname(require.resolve("typescript/package.json")), "bin/tsc");
  const child = spawn(process.execPath, [tsc, "-p", "tsconfig.build.json"], { cwd: ROOT, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const code = await new Promise<number | null>((resolve) => child.once("exit", resolve));
  if (code !== 0 || !existsSync(MAIN)) throw new Error(`building dist/ failed (${code})\n${output.slice(-4_000)}`);
  await writeFile(STAMP, startedAt.toISOString());
  // The stamp carries the time the build began: a source saved meanwhile makes it stale.
  await utimes(STAMP, startedAt, startedAt);
  if (RUN !== undefined) await writeFile(RUN_STAMP, RUN);
}
