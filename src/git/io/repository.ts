import { mkdir, mkdtemp, readFile, rename, rm } from "node:fs/promises";
import { basename, dirname, isAbsolute, join } from "node:path";
import { invariant } from "../../base/assert.ts";
import { FaultError } from "../../base/fault.ts";
import type { ObjectFormat } from "../oid.ts";
import { DEFAULT_HEAD } from "../ref-map.ts";
import type { RefName } from "../ref-name.ts";
import { codeOf, makeDirectory, removeFile, replaceFile, syncPath, unlessMissing, writeNew } from "./durable.ts";

export interface NewRepository {
  readonly format: ObjectFormat;
  /** Object directories to borrow from, relative to this repository's `objects`, so that the whole storage can be moved. */
  readonly alternates?: readonly string[];
  readonly head?: RefName;
}

/** A bare repository made of files, without starting git. Asking again for the same one is fine; true when it was made now. */
export async function createRepository(directory: string, wanted: NewRepository): Promise<boolean> {
  if (await isSame(directory, wanted)) return false;
  await makeDirectory(dirname(directory));
  // Beside it, then renamed: nobody ever sees half of one, and after a crash only a directory with a strange name is left.
  const fresh = await mkdtemp(`${directory}.new-`);
  try {
    await fill(fresh, wanted);
    await rename(fresh, directory);
    await syncPath(dirname(directory));
    return true;
  } catch (error) {
    await rm(fresh, { recursive: true, force: true });
    const isTaken = codeOf(error) === "ENOTEMPTY" || codeOf(error) === "EEXIST";
    // Somebody else was first; that is as good when it is the same.
    if (isTaken && (await isSame(directory, wanted))) return false;
    throw error;
  }
}

/** The part of a name that a leftover of a crash has; boot may remove such directories. */
export const isUnfinishedRepository = (path: string): boolean => /\.new-\w{6}$/.test(basename(path));

/** The object format of the repository there, or `undefined` when there is none. */
export async function readFormat(directory: string): Promise<ObjectFormat | undefined> {
  const config = await unlessMissing(readFile(join(directory, "config"), "utf8"));
  if (config === undefined) return undefined;
  return /^\s*objectformat\s*=\s*sha256\s*$/im.test(config) ? "sha256" : "sha1";
}

/** Replaces the list that objects are borrowed from; an empty one removes it. */
export async function writeAlternates(directory: string, alternates: readonly string[]): Promise<void> {
  const path = join(directory, "objects", "info", "alternates");
  if (alternates.length === 0) {
    if (await removeFile(path)) await syncPath(dirname(path));
    return;
  }
  await removeFile(`${path}.lock`);
  await replaceFile(path, alternatesText(alternates), `${path}.lock`);
}

async function isSame(directory: string, { format }: NewRepository): Promise<boolean> {
  const found = await readFormat(directory);
  if (found === undefined) return false;
  if (found !== format) throw new FaultError({ kind: "protocol", what: `a repository of the format ${found} is there already` });
  return true;
}

async function fill(directory: string, { format, alternates = [], head = DEFAULT_HEAD }: NewRepository): Promise<void> {
  for (const path of ["objects/info", "objects/pack", "refs/heads", "refs/tags", "refs/nostr"])
    await mkdir(join(directory, path), { recursive: true });
  await writeNew(join(directory, "HEAD"), `ref: ${head}\n`);
  await writeNew(join(directory, "config"), configText(format));
  if (alternates.length > 0) await writeNew(join(directory, "objects/info/alternates"), alternatesText(alternates));
  for (const path of ["objects/info", "objects", "refs", ""]) await syncPath(join(directory, path));
}

function alternatesText(alternates: readonly string[]): string {
  for (const path of alternates) invariant(!isAbsolute(path) && !/[\n"#]/.test(path), "an alternate is a plain relative path");
  return alternates.map((path) => `${path}\n`).join("");
}

/** Automatic collection stays off for people too who run git in here: it would remove what a waiting event needs (grasp.md 7.14). */
function configText(format: ObjectFormat): string {
  const extension = format === "sha256" ? "[extensions]\n\tobjectformat = sha256\n" : "";
  const core = `[core]\n\trepositoryformatversion = ${format === "sha256" ? 1 : 0}\n\tfilemode = true\n\tbare = true\n`;
  return `${core}${extension}[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n`;
}
