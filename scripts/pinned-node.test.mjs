import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { findNode, isRecent } from "../bin/pinned-node.mjs";

const root = join(import.meta.dirname, "..");
const bin = (name) => JSON.stringify(join(root, "bin", name));

let dir;
const running = [];
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "holdfast-node-"));
});
afterEach(() => {
  for (const child of running.splice(0)) child.kill("SIGKILL");
  rmSync(dir, { recursive: true, force: true });
});

/** A parent as main.ts is in an old Node, and `body` as the program that it continues in. */
function start(body, { env = {}, stdio = ["ignore", "pipe", "inherit"] } = {}) {
  writeFileSync(join(dir, "child.mjs"), `await import(${bin("child.mjs")});\n${body}`);
  const parent = `import { continueInPinned } from ${bin("pinned-node.mjs")};
    process.env.LISTEN_PID &&= String(process.pid);
    process.exitCode = await continueInPinned(${JSON.stringify(root)}, ${JSON.stringify(join(dir, "child.mjs"))}, ["one", "two"]);`;
  writeFileSync(join(dir, "parent.mjs"), parent);
  const child = spawn(process.execPath, [join(dir, "parent.mjs")], { stdio, env: { ...process.env, ...env } });
  running.push(child);
  return child;
}

async function* lines(stream) {
  let rest = "";
  for await (const chunk of stream) {
    const parts = (rest + chunk).split("\n");
    rest = parts.pop();
    yield* parts;
  }
}
const lineOf = async (reader) => (await reader.next()).value;

test.each([
  ["20.20.2", false],
  ["22.11.0", false],
  ["22.12.0", true],
  ["23.0.0", true],
  ["24.1.0", true],
])("Node %s is recent: %s", (version, expected) => expect(isRecent(version)).toBe(expected));

test("the Node that came with the packages is found from below", () => {
  expect(findNode(join(root, "src", "base"))).toMatch(/node_modules\/node-linux-\w+\/bin\/node$/);
});

test("arguments and the exit code pass through", async () => {
  const child = start("console.log(process.argv.slice(2).join()); process.exitCode = 7;");
  expect(await lineOf(lines(child.stdout))).toBe("one,two");
  expect((await once(child, "exit"))[0]).toBe(7);
});

test.each(["SIGTERM", "SIGINT", "SIGHUP"])("%s reaches the child, which decides", async (signal) => {
  const child = start(`process.on("${signal}", () => process.exit(5)); setInterval(() => {}, 1000); console.log("up");`);
  await lineOf(lines(child.stdout));
  child.kill(signal);
  expect(await once(child, "exit")).toEqual([5, null]);
});

test("a child killed by a signal ends the parent as in a shell", async () => {
  const child = start('process.kill(process.pid, "SIGKILL");');
  expect((await once(child, "exit"))[0]).toBe(137);
});

test("when the parent is killed outright, the child stops by itself", async () => {
  const child = start('process.on("SIGTERM", () => (console.log("bye"), process.exit())); setInterval(() => {}, 1000); console.log("up");');
  const out = lines(child.stdout);
  expect(await lineOf(out)).toBe("up");
  child.kill("SIGKILL");
  expect(await lineOf(out)).toBe("bye");
});

test("the lifeline keeps nobody alive, and the child's own children know nothing of it", async () => {
  const child = start('console.log(Object.keys(process.env).filter((name) => name.startsWith("HOLDFAST_L")).length);');
  expect(await lineOf(lines(child.stdout))).toBe("0");
  expect((await once(child, "exit"))[0]).toBe(0);
});

const serve = (fd) => `import { createServer } from "node:net";
  createServer((socket) => socket.end("hello from " + process.env.LISTEN_FDS)).listen({ fd: ${fd} }, () => {
    console.log(process.env.LISTEN_PID === undefined ? "none" : process.env.LISTEN_PID === String(process.pid));
  });`;

test.each([
  ["LISTEN_FDS", 4, { LISTEN_FDS: "2", LISTEN_PID: "rewritten by the parent above" }, "true", "hello from 2"],
  ["NGIT_TEST_LISTENER_FD", 6, { NGIT_TEST_LISTENER_FD: "6" }, "none", "hello from undefined"],
])("a listener given as %s is served under its number", async (_name, fd, env, pid, greeting) => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  const stdio = ["ignore", "pipe", "inherit", ...Array.from({ length: fd - 3 }, () => "ignore"), server._handle.fd];
  const child = start(serve(fd), { env, stdio });
  server.close();
  expect(await lineOf(lines(child.stdout))).toBe(pid);
  const socket = connect(port, "127.0.0.1").setEncoding("utf8");
  let heard = "";
  for await (const chunk of socket) heard += chunk;
  expect(heard).toBe(greeting);
});
