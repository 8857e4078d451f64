// Finds the Node this server runs on and continues there. Plain JavaScript, because the Node that reads it may be as old as 20.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, fstatSync } from "node:fs";
import { constants } from "node:os";
import { dirname, join } from "node:path";

/** Above this the descriptors between 3 and it would cost more to fill than a listener is worth. */
const FD_MAX = 255;

/** From 22.12 on Node has everything the compiled server uses. */
export function isRecent(version = process.versions.node) {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major > 22 || (major === 22 && minor >= 12);
}

/** Does this file start here at all? A Node built for another libc is there and still cannot run. */
const starts = (node) => existsSync(node) && spawnSync(node, ["--version"], { stdio: "ignore", timeout: 10_000 }).status === 0;

/**
 * The Node that was installed with the packages, looked for in every `node_modules` from `from` upwards (so it is found
 * when we are ourselves a dependency), or else the running one if it is recent enough.
 */
export function findNode(from) {
  for (let dir = from; ; dir = dirname(dir)) {
    const node = join(dir, "node_modules", `node-${process.platform}-${process.arch}`, "bin", "node");
    if (starts(node)) return node;
    if (dirname(dir) === dir) return isRecent() ? process.execPath : undefined;
  }
}

export const noNodeText =
  `This is Node ${process.versions.node} and the server needs 22.12 or newer; none was installed with the packages for ` +
  `${process.platform} ${process.arch}. Install Node 24, or run "npm ci --include=optional" in the folder of the server, and start again.`;

/** How many sockets systemd (or our own parent) gave this process, from descriptor 3 on. */
function listenersOf(env, pid) {
  const count = env.HOLDFAST_LISTEN_FDS ?? (env.LISTEN_PID === String(pid) ? env.LISTEN_FDS : undefined);
  return /^\d+$/.test(count ?? "") ? Math.min(Number(count), FD_MAX - 3) : 0;
}

const isSocket = (fd) => {
  try {
    return fstatSync(fd).isSocket();
  } catch {
    return false;
  }
};

/**
 * What the child is started with: every listener keeps its number, and one pipe more, which closes when we die.
 * LISTEN_PID names us and not the child, so the count travels as HOLDFAST_LISTEN_FDS and `child.mjs` turns it back.
 */
export function handDown(env = process.env, pid = process.pid) {
  const { LISTEN_PID: _pid, LISTEN_FDS: _fds, HOLDFAST_LISTEN_FDS: _held, ...rest } = env;
  const listeners = listenersOf(env, pid);
  const stdio = ["inherit", "inherit", "inherit"];
  for (let fd = 3; fd < 3 + listeners; fd++) stdio[fd] = isSocket(fd) ? fd : "ignore";
  const test = Number(env.NGIT_TEST_LISTENER_FD ?? "");
  if (Number.isInteger(test) && test >= 3 && test <= FD_MAX && isSocket(test)) stdio[test] = test;
  const lifeline = stdio.push("pipe") - 1;
  const stdioFilled = Array.from(stdio, (entry) => entry ?? "ignore");
  const childEnv = { ...rest, HOLDFAST_LIFELINE_FD: String(lifeline), ...(listeners > 0 && { HOLDFAST_LISTEN_FDS: String(listeners) }) };
  return { stdio: stdioFilled, env: childEnv };
}

/**
 * Passes signals on to `child` until it ends; answers the exit code a shell would give it.
 * Ctrl-C at a terminal reaches the whole foreground group: passing it on would make it two, and a second one means "now".
 */
export function follow(child) {
  const forwarded = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR2"];
  const atTerminal = process.stdin.isTTY;
  const pass = (signal) => void ((signal === "SIGINT" || signal === "SIGQUIT") && atTerminal ? undefined : child.kill(signal));
  for (const signal of forwarded) process.on(signal, pass);
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code, signal) => resolve(code ?? 128 + (constants.signals[signal] ?? 0)));
  }).finally(() => {
    for (const signal of forwarded) process.off(signal, pass);
  });
}

/** Continues as `script` in the Node found near `from` and answers its exit code; without one, says what to do. */
export async function continueInPinned(from, script, args) {
  const node = findNode(from);
  if (node !== undefined) return follow(spawn(node, [...flagsFor(node, script), script, ...args], handDown()));
  process.stderr.write(`${noNodeText}\n`);
  return 1;
}

/** Sources need no flag in the pinned Node; an early 22 must be told to read them. */
function flagsFor(node, script) {
  const told = node === process.execPath && script.endsWith(".ts") && !process.features.typescript;
  return told ? ["--experimental-strip-types", "--disable-warning=ExperimentalWarning"] : [];
}
