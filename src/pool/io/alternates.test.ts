import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { alternatesPath, alternatesText, type PoolId, type RepositoryKey, repositoryPath } from "../layout.ts";
import { writeAlternates } from "./alternates.ts";

const repository = repositoryPath("ab".repeat(32) as RepositoryKey);
const [first, second] = ["0".repeat(32), "1".repeat(32)] as [PoolId, PoolId];

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "holdfast-alternates-"));
});
afterEach(() => rm(root, { recursive: true, force: true }));

test("grasp.md 7.13: lines are written, changed and dropped as a whole, and nothing is left beside them", async () => {
  const file = join(root, alternatesPath(repository));
  for (const pools of [[first], [second, first], [second]]) {
    await writeAlternates(root, repository, pools);
    expect(await readFile(file, "utf8")).toBe(alternatesText(repository, pools));
  }
  expect(await readdir(dirname(file))).toEqual(["alternates"]);
});

test("what a crash left behind does not stand in the way; what is right is not written again", async () => {
  const file = join(root, alternatesPath(repository));
  await writeAlternates(root, repository, [first]);
  await writeFile(`${file}.new`, "half of a li");
  await writeAlternates(root, repository, [second]);
  expect(await readFile(file, "utf8")).toBe(alternatesText(repository, [second]));
  const { ino } = await stat(file);
  await writeAlternates(root, repository, [second]);
  expect(await stat(file)).toMatchObject({ ino });
});
