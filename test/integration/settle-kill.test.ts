import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { GitRig } from "../kit/git-rig.ts";
import { alice, bob } from "../kit/keys.ts";
import { announce, SettleWorld, state } from "../kit/settle-world.ts";

const CHILD = fileURLToPath(new URL("./settle-until.ts", import.meta.url));
/** Far more points than this settlement has. */
const POINTS_MAX = 60;

let rig: GitRig;
beforeAll(async () => {
  rig = await GitRig.open();
});
afterAll(() => rig[Symbol.asyncDispose]());
const open = (name: string): SettleWorld => new SettleWorld(rig.path(name), { processes: rig.processes, clock: rig.clock });

async function settleUntil(name: string, point: number): Promise<{ readonly died: boolean; readonly at: string }> {
  const child = spawn(process.execPath, [CHILD, rig.path(name), String(point)], { stdio: ["ignore", "pipe", "inherit"] });
  let at = "";
  child.stdout.on("data", (chunk: Buffer) => (at += chunk.toString()));
  const [code, signal] = await once(child, "close");
  if (code !== 0 && signal !== "SIGKILL") throw new Error(`the child ended with ${code} at ${at}`);
  return { died: signal === "SIGKILL", at };
}

/** Refs are deleted, moved and become directories of others, HEAD changes, an older state gives way, and a second repository is made. */
async function prepare() {
  await using world = open("template");
  const one = await world.commit(alice, "one");
  const two = await world.commit(alice, "two", [one]);
  const first = state(alice, { "refs/heads/main": one, "refs/heads/a": one });
  await world.hold(announce(alice, [bob]), first);
  await world.settle();
  const joining = announce(bob, [alice]);
  const after = { "refs/heads/a/b": two, "refs/heads/dev": two, "refs/heads/main": two };
  const second = state(alice, after, 2_100, "refs/heads/dev");
  await world.hold(joining, second);
  expect(world.refs(alice)).toEqual({ "refs/heads/a": one, "refs/heads/main": one });
  return { first, second, joining, after };
}

it("killed at any point between two writes: nothing is served before its refs moved, and the next start finishes it (grasp.md 6.5, 6.8, 7.10)", async () => {
  const { first, second, joining, after } = await prepare();
  const points: string[] = [];
  for (let point = 0; ; point++) {
    expect(point).toBeLessThan(POINTS_MAX);
    const name = `killed-${point}`;
    cpSync(rig.path("template"), rig.path(name), { recursive: true, verbatimSymlinks: true });
    const { died, at } = await settleUntil(name, point);
    if (!died) break;
    points.push(at);
    await using world = open(name);
    expect([await world.serves(first), await world.serves(second)], `after dying at ${at} (${point})`).toEqual([true, false]);
    await world.service.settleAll();
    expect([world.refs(alice), world.refs(bob)], `after dying at ${at} (${point})`).toEqual([after, after]);
    expect([await world.serves(second), await world.serves(joining), world.stage(first)]).toEqual([true, true, "superseded"]);
    expect(world.faults).toEqual([]);
  }
  expect(points).toEqual(expect.arrayContaining(["intent", "HEAD", "made", "record", "commit"]));
  expect(points.at(-1), "what is served comes last").toBe("commit");
}, 60_000);
