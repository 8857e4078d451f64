import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { FaultError } from "../../base/fault.ts";
import { type Oid, readOid } from "../oid.ts";
import { type RefName, readRefName } from "../ref-name.ts";
import type { RefUpdate } from "../ref-update.ts";
import { removeFile, replaceFile, syncPath, unlessMissing } from "./durable.ts";

/** What was decided and checked, and may be half done: whoever finds it finishes it (grasp.md 6.8). */
export interface RefIntent {
  readonly updates: readonly RefUpdate[];
  readonly head: RefName | undefined;
}

const VERSION = 1;
const pathOf = (gitDir: string): string => join(gitDir, "ref-intent");
export const intentLockOf = (gitDir: string): string => `${pathOf(gitDir)}.lock`;

export async function writeIntent(gitDir: string, { updates, head }: RefIntent): Promise<void> {
  const rows = updates.map(({ ref, from, to }) => [ref, from ?? null, to ?? null]);
  await replaceFile(pathOf(gitDir), JSON.stringify({ version: VERSION, updates: rows, head: head ?? null }), intentLockOf(gitDir));
}

export async function readIntent(gitDir: string): Promise<RefIntent | undefined> {
  const text = await unlessMissing(readFile(pathOf(gitDir), "utf8"));
  if (text === undefined) return undefined;
  try {
    const { version, updates, head } = JSON.parse(text) as { version: unknown; updates: [unknown, unknown, unknown][]; head: unknown };
    if (version !== VERSION) return fail();
    return {
      updates: updates.map(([ref, from, to]) => ({ ref: nameOf(ref), from: valueOf(from), to: valueOf(to) })),
      head: head === null ? undefined : nameOf(head),
    };
  } catch (error) {
    return fail(error);
  }
}

/** Synced: an intent that came back after later changes would undo them. */
export async function removeIntent(gitDir: string): Promise<void> {
  if (await removeFile(pathOf(gitDir))) await syncPath(gitDir);
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : fail());
const nameOf = (value: unknown): RefName => readRefName(textOf(value)) ?? fail();
const valueOf = (value: unknown): Oid | undefined => (value === null ? undefined : (readOid(textOf(value)) ?? fail()));

function fail(cause?: unknown): never {
  throw new FaultError({ kind: "protocol", what: "the ref intent on disk", cause });
}
