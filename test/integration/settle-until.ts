// Settles one directory and dies at the n-th point between two writes: `node settle-until.ts <directory> <n>`. Ends with 0 when there was no such point.
import { systemClock } from "../../src/base/io/system-clock.ts";
import { findGit } from "../../src/git/io/git-binary.ts";
import { GitHelper } from "../../src/git/io/git-helper.ts";
import { GitProcesses } from "../../src/git/io/git-process.ts";
import { GitSlots, slotLimits } from "../../src/git/io/git-slots.ts";
import { SettleWorld } from "../kit/settle-world.ts";

const [directory = "", at = ""] = process.argv.slice(2);
/** Of the points within a ref transaction, which have a test of their own, only those after which more is true than before. */
const POINT = /^(?:made|intent|renamed packed-refs|HEAD|done|record|commit)$/;
let left = Number(at);
const point = async (name: string): Promise<void> => {
  if (!POINT.test(name) || left-- > 0) return;
  process.stdout.write(name);
  process.kill(process.pid, "SIGKILL");
  // Nothing more is written, whenever the signal comes.
  await new Promise(() => undefined);
};

const helper = new GitHelper({ onTrouble: (text) => void process.stderr.write(text) });
const path = (await findGit(process.env["PATH"] ?? "")) ?? "";
const processes = new GitProcesses({ helper, slots: new GitSlots(slotLimits(2)), clock: systemClock, path });
const world = new SettleWorld(directory, { processes, clock: systemClock, step: point, beforeCommit: () => point("commit") });
await world.service.settleAll();
await world[Symbol.asyncDispose]();
await helper[Symbol.asyncDispose]();
if (world.faults.length > 0) throw new Error(world.faults.join("\n"));
