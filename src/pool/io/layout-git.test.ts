import { execFile } from "node:child_process";
import { mkdtemp, realpath, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createRepository } from "../../git/io/repository.ts";
import type { Identifier } from "../../grasp/identifier.ts";
import type { PublicKey } from "../../nostr/event.ts";
import { alternatesOf, objectsPath, type PoolId, poolPath, repositoryKey, repositoryPath } from "../layout.ts";
import { readableName } from "../readable-name.ts";
import { makeReadableName } from "./readable-names.ts";

const run = promisify(execFile);
const git = async (cwd: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<string> =>
  (
    await run("git", [...args], { cwd, env: { PATH: process.env["PATH"] ?? "", GIT_CONFIG_NOSYSTEM: "1", HOME: cwd, ...env } })
  ).stdout.trim();

let outer: string;
beforeEach(async () => {
  outer = await realpath(await mkdtemp(join(tmpdir(), "holdfast-layout-")));
});
afterEach(() => rm(outer, { recursive: true, force: true }));

test("grasp.md 7.13: git reads a pool through the relative line, by the readable name too, wherever the data is moved", async () => {
  const name = { owner: "ab".repeat(32) as PublicKey, identifier: "my ❤ repo" as Identifier };
  const repository = repositoryPath(repositoryKey(name));
  const poolId = "0123456789abcdef0123456789abcdef" as PoolId;
  const pool = poolPath(poolId);
  const root = join(outer, "here");
  await createRepository(join(root, pool), { format: "sha1" });
  await createRepository(join(root, repository), { format: "sha1", alternates: alternatesOf(repository, [poolId]) });
  const env = { GIT_OBJECT_DIRECTORY: join(root, objectsPath(pool)) };
  const who = { GIT_AUTHOR_NAME: "a", GIT_AUTHOR_EMAIL: "a@example", GIT_COMMITTER_NAME: "a", GIT_COMMITTER_EMAIL: "a@example" };
  const tree = await git(join(root, repository), ["write-tree"], { ...env, GIT_INDEX_FILE: join(outer, "index") });
  const commit = await git(join(root, repository), ["commit-tree", "-m", "first", tree], { ...env, ...who });
  await git(join(root, repository), ["update-ref", "refs/heads/master", commit]);
  expect(await git(join(root, repository), ["count-objects"])).toMatch(/^0 objects/);
  const link = readableName(name);
  expect(await makeReadableName(root, link)).toBe("made");

  const there = join(outer, "there");
  await rename(root, there);
  expect(await git(join(there, link.link), ["log", "--format=%s", "master"])).toBe("first");
  expect(await git(outer, ["clone", "--quiet", "--no-local", join(there, link.link), "copy"])).toBe("");
  expect(await git(join(outer, "copy"), ["rev-parse", "HEAD"])).toBe(commit);
});
