// The small process that starts git. A fork copies the page tables of its parent: from a server of 1 GB it stops the loop for 40 ms, from here for less than one.
// It touches no data: git is given the server's own sockets as input and output.
import { type ChildProcess, spawn } from "node:child_process";
import { rmSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { dirname } from "node:path";
import { type FromHelper, readTicket, TICKET_BYTES, type ToHelper } from "./helper-messages.ts";

type Run = Extract<ToHelper, { kind: "run" }>;
interface Waiting {
  run?: Run;
  stdin?: Socket;
  stdout?: Socket;
  timer?: NodeJS.Timeout;
}

/** What git says last is what it died of; more than this helps nobody. */
const STDERR_BYTES_MAX = 16_384;
/** A request whose sockets do not come is one whose server side failed. */
const COMPLETE_MS = 10_000;
/** Time to remove temporary files before the group is killed outright. */
const TERM_MS = 2_000;
/** A straggler may hold the error pipe open after git itself has ended. */
const LAST_WORDS_MS = 1_000;

const socketPath = process.argv[2] ?? "";
const waiting = new Map<number, Waiting>();
const running = new Map<number, ChildProcess>();

// A failed send means that the server is gone; "disconnect" says so too, and ends us.
const send = (message: FromHelper): void => void process.send?.(message, undefined, undefined, () => undefined);

function complete(id: number, part: Waiting): void {
  const entry = waiting.get(id) ?? {};
  waiting.set(id, entry);
  Object.assign(entry, part);
  entry.timer ??= setTimeout(() => {
    drop(id);
    send({ kind: "failed", id, code: "ETIMEDOUT" });
  }, COMPLETE_MS);
  const { run, stdin, stdout } = entry;
  if (run === undefined || stdin === undefined || stdout === undefined) return;
  clearTimeout(entry.timer);
  waiting.delete(id);
  try {
    start(run, stdin, stdout);
  } catch (error) {
    send({ kind: "failed", id, code: codeOf(error) });
  } finally {
    // The process has its own copies. Closing ours does not shut the connection down.
    stdin.destroy();
    stdout.destroy();
  }
}

function drop(id: number): void {
  const entry = waiting.get(id);
  waiting.delete(id);
  clearTimeout(entry?.timer);
  entry?.stdin?.destroy();
  entry?.stdout?.destroy();
}

const codeOf = (error: unknown): string => {
  const code = (error as { code?: unknown }).code;
  return typeof code === "string" ? code : "EUNKNOWN";
};

function start(run: Run, stdin: Socket, stdout: Socket): void {
  const { id, path, args, cwd, env } = run;
  // A group of its own, so that what git starts ends with it.
  const child = spawn(path, args, { cwd, env, detached: true, stdio: [stdin, stdout, "pipe"] });
  let isOver = false;
  child.once("error", (error) => {
    if (isOver || child.pid !== undefined) return;
    isOver = true;
    send({ kind: "failed", id, code: codeOf(error) });
  });
  if (child.pid === undefined) return;
  running.set(id, child);
  let tail = Buffer.alloc(0);
  child.stderr?.on("data", (chunk: Buffer) => {
    tail = Buffer.concat([tail, chunk]).subarray(-STDERR_BYTES_MAX);
  });
  child.stderr?.on("error", () => undefined);
  child.once("exit", (code, signal) => {
    const stragglers = setTimeout(() => {
      signalGroup(child, "SIGKILL");
      child.stderr?.destroy();
    }, LAST_WORDS_MS);
    child.once("close", () => {
      clearTimeout(stragglers);
      running.delete(id);
      send({ kind: "exited", id, code: code ?? undefined, signal: signal ?? undefined, stderr: tail.toString("utf8") });
    });
  });
  send({ kind: "started", id, pid: child.pid });
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, signal);
  } catch {
    // It has ended already.
  }
}

function kill(id: number): void {
  drop(id);
  const child = running.get(id);
  if (child === undefined) return;
  signalGroup(child, "SIGTERM");
  setTimeout(() => running.get(id) === child && signalGroup(child, "SIGKILL"), TERM_MS);
}

const server = createServer((socket) => {
  let text = "";
  socket.on("error", () => undefined);
  const read = (chunk: Buffer): void => {
    text += chunk.toString("latin1");
    if (text.length < TICKET_BYTES) return;
    socket.off("data", read);
    socket.pause();
    const ticket = readTicket(text);
    if (ticket === undefined) socket.destroy();
    else complete(ticket.id, ticket.channel === "i" ? { stdin: socket } : { stdout: socket });
  };
  socket.on("data", read);
});

process.on("message", (message: ToHelper) => {
  if (message.kind === "run") complete(message.id, { run: message });
  else kill(message.id);
});
// The end of the server, however it came, is the end of everything started for it.
process.on("disconnect", () => {
  for (const child of running.values()) signalGroup(child, "SIGKILL");
  rmSync(dirname(socketPath), { recursive: true, force: true });
  process.exit(0);
});
// A terminal's Ctrl-C reaches the whole group, but the server decides when running pushes have finished.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => undefined);
process.on("uncaughtException", (error) => send({ kind: "trouble", text: error.stack ?? String(error) }));

server.on("error", (error) => {
  send({ kind: "trouble", text: String(error) });
  if (!server.listening) process.exit(1);
});
server.listen(socketPath, () => send({ kind: "ready" }));
