import { open, rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import { FaultError } from "../../base/fault.ts";
import type { Oid } from "../oid.ts";
import { isBranch, type RefName } from "../ref-name.ts";
import type { RefUpdate } from "../ref-update.ts";
import { codeOf, removeEmptyDirectory, removeFile, syncPath } from "./durable.ts";
import { type PackedRef, PackedRefs, packedText, toBytes } from "./packed-refs.ts";
import { isChange, parentsOf, type RefProblem, type TransactionTools } from "./ref-change.ts";
import { looseNames, readLoose } from "./refs.ts";

/** Any number of changes, deletes too, by one rewrite of packed-refs; then the loose files, which would hide it, go. `decide` as in changeLoose. */
export async function changePacked(
  gitDir: string,
  updates: readonly RefUpdate[],
  tools: TransactionTools,
  decide: () => Promise<void>,
): Promise<RefProblem | undefined> {
  const path = join(gitDir, "packed-refs");
  let isLocked = false;
  try {
    await using file = await open(`${path}.lock`, "wx", 0o644).catch(asBusy);
    isLocked = true;
    await tools.step?.("locked packed-refs");
    const loose = new Set(await looseNames(gitDir));
    const packed = await PackedRefs.read(gitDir);
    const entries = packed.entries();
    const problem = (await firstMoved(gitDir, updates, loose, entries)) ?? firstClash(updates, loose, entries);
    if (problem) return problem;
    await change(entries, updates, packed.isFullyPeeled, tools.peel);
    await file.writeFile(packedText(entries), "latin1");
    await file.sync();
    await tools.step?.("wrote packed-refs.lock");
    await decide();
    await rename(`${path}.lock`, path);
    isLocked = false;
    await syncPath(gitDir);
    await tools.step?.("renamed packed-refs");
    await unlinkLoose(
      gitDir,
      updates.filter((update) => isChange(update) && loose.has(update.ref)).map(({ ref }) => ref),
      tools,
    );
    return undefined;
  } finally {
    if (isLocked) await removeFile(`${path}.lock`);
  }
}

function asBusy(error: unknown): never {
  if (codeOf(error) === "EEXIST") throw new FaultError({ kind: "busy", what: "the lock of packed-refs" });
  throw error;
}

async function firstMoved(
  gitDir: string,
  updates: readonly RefUpdate[],
  loose: ReadonlySet<RefName>,
  entries: ReadonlyMap<string, PackedRef>,
): Promise<RefProblem | undefined> {
  for (const { ref, from } of updates) {
    const value = loose.has(ref) ? await readLoose(gitDir, ref) : undefined;
    if (value?.kind === "symbolic") throw new FaultError({ kind: "protocol", what: `${ref} is symbolic` });
    const actual = value?.oid ?? entries.get(toBytes(ref))?.oid;
    if (actual !== from) return { kind: "moved", ref, expected: from, actual };
  }
  return undefined;
}

function firstClash(
  updates: readonly RefUpdate[],
  loose: ReadonlySet<RefName>,
  entries: ReadonlyMap<string, PackedRef>,
): RefProblem | undefined {
  const names = new Set<string>([...entries.keys(), ...[...loose].map(toBytes)]);
  for (const { ref, to } of updates) {
    if (to === undefined) names.delete(toBytes(ref));
    else names.add(toBytes(ref));
  }
  const directories = new Map<string, string>();
  for (const name of names) for (const parent of parentsOf(name as RefName)) directories.set(parent, name);
  for (const { ref, from, to } of updates) {
    if (from !== undefined || to === undefined) continue;
    const below = directories.get(toBytes(ref));
    if (below !== undefined) return { kind: "clash", refs: [ref, below as RefName] };
    const above = parentsOf(ref).find((parent) => names.has(toBytes(parent)));
    if (above !== undefined) return { kind: "clash", refs: [above, ref] };
  }
  return undefined;
}

/** The file says "fully peeled", so every annotated tag in it must have its line; a branch is a commit and has none. */
async function change(
  entries: Map<string, PackedRef>,
  updates: readonly RefUpdate[],
  isFullyPeeled: boolean,
  peel: TransactionTools["peel"],
): Promise<void> {
  for (const { ref, to } of updates.filter(isChange)) {
    if (to === undefined) entries.delete(toBytes(ref));
    else entries.set(toBytes(ref), { oid: to, peeled: undefined });
  }
  const changed = new Set(updates.filter(isChange).map(({ ref }) => toBytes(ref)));
  const unknown = [...entries].filter(
    ([name, { peeled }]) => peeled === undefined && !isBranch(name) && (!isFullyPeeled || changed.has(name)),
  );
  if (unknown.length === 0) return;
  const peeled = await peel([...new Set<Oid>(unknown.map(([, { oid }]) => oid))]);
  for (const [name, { oid }] of unknown) entries.set(name, { oid, peeled: peeled.get(oid) });
}

async function unlinkLoose(gitDir: string, refs: readonly RefName[], { step }: TransactionTools): Promise<void> {
  const directories = new Set<string>();
  for (const ref of refs) {
    await removeFile(join(gitDir, ref));
    directories.add(dirname(join(gitDir, ref)));
    await step?.(`unlinked ${ref}`);
  }
  for (const directory of directories) await syncPath(directory);
  // An emptied directory would stand in the way of a ref of its name. `refs/heads` and its like stay.
  for (const ref of refs) for (const parent of parentsOf(ref).slice(0, -1)) if (!(await removeEmptyDirectory(join(gitDir, parent)))) break;
}
