import { mkdir, readlink, rename, rmdir, symlink, unlink } from "node:fs/promises";
import { join } from "node:path";
import type { ReadableName } from "../readable-name.ts";

/** A directory may vanish between its making and its use, because its last name was removed meanwhile: so often it is made again. */
const TRIES_MAX = 5;

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException | null)?.code;

/**
 * Makes the symlink, or makes it right. It takes its name in one step, so that a reader sees the old or the new one and never none.
 * Answers `taken` when something that is no symlink stands there: what an operator put there is not ours to remove.
 */
export async function makeReadableName(gitDataPath: string, name: ReadableName): Promise<"made" | "there" | "taken"> {
  const link = join(gitDataPath, name.link);
  const found = await targetOf(link);
  if (found === name.target) return "there";
  if (found === null) return "taken";
  // No readable name begins with a dot, so this one is nobody's; the same link may be made twice at once, and either may win.
  const early = join(gitDataPath, name.directory, `.${process.pid}-${(count += 1)}`);
  for (let tries = 1; ; tries++) {
    await mkdir(join(gitDataPath, name.directory), { recursive: true });
    try {
      await symlink(name.target, early);
      break;
    } catch (error) {
      if (codeOf(error) === "EEXIST") await unlink(early);
      else if (codeOf(error) !== "ENOENT" || tries >= TRIES_MAX) throw error;
    }
  }
  try {
    await rename(early, link);
    return "made";
  } catch (error) {
    await unlink(early).catch(() => undefined);
    if (codeOf(error) === "EISDIR" || codeOf(error) === "ENOTEMPTY" || codeOf(error) === "EEXIST") return "taken";
    throw error;
  }
}

/** Names made by this process so far: two of them must not share an early name. */
let count = 0;

/** Removes the symlink if it is this repository's, and the owner's directory with its last name. */
export async function removeReadableName(gitDataPath: string, name: ReadableName): Promise<void> {
  const link = join(gitDataPath, name.link);
  if ((await targetOf(link)) !== name.target) return;
  await unlink(link).catch(unless("ENOENT"));
  await rmdir(join(gitDataPath, name.directory)).catch(unless("ENOENT", "ENOTEMPTY", "EEXIST"));
}

/** What the link says; `null` when it is no link; `undefined` when there is nothing. */
async function targetOf(link: string): Promise<string | null | undefined> {
  try {
    return await readlink(link);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    if (codeOf(error) === "EINVAL") return null;
    throw error;
  }
}

const unless =
  (...codes: readonly string[]) =>
  (error: unknown): void => {
    if (!codes.includes(codeOf(error) ?? "")) throw error;
  };
