import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { invariant } from "../../base/assert.ts";
import { FaultError } from "../../base/fault.ts";
import { clash } from "../ref-map.ts";
import type { RefName } from "../ref-name.ts";
import { type RefUpdate, withUpdates } from "../ref-update.ts";
import { codeOf, removeFile, replaceFile, unlessMissing } from "./durable.ts";
import { changeLoose } from "./loose-change.ts";
import { changePacked } from "./packed-change.ts";
import { PackedRefs } from "./packed-refs.ts";
import { inRounds, isChange, type RefProblem, type TransactionTools } from "./ref-change.ts";
import { intentLockOf, readIntent, removeIntent, writeIntent } from "./ref-intent.ts";
import { filesBelow, readRef, readRefs } from "./refs.ts";

export interface RefTransaction {
  /** `from` is what the ref must have now. Equal values only check. */
  readonly updates: readonly RefUpdate[];
  /** The branch that HEAD shall name, born or not. */
  readonly head?: RefName | undefined;
}

export type TransactionOutcome = { readonly kind: "applied" } | RefProblem;

/** More than these are cheaper as one file than as a sync each. */
const LOOSE_MAX = 8;

/**
 * All updates or none, then HEAD (grasp.md 6.8). One at a time per repository: the caller holds its lane. What takes more than one step on disk is written
 * down first, and a crash in between is finished by `recoverRefs`.
 */
export async function applyRefs(gitDir: string, { updates, head }: RefTransaction, tools: TransactionTools): Promise<TransactionOutcome> {
  invariant(new Set(updates.map(({ ref }) => ref)).size === updates.length, "a ref is updated once");
  await finishIntent(gitDir, tools);
  const problem = await carryOut(gitDir, updates, head, tools);
  return problem ?? { kind: "applied" };
}

/** For boot, before anything else writes here: finishes what was decided, and clears the locks of what was not. True when there was something to finish. */
export async function recoverRefs(gitDir: string, tools: TransactionTools): Promise<boolean> {
  const refs = (await filesBelow(join(gitDir, "refs"))).filter((path) => path.endsWith(".lock")).map((path) => `refs/${path}`);
  for (const path of [...refs, "HEAD.lock", "packed-refs.lock"]) await removeFile(join(gitDir, path));
  await removeFile(intentLockOf(gitDir));
  return finishIntent(gitDir, tools);
}

async function finishIntent(gitDir: string, tools: TransactionTools): Promise<boolean> {
  const intent = await readIntent(gitDir);
  if (intent === undefined) return false;
  const packed = await PackedRefs.read(gitDir);
  const left: RefUpdate[] = [];
  for (const update of intent.updates) {
    const actual = await readRef(gitDir, packed, update.ref);
    // Neither the old nor the new value: somebody else has written since, and he knew more than this intent.
    if (actual === update.from && actual !== update.to) left.push(update);
  }
  const problem = await carryOut(gitDir, left, intent.head, tools, true);
  if (problem) throw new FaultError({ kind: "busy", what: "a ref intent that another writer interferes with" });
  await removeIntent(gitDir);
  return true;
}

async function carryOut(
  gitDir: string,
  updates: readonly RefUpdate[],
  head: RefName | undefined,
  tools: TransactionTools,
  isWritten = false,
): Promise<RefProblem | undefined> {
  const changes = updates.filter(isChange);
  const newHead = head !== undefined && (await headText(gitDir)) !== `ref: ${head}\n` ? head : undefined;
  const hasDelete = changes.some(({ to }) => to === undefined);
  // One rename is all or nothing by itself.
  const needsIntent = hasDelete || changes.length + (newHead === undefined ? 0 : 1) > 1;
  let hasIntent = isWritten;
  const decide = async (): Promise<void> => {
    if (!needsIntent || hasIntent) return;
    await writeIntent(gitDir, { updates: changes, head: newHead });
    hasIntent = true;
    await tools.step?.("intent");
  };
  const rounds = inRounds(updates);
  if (rounds.length > 1) {
    const problem = await problemOfAll(gitDir, updates);
    if (problem) return problem;
    await tools.step?.("checked");
    await decide();
  }
  const by = hasDelete || changes.length > LOOSE_MAX ? changePacked : changeLoose;
  for (const round of rounds) {
    const problem = round.length > 0 ? await by(gitDir, round, tools, decide) : undefined;
    if (problem === undefined) continue;
    if (hasIntent && !isWritten) await removeIntent(gitDir);
    return problem;
  }
  if (newHead !== undefined) {
    await writeHead(gitDir, newHead);
    await tools.step?.("HEAD");
  }
  if (hasIntent && !isWritten) {
    await removeIntent(gitDir);
    await tools.step?.("done");
  }
  return undefined;
}

/** Two rounds check themselves, but the second one's refusal would come too late. */
async function problemOfAll(gitDir: string, updates: readonly RefUpdate[]): Promise<RefProblem | undefined> {
  const { refs } = await readRefs(gitDir);
  for (const { ref, from } of updates) {
    const actual = refs.get(ref);
    if (actual !== from) return { kind: "moved", ref, expected: from, actual };
  }
  const pair = clash(withUpdates(refs, updates).keys());
  return pair && { kind: "clash", refs: pair };
}

const headText = (gitDir: string): Promise<string | undefined> => unlessMissing(readFile(join(gitDir, "HEAD"), "utf8"));

async function writeHead(gitDir: string, head: RefName): Promise<void> {
  const path = join(gitDir, "HEAD");
  try {
    await replaceFile(path, `ref: ${head}\n`, `${path}.lock`);
  } catch (error) {
    if (codeOf(error) === "EEXIST") throw new FaultError({ kind: "busy", what: "the lock of HEAD" });
    throw error;
  }
}
