import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { delimiter, isAbsolute, join } from "node:path";

/** The oldest git with everything we use: Debian 12 has it. */
export const GIT_MAJOR_MIN = 2;
export const GIT_MINOR_MIN = 39;

export interface GitVersion {
  readonly major: number;
  readonly minor: number;
  readonly text: string;
}

/** The absolute path of git, found once: a search at every start costs, and may find another one later. */
export async function findGit(searchPath: string): Promise<string | undefined> {
  for (const directory of searchPath.split(delimiter)) {
    const path = join(directory, "git");
    if (isAbsolute(directory) && (await isExecutable(path))) return path;
  }
  return undefined;
}

async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}

/** Reads `git version 2.39.5`, with whatever a vendor adds. */
export function readGitVersion(output: string): GitVersion | undefined {
  const match = /^git version ((\d{1,4})\.(\d{1,4})\S{0,60})/.exec(output);
  return match ? { major: Number(match[2]), minor: Number(match[3]), text: match[1] as string } : undefined;
}

/** Why this git cannot be used, as a sentence for the operator; `undefined` when it can. */
export function gitProblem(path: string | undefined, output: string | undefined): string | undefined {
  const least = `git ${GIT_MAJOR_MIN}.${GIT_MINOR_MIN} or newer is needed`;
  if (path === undefined) return `git was not found; ${least}. Install it, or put its directory on PATH.`;
  const version = output === undefined ? undefined : readGitVersion(output);
  if (version === undefined) return `${path} does not say which version of git it is; ${least}.`;
  const isNew = version.major > GIT_MAJOR_MIN || (version.major === GIT_MAJOR_MIN && version.minor >= GIT_MINOR_MIN);
  return isNew ? undefined : `${path} is git ${version.text}; ${least}.`;
}
