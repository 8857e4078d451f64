import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { isInstalled, withLock } from "./install.mjs";

let dir;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "holdfast-install-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const put = (path, value) => {
  mkdirSync(join(dir, path, ".."), { recursive: true });
  writeFileSync(join(dir, path), typeof value === "string" ? value : JSON.stringify(value));
};

test("only one at a time holds the lock, and everyone gets it", async () => {
  let inside = 0;
  let most = 0;
  const work = async () => {
    most = Math.max(most, ++inside);
    for (let i = 0; i < 5; i++) await turn();
    inside--;
  };
  await Promise.all(Array.from({ length: 5 }, () => withLock(dir, work)));
  expect(most).toBe(1);
  expect(readdirSync(dir)).toEqual([]);
});

test("the lock of a dead process is taken over, once", async () => {
  const { pid } = spawnSync(process.execPath, ["--version"]);
  put("install.lock/owner", `${pid}-1`);
  const done = [];
  await Promise.all([1, 2, 3].map((n) => withLock(dir, () => done.push(n))));
  expect(done.toSorted((a, b) => a - b)).toEqual([1, 2, 3]);
  expect(readdirSync(dir)).toEqual([`install.dead-${pid}-1`]);
});

test("a process that only bears a dead owner's number does not keep its lock", async () => {
  put("install.lock/owner", `${process.pid}-1`);
  expect(await withLock(dir, () => "in")).toBe("in");
});

test("while the npm of a killed command still installs, its lock stands", async () => {
  const npm = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"]);
  await withLock(join(dir, "named"), (alsoOwnedBy) => {
    alsoOwnedBy(npm.pid);
    const [me, started] = readFileSync(join(dir, "named", "install.lock", "owner"), "utf8").split("\n");
    put("install.lock/owner", `${me}0\n${started}`);
  });
  await expect(withLock(dir, () => "in", { waitMs: 200 })).rejects.toThrow(/Still waiting/);
  npm.kill();
  expect(await withLock(dir, () => "in")).toBe("in");
});

test("whoever waits is told, and not for ever", async () => {
  put("install.lock/owner", "4711-1");
  const said = [];
  const waiting = withLock(dir, () => "in", { say: (text) => said.push(text), waitMs: 200, isOwnerAlive: () => true });
  await expect(waiting).rejects.toThrow(/Still waiting for the install lock/);
  expect(said).toEqual(["Another command (process 4711) is installing the packages; waiting for it."]);
});

test("the lock is given back when the work fails", async () => {
  await expect(withLock(dir, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(await withLock(dir, () => "in")).toBe("in");
});

const lock = {
  packages: {
    "": { name: "x" },
    "node_modules/a": { version: "1.0.0" },
    "node_modules/tool": { version: "2.0.0", dev: true },
    "node_modules/maybe": { version: "3.0.0", optional: true },
  },
};

test.each([
  ["nothing", undefined, { start: false, tools: false }],
  ["everything", { a: "1.0.0", tool: "2.0.0", maybe: "3.0.0" }, { start: true, tools: true }],
  ["all but what is optional", { a: "1.0.0", tool: "2.0.0" }, { start: true, tools: true }],
  ["no tools", { a: "1.0.0" }, { start: true, tools: false }],
  ["an older version", { a: "0.9.0", tool: "2.0.0" }, { start: false, tools: false }],
  ["something that left", { a: "1.0.0", tool: "2.0.0", gone: "1.0.0" }, { start: false, tools: false }],
])("with %s installed by hand", (_name, present, { start, tools }) => {
  put("package-lock.json", lock);
  const packages = Object.fromEntries(Object.entries(present ?? {}).map(([name, version]) => [`node_modules/${name}`, { version }]));
  if (present !== undefined) put("node_modules/.package-lock.json", { packages });
  expect(isInstalled(dir, { dev: false })).toBe(start);
  expect(isInstalled(dir, { dev: true })).toBe(tools);
});

test("a changed lock file is noticed after our own install", () => {
  put("package-lock.json", lock);
  put("node_modules/.package-lock.json", {
    packages: { "node_modules/a": { version: "1.0.0" }, "node_modules/tool": { version: "2.0.0" } },
  });
  expect(isInstalled(dir, { dev: true })).toBe(true);
  put("package-lock.json", { packages: { ...lock.packages, "node_modules/b": { version: "1.0.0" } } });
  expect(isInstalled(dir, { dev: true })).toBe(false);
});
