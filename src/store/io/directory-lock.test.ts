import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { DirectoryLock } from "./directory-lock.ts";
import { StoreProblem } from "./sqlite-file.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "holdfast-lock-"));
});
afterEach(() => rmSync(directory, { recursive: true }));

/** Another process that takes the lock, says what came of it, and keeps it until it is ended. */
const TAKER = `
import { DirectoryLock } from ${JSON.stringify(new URL("./directory-lock.ts", import.meta.url).href)};
try {
  globalThis.lock = DirectoryLock.take(process.argv[1]);
  console.log("taken");
  setInterval(() => undefined, 60_000);
} catch (error) {
  console.log(error.name + ": " + error.message);
}
`;

async function takeElsewhere(): Promise<{ child: ChildProcess; said: string; exit: Promise<unknown> }> {
  const child = spawn(process.execPath, ["--input-type=module", "--no-warnings", "-e", TAKER, directory], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exit = once(child, "exit");
  const [said] = (await Promise.race([once(child.stdout, "data"), exit])) as [Buffer | number | null];
  return { child, said: String(said).trim(), exit };
}

const sentence = (): string =>
  `${directory} is in use by another running server. Stop that one first, or give this one a data path of its own.`;

it("a second taker in the same process is refused with a sentence, and finds it free when the first let go", () => {
  {
    using _first = DirectoryLock.take(directory);
    expect(() => DirectoryLock.take(directory)).toThrow(new StoreProblem(sentence()));
  }
  using again = DirectoryLock.take(directory);
  expect(again).toBeInstanceOf(DirectoryLock);
});

it("makes the directory when it is not there", () => {
  using lock = DirectoryLock.take(join(directory, "new", "place"));
  expect(lock).toBeInstanceOf(DirectoryLock);
});

it("another directory is another lock", () => {
  using _first = DirectoryLock.take(join(directory, "one"));
  using second = DirectoryLock.take(join(directory, "two"));
  expect(second).toBeInstanceOf(DirectoryLock);
});

it("a taker in another process is refused with the same sentence", async () => {
  using _mine = DirectoryLock.take(directory);
  const { said, exit } = await takeElsewhere();
  await exit;
  expect(said).toBe(`StoreProblem: ${sentence()}`);
});

it("holds against us while another process has it, and is free when that is killed without a chance to clean up", async () => {
  const { child, said, exit } = await takeElsewhere();
  try {
    expect(said).toBe("taken");
    expect(() => DirectoryLock.take(directory)).toThrow(sentence());
  } finally {
    child.kill("SIGKILL");
    await exit;
  }
  using lock = DirectoryLock.take(directory);
  expect(lock).toBeInstanceOf(DirectoryLock);
});
