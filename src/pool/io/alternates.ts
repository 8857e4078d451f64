import { mkdir, open, readFile, rename, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { alternatesPath, alternatesText, type DataPath, type PoolId } from "../layout.ts";

/**
 * Makes these pools the ones that a repository reads from. The file is replaced in one step and is on disk when this returns: git never sees half of it,
 * and whoever drops the last line to a pool knows that it is dropped before the pool goes. One at a time per repository, in its lane.
 */
export async function writeAlternates(gitDataPath: string, repository: DataPath, pools: readonly PoolId[]): Promise<void> {
  const file = join(gitDataPath, alternatesPath(repository));
  const text = alternatesText(repository, pools);
  if ((await readFile(file, "utf8").catch(() => undefined)) === text) return;
  await mkdir(dirname(file), { recursive: true });
  const early = `${file}.new`;
  try {
    await using handle = await open(early, "w");
    await handle.writeFile(text);
    await handle.sync();
  } catch (error) {
    await unlink(early).catch(() => undefined);
    throw error;
  }
  await rename(early, file);
  await using directory = await open(dirname(file), "r");
  await directory.sync();
}
