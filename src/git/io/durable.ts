import { constants } from "node:fs";
import { mkdir, open, rename, rmdir, unlink } from "node:fs/promises";
import { dirname } from "node:path";

export const codeOf = (error: unknown): string | undefined => {
  const code = (error as { code?: unknown } | undefined)?.code;
  return typeof code === "string" ? code : undefined;
};

/** The result, or `undefined` when the path is not there. */
export async function unlessMissing<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR") return undefined;
    throw error;
  }
}

/** What a directory lists is on disk only after this. */
export async function syncPath(path: string): Promise<void> {
  await using handle = await open(path, constants.O_RDONLY);
  await handle.sync();
}

/** Fails with EEXIST when the file is there, so of two writers one wins. A file that could not be written whole does not stay. */
export async function writeNew(path: string, content: string | Uint8Array): Promise<void> {
  await using handle = await open(path, "wx", 0o644);
  try {
    await handle.writeFile(content);
    await handle.sync();
  } catch (error) {
    // A full disk must not leave a lock behind that nobody holds.
    await removeFile(path);
    throw error;
  }
}

/** The whole new content or the whole old one, whenever the power goes. `beside` is the lock that other writers honour. */
export async function replaceFile(path: string, content: string | Uint8Array, beside: string): Promise<void> {
  await writeNew(beside, content);
  try {
    await rename(beside, path);
  } catch (error) {
    await removeFile(beside);
    throw error;
  }
  await syncPath(dirname(path));
}

/** Makes what is missing of a directory, and syncs every directory that got a new entry. */
export async function makeDirectory(path: string): Promise<void> {
  const first = await mkdir(path, { recursive: true });
  if (first === undefined) return;
  for (let at = path; at.length >= first.length; at = dirname(at)) await syncPath(dirname(at));
}

/** True when it was there. */
export async function removeFile(path: string): Promise<boolean> {
  return (await unlessMissing(unlink(path).then(() => true))) ?? false;
}

/** True when it is gone now; a directory with something in it stays. */
export async function removeEmptyDirectory(path: string): Promise<boolean> {
  try {
    await rmdir(path);
    return true;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return true;
    if (codeOf(error) === "ENOTEMPTY" || codeOf(error) === "EEXIST" || codeOf(error) === "ENOTDIR") return false;
    throw error;
  }
}
