import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

const MAIN = fileURLToPath(new URL("../main.ts", import.meta.url));

let directory = "";
const children: ChildProcess[] = [];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "holdfast-cli-"));
});
afterEach(async () => {
  for (const child of children.splice(0)) {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill("SIGKILL");
      await once(child, "exit");
    }
  }
  rmSync(directory, { recursive: true, force: true });
});

interface Command {
  readonly child: ChildProcess;
  readonly out: () => string;
  readonly err: () => string;
  readonly exit: Promise<number | null>;
}

/** The program as a person starts it, away from the settings of whoever runs the tests. */
function holdfast(args: readonly string[], env: Record<string, string> = {}): Command {
  const clean = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(HOLDFAST|NGIT|LISTEN_|CREDENTIALS)/.test(name)));
  const child = spawn(process.execPath, [MAIN, ...args], {
    cwd: directory,
    // The fourth ends with this process, however that ends, and the server with it.
    stdio: ["ignore", "pipe", "pipe", "pipe"],
    env: { ...clean, HOLDFAST_DATA_PATH: directory, HOLDFAST_BIND_ADDRESS: "127.0.0.1:0", HOLDFAST_LIFELINE_FD: "3", ...env },
  });
  children.push(child);
  let out = "";
  let err = "";
  child.stdout?.on("data", (chunk: Buffer) => (out += chunk.toString()));
  child.stderr?.on("data", (chunk: Buffer) => (err += chunk.toString()));
  const exit = new Promise<number | null>((resolve) => child.once("close", (code) => resolve(code)));
  return { child, out: () => out, err: () => err, exit };
}

describe("the command line", () => {
  test("--help and --version, even beside mistakes", async () => {
    const [help, version] = [holdfast(["--help", "--nonsense"]), holdfast(["--version"])];
    expect(await help.exit).toBe(0);
    expect(help.out()).toContain("holdfast [serve] [flags]");
    expect(help.err()).toBe("");
    expect(await version.exit).toBe(0);
    expect(version.out()).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  test("--print-config shows settings and where they come from, for people and for machines, and starts nothing", async () => {
    const [people, machines] = [
      holdfast(["--print-config", "--domain=git.example"], { NGIT_RELAY_OWNER_NSEC: "secret words" }),
      holdfast(["--print-config", "--json", "--domain=git.example"]),
    ];
    expect(await people.exit).toBe(0);
    expect(people.out()).toContain("git.example");
    expect(people.out(), "grasp.md 2.5: never in what is printed").not.toContain("secret words");
    expect(await machines.exit).toBe(0);
    expect(JSON.stringify(JSON.parse(machines.out()))).toContain("git.example");
  });

  test("all mistakes at once, and exit code 2", async () => {
    const run = holdfast(["serve", "--nonsense=1", "--max-results=many", "--acceptance=some"], { HOLDFAST_BIND_ADDRESS: "nowhere" });
    expect(await run.exit).toBe(2);
    expect(run.out()).toBe("");
    expect(run.err()).toMatch(/^The server was not started:\n/);
    for (const word of ["nonsense", "max-results", "acceptance", "nowhere"]) expect(run.err().toLowerCase()).toContain(word);
    expect(
      run
        .err()
        .split("\n")
        .filter((line) => line.startsWith("  - ")),
    ).toHaveLength(4);
    expect(run.err()).not.toContain(".ts:");
  });

  test("a word that is no command", async () => {
    const run = holdfast(["server"]);
    expect(await run.exit).toBe(2);
    expect(run.err()).toContain("`server` is not a command; there is `serve`.");
  });
});

describe("a start that fails says why in a sentence, without a stack", () => {
  const sentence = (run: Command): string => run.err().replace(/^The server was not started:\n {2}- /, "");

  test("the port is taken", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as AddressInfo;
    const run = holdfast([], { HOLDFAST_BIND_ADDRESS: `127.0.0.1:${port}` });
    expect(await run.exit).toBe(1);
    expect(sentence(run)).toBe(`Something else already listens on 127.0.0.1:${port}.\n`);
    other.close();
  });

  test("grasp.md 2.5: the key is broken", async () => {
    const run = holdfast([], { NGIT_RELAY_OWNER_NSEC: "nsec1broken" });
    expect(await run.exit).toBe(1);
    expect(sentence(run)).toMatch(/^The server's key in .* is not an nsec or 64 hex digits of a valid key\.\n$/);
    expect(run.err() + run.out()).not.toContain("nsec1broken");
  });

  test("the data path is a file", async () => {
    const file = join(directory, "file");
    writeFileSync(file, "");
    const run = holdfast([], { HOLDFAST_DATA_PATH: file });
    expect(await run.exit).toBe(1);
    expect(sentence(run)).toMatch(
      /^The data path \S+ cannot be used \((?:EEXIST|ENOTDIR)\)\. It must be a directory that this user may write to\.\n$/,
    );
  });
});

test("it serves, tells where, keeps a second server away from its data, and stops when asked to", async () => {
  const first = holdfast(["serve"]);
  await expect.poll(first.out, { timeout: 20_000, interval: 20 }).toMatch(/listening on http:\/\/127\.0\.0\.1:\d+\//);
  const url = /listening on (http:\S+)/.exec(first.out())?.[1] as string;
  const info = (await (await fetch(url, { headers: { accept: "application/nostr+json" } })).json()) as { software: string };
  expect(info.software, "NIP-11: a URL, and it leads somewhere").toBe(url);
  expect((await fetch(info.software)).status).toBe(200);
  const second = holdfast(["serve"]);
  expect(await second.exit).toBe(1);
  expect(second.err()).toContain("is in use by another running server. Stop that one first, or give this one a data path of its own.");
  first.child.kill("SIGTERM");
  expect(await first.exit).toBe(0);
  const third = holdfast(["serve"]);
  await expect.poll(third.out, { timeout: 20_000, interval: 20 }).toMatch(/listening on/);
  third.child.kill("SIGINT");
  expect(await third.exit).toBe(0);
});
