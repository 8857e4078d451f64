import { lstat, readdir, rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import { FaultError } from "../../base/fault.ts";
import { clash } from "../ref-map.ts";
import type { RefName } from "../ref-name.ts";
import type { RefUpdate } from "../ref-update.ts";
import { codeOf, makeDirectory, removeEmptyDirectory, removeFile, syncPath, unlessMissing, writeNew } from "./durable.ts";
import { PackedRefs } from "./packed-refs.ts";
import { isChange, parentsOf, type RefProblem, type TransactionTools } from "./ref-change.ts";
import { filesBelow, readRef } from "./refs.ts";

/** Creates and moves a few refs, each by its lock file. `decide` is called when everything is checked and nothing has changed yet. */
export async function changeLoose(
  gitDir: string,
  updates: readonly RefUpdate[],
  { step }: TransactionTools,
  decide: () => Promise<void>,
): Promise<RefProblem | undefined> {
  // In one order everywhere, so that two writers never hold what the other one waits for.
  const sorted = updates.toSorted((a, b) => (a.ref < b.ref ? -1 : 1));
  const locked = new Set<RefName>();
  try {
    for (const { ref, from, to } of sorted) {
      // That there is none can be checked without a lock, and must be where a file stands in the lock's way.
      const value = to ?? from;
      if (value === undefined) continue;
      const problem = await lock(gitDir, ref, `${value}\n`);
      if (problem) return problem;
      locked.add(ref);
      await step?.(`locked ${ref}`);
    }
    const problem = await check(gitDir, sorted);
    if (problem) return problem;
    await decide();
    const directories = new Set<string>();
    for (const { ref } of sorted.filter(isChange)) {
      const path = join(gitDir, ref);
      await rename(`${path}.lock`, path);
      locked.delete(ref);
      directories.add(dirname(path));
      await step?.(`renamed ${ref}`);
    }
    for (const directory of directories) await syncPath(directory);
    await step?.("synced");
    return undefined;
  } finally {
    for (const ref of locked) await removeFile(`${join(gitDir, ref)}.lock`);
  }
}

async function lock(gitDir: string, ref: RefName, content: string): Promise<RefProblem | undefined> {
  const path = join(gitDir, ref);
  try {
    await makeDirectory(dirname(path));
    await writeNew(`${path}.lock`, content);
    return undefined;
  } catch (error) {
    const code = codeOf(error);
    const parent = code === "ENOTDIR" || code === "EEXIST" ? await fileAbove(gitDir, ref) : undefined;
    if (parent !== undefined) return { kind: "clash", refs: [parent, ref] };
    // Another git works in here, or died in here; the latter is cleared at boot.
    if (code === "EEXIST") throw new FaultError({ kind: "busy", what: `the lock of ${ref}` });
    throw error;
  }
}

async function fileAbove(gitDir: string, ref: RefName): Promise<RefName | undefined> {
  for (const parent of parentsOf(ref)) if ((await unlessMissing(lstat(join(gitDir, parent))))?.isFile() === true) return parent;
  return undefined;
}

/** Read after the locks are there: from now on nobody else changes these. */
async function check(gitDir: string, updates: readonly RefUpdate[]): Promise<RefProblem | undefined> {
  const packed = await PackedRefs.read(gitDir);
  const created: RefName[] = [];
  for (const { ref, from, to } of updates) {
    const actual = await readRef(gitDir, packed, ref);
    if (actual !== from) return { kind: "moved", ref, expected: from, actual };
    if (from === undefined && to !== undefined) created.push(ref);
  }
  const pair = clash(created);
  if (pair) return { kind: "clash", refs: pair };
  for (const ref of created) {
    const above = parentsOf(ref).find((parent) => packed.get(parent) !== undefined);
    if (above !== undefined) return { kind: "clash", refs: [above, ref] };
    if (packed.hasBelow(ref)) return { kind: "clash", refs: [ref, `${ref}/` as RefName] };
  }
  // A packed ref that moves gets its first file here too.
  for (const { ref } of updates.filter(isChange)) {
    const below = await fileBelow(join(gitDir, ref), ref);
    if (below !== undefined) return { kind: "clash", refs: [ref, below as RefName] };
  }
  return undefined;
}

/** A directory without refs gives way to a ref of its name. */
async function fileBelow(path: string, ref: RefName): Promise<string | undefined> {
  if ((await unlessMissing(lstat(path)))?.isDirectory() !== true) return undefined;
  const [first] = await filesBelow(path);
  if (first !== undefined) return `${ref}/${first}`;
  await removeEmptyTree(path);
  return undefined;
}

async function removeEmptyTree(path: string): Promise<void> {
  for (const name of (await unlessMissing(readdir(path))) ?? []) await removeEmptyTree(join(path, name));
  await removeEmptyDirectory(path);
}
