import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { bech32 } from "@scure/base";
import { IDENTIFIER, type SignedEvent, type World } from "./events.ts";
import { RawClient } from "./raw-client.ts";
import { answerKind } from "./wire.ts";

const run = promisify(execFile);
const ANSWER_MS = 20_000;
/** Fixed, so that a second run against the same server repeats the same events. */
const ANNOUNCED_AT = 1_767_200_000;

/** Gets the repository that all of the load refers to accepted, with whatever the server asks for; resolves with how it went, in a few words. */
export async function acceptRepository(url: string, world: World): Promise<string> {
  const { host, protocol } = new URL(url);
  const npub = bech32.encode("npub", bech32.toWords(Buffer.from(world.ownerHex, "hex")));
  const clone = `${protocol === "wss:" ? "https" : "http"}://${host}/${npub}/${IDENTIFIER}.git`;
  const announcement = world.signAsOwner(30617, ANNOUNCED_AT, [
    ["d", IDENTIFIER],
    ["name", IDENTIFIER],
    ["clone", clone],
    ["relays", url.replace(/\/$/, "")],
  ]);
  if (await isServed(url, announcement)) return "repository already served";
  const answer = await tell(url, announcement);
  if (await isServed(url, announcement)) return "announcement served at once";
  if (!answer.startsWith("true")) return `announcement refused: ${answer}`;
  const dir = await mkdtemp(join(tmpdir(), "bench-git-"));
  try {
    const tip = await makeCommit(dir);
    const state = world.signAsOwner(30618, ANNOUNCED_AT, [
      ["d", IDENTIFIER],
      ["refs/heads/main", tip],
      ["HEAD", "ref: refs/heads/main"],
    ]);
    await tell(url, state);
    await git(dir, "push", "--quiet", clone, "main:refs/heads/main");
  } catch (error) {
    return `git push failed: ${(error as Error).message.split("\n").slice(0, 3).join(" ")}`;
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
  return (await isServed(url, announcement)) ? "announcement served after a git push" : "announcement still not served after a git push";
}

async function makeCommit(dir: string): Promise<string> {
  await git(dir, "init", "--quiet", "--initial-branch=main");
  await git(dir, "commit", "--quiet", "--allow-empty", "-m", "first");
  return (await git(dir, "rev-parse", "HEAD")).trim();
}

/** Nobody's own git settings, a fixed author and time: the commit is the same everywhere. */
async function git(dir: string, ...args: readonly string[]): Promise<string> {
  const who = { NAME: "bench", EMAIL: "bench@localhost", DATE: `${ANNOUNCED_AT} +0000` };
  const env: NodeJS.ProcessEnv = { PATH: process.env["PATH"], HOME: dir, GIT_CONFIG_NOSYSTEM: "1", GIT_TERMINAL_PROMPT: "0" };
  for (const role of ["AUTHOR", "COMMITTER"]) for (const [what, value] of Object.entries(who)) env[`GIT_${role}_${what}`] = value;
  return (await run("git", ["-C", dir, ...args], { env, timeout: 60_000 })).stdout;
}

async function tell(url: string, event: SignedEvent): Promise<string> {
  const text = await ask(url, `["EVENT",${event.json}]`, "ok");
  return text.slice(text.indexOf(",", 8) + 1, -1).trim();
}

async function isServed(url: string, event: SignedEvent): Promise<boolean> {
  const text = await ask(url, `["REQ","r",{"ids":["${event.id.toString("hex")}"]}]`, "event", "eose", "closed");
  return text.startsWith('["EVENT"');
}

/** Sends one message on a connection of its own and resolves with the first answer of a wanted kind. */
async function ask(url: string, message: string, ...wanted: readonly string[]): Promise<string> {
  const client = await RawClient.connect(url, () => undefined);
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise<string>((resolve, reject) => {
      timer = setTimeout(() => reject(new Error("no answer")), ANSWER_MS);
      client.onMessage = (bytes, start, end) => {
        if (wanted.includes(answerKind(bytes, start))) resolve(bytes.toString("utf8", start, end));
      };
      client.onClosed = (reason) => reject(new Error(reason));
      client.sendText(message);
    });
  } finally {
    clearTimeout(timer);
    client.close();
  }
}
