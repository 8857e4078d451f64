import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { RawClient } from "./raw-client.ts";
import { answerKind } from "./wire.ts";

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
/** Opening a million stored events may take long; a server that is still silent after this is given up. */
const READY_MS = 600_000;
const RETRY_MS = 20;
/** Time to flush and leave before it is killed. */
const STOP_MS = 30_000;

/** A server that the bench itself can start: how, given a port and an empty directory. */
export interface Recipe {
  readonly name: string;
  readonly command: (port: number, dir: string) => { readonly argv: readonly string[]; readonly env?: NodeJS.ProcessEnv };
}

export interface Running {
  readonly pid: number;
  readonly readyMs: number;
  stop(): Promise<void>;
}

/** Limits are lifted where the server allows it: what is compared is what the machine can do, not what an operator would allow. */
const PRESETS: Readonly<Record<string, Recipe["command"]>> = {
  holdfast: (port, dir) => ({
    argv: [process.execPath, join(ROOT, "dist", "main.js"), "serve"],
    env: holdfastSettings(port, dir),
  }),
  "ngit-grasp": (port, dir) => ({
    argv: [process.env["NGIT_GRASP_BIN"] ?? "ngit-grasp", "serve"],
    env: {
      NGIT_DOMAIN: `127.0.0.1:${port}`,
      NGIT_BIND_ADDRESS: `127.0.0.1:${port}`,
      NGIT_GIT_DATA_PATH: join(dir, "git"),
      NGIT_RELAY_DATA_PATH: join(dir, "relay"),
      NGIT_SYNC_PLUS_ENABLED: "false",
      NGIT_USER_INDEX_RELAYS: "",
      NGIT_SYNC_PLUS_FALLBACK_RELAYS: "",
      NGIT_LOG_LEVEL: "warn",
    },
  }),
  strfry: (port, dir) => {
    writeFileSync(join(dir, "strfry.conf"), strfryConfig(port, dir));
    mkdirSync(join(dir, "db"), { recursive: true });
    return { argv: [process.env["STRFRY_BIN"] ?? "strfry", `--config=${join(dir, "strfry.conf")}`, "relay"] };
  },
  "nostr-rs-relay": (port, dir) => {
    const config = `[network]\naddress = "127.0.0.1"\nport = ${port}\n[limits]\nmax_event_bytes = 262144\n[diagnostics]\ntracing = false\n`;
    writeFileSync(join(dir, "config.toml"), config);
    return { argv: ["nostr-rs-relay", "--db", dir, "--config", join(dir, "config.toml")] };
  },
};

export const presetNames = (): readonly string[] => Object.keys(PRESETS);

export function preset(name: string): Recipe {
  const command = PRESETS[name];
  if (command === undefined) throw new Error(`no preset "${name}"; there are ${presetNames().join(", ")}`);
  return { name, command };
}

/** `{port}` and `{dir}` are put into the command; a shell splits it, and gives way to it so that the process id is the server's. */
export function customRecipe(text: string, position: number): Recipe {
  return {
    name: `start ${position + 1}`,
    command: (port, dir) => ({ argv: ["sh", "-c", `exec ${text.replaceAll("{port}", String(port)).replaceAll("{dir}", dir)}`] }),
  };
}

/** Starts a server and waits until it answers a query, which is what a client would call up. Its output goes to `server.log` in `dir`. */
export async function start(recipe: Recipe, port: number, dir: string): Promise<Running> {
  mkdirSync(dir, { recursive: true });
  const { argv, env } = recipe.command(port, dir);
  const [program, ...args] = argv;
  if (program === undefined) throw new Error(`${recipe.name}: no command`);
  const log = openSync(join(dir, "server.log"), "a");
  const began = performance.now();
  const child = spawn(program, args, { cwd: dir, env: { ...process.env, ...env }, stdio: ["ignore", log, log] });
  closeSync(log);
  let gone: string | undefined;
  child.once("error", (error) => (gone = error.message));
  child.once("exit", (code, signal) => (gone ??= `ended with ${signal ?? code}: ${lastWords(dir)}`));
  // However the bench ends, its servers end with it.
  const killOnExit = (): void => void child.kill("SIGKILL");
  process.once("exit", killOnExit);
  child.once("exit", () => process.off("exit", killOnExit));
  const url = `ws://127.0.0.1:${port}`;
  while (!(await answers(url))) {
    if (gone !== undefined) throw new Error(`${recipe.name} did not start: ${gone}`);
    if (performance.now() - began > READY_MS) {
      await stopChild(child);
      throw new Error(`${recipe.name} was not ready after ${READY_MS / 1000} s`);
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
  return { pid: child.pid ?? 0, readyMs: performance.now() - began, stop: () => stopChild(child) };
}

/** The end of a server's log, for the message that says it is gone. */
const lastWords = (dir: string): string => readFileSync(join(dir, "server.log"), "utf8").trim().slice(-400);

/** A port that was free a moment ago. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => (address !== null && typeof address === "object" ? resolve(address.port) : reject(new Error("no port"))));
    });
  });
}

async function answers(url: string): Promise<boolean> {
  let client: RawClient | undefined;
  try {
    client = await RawClient.connect(url, () => undefined);
    const asked = client;
    return await new Promise<boolean>((resolve) => {
      const timer = setTimeout(() => resolve(false), 5_000);
      asked.onMessage = (bytes, from) => {
        if (answerKind(bytes, from) !== "eose") return;
        clearTimeout(timer);
        resolve(true);
      };
      asked.onClosed = () => {
        clearTimeout(timer);
        resolve(false);
      };
      asked.sendText('["REQ","ready",{"kinds":[30617],"limit":1}]');
    });
  } catch {
    return false;
  } finally {
    client?.close();
  }
}

async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), STOP_MS);
  await ended;
  clearTimeout(timer);
}

function holdfastSettings(port: number, dir: string): NodeJS.ProcessEnv {
  const settings: NodeJS.ProcessEnv = {
    HOLDFAST_DOMAIN: `127.0.0.1:${port}`,
    HOLDFAST_BIND_ADDRESS: `127.0.0.1:${port}`,
    HOLDFAST_DATA_PATH: dir,
    HOLDFAST_ACCEPTANCE: "open",
    HOLDFAST_LOG_LEVEL: "warn",
  };
  // 0 is "no limit".
  for (const what of ["EVENTS", "QUERIES", "MESSAGES"]) {
    settings[`HOLDFAST_${what}_PER_MINUTE`] = "0";
    settings[`HOLDFAST_${what}_PER_MINUTE_PER_ADDRESS`] = "0";
  }
  return settings;
}

/** Only what must differ from its defaults. `nofiles = 0` keeps the descriptor limit that we were given. */
function strfryConfig(port: number, dir: string): string {
  return `db = "${join(dir, "db")}/"
events {
  maxEventSize = 262144
  rejectEventsNewerThanSeconds = 9000000
  rejectEventsOlderThanSeconds = 946080000
}
relay {
  bind = "127.0.0.1"
  port = ${port}
  nofiles = 0
  maxWebsocketPayloadSize = 5242880
  maxFilterLimit = 500
  maxSubsPerConnection = 500
  compression {
    enabled = false
    slidingWindow = false
  }
  logging {
    invalidEvents = false
  }
  negentropy {
    enabled = true
    maxSyncEvents = 2000000
  }
}
`;
}
