import { access, mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { git, runGit, workDirectory } from "../../test/kit/real-git.ts";
import { COMMON, configFlags, ENVIRONMENT, FETCH, gitEnvironment, INIT, INTAKE, UPLOAD } from "./settings.ts";

test("every setting says why", () => {
  for (const { key, why } of [...ENVIRONMENT, ...COMMON, ...INIT, ...UPLOAD, ...INTAKE, ...FETCH]) {
    expect(key).toMatch(/^([A-Z_]+|[a-z]+(\.[a-z]+)?\.[A-Za-z0-9]+)$/);
    expect(why.length).toBeGreaterThan(5);
  }
});

test("flags stand in order, lists one behind the other; the environment holds nothing else", () => {
  expect(configFlags([{ key: "a.b", value: "c", why: "" }], [{ key: "d.e", value: "", why: "" }])).toEqual(["-c", "a.b=c", "-c", "d.e="]);
  expect(Object.keys(gitEnvironment("/bin", { GIT_PROTOCOL: "version=2" })).sort()).toEqual(
    [...ENVIRONMENT.map(({ key }) => key), "GIT_PROTOCOL", "PATH"].sort(),
  );
});

test("grasp.md 9.10: configuration of the account and of the system is not read", async () => {
  await using dir = await workDirectory();
  await writeFile(join(dir.path, ".gitconfig"), "[user]\n\tname = Mallory\n");
  await mkdir(join(dir.path, "git"));
  await writeFile(join(dir.path, "git", "config"), "[user]\n\tname = Mallory\n");
  const inherited = { HOME: dir.path, XDG_CONFIG_HOME: dir.path };
  expect((await runGit(["config", "--list", "--show-origin"], { cwd: dir.path, env: inherited })).stdout.toString()).toBe("");
  expect((await runGit(["config", "--list", "--show-origin"], { cwd: dir.path })).stdout.toString()).toBe("");
});

test("grasp.md 9.10: no hook runs, whatever a repository holds", async () => {
  await using dir = await workDirectory();
  const cwd = { cwd: dir.path };
  await git([...configFlags(COMMON, INIT), "init", "-q", "--bare", "."], cwd);
  await mkdir(join(dir.path, "hooks"), { recursive: true });
  await writeFile(join(dir.path, "hooks", "reference-transaction"), `#!/bin/sh\ntouch "${dir.path}/ran"\n`, { mode: 0o755 });
  const commit = await git(["commit-tree", "-m", "first", await git(["mktree"], cwd)], cwd);
  const ran = (): Promise<boolean> =>
    access(join(dir.path, "ran")).then(
      () => true,
      () => false,
    );
  await git([...configFlags(COMMON), "update-ref", "refs/heads/a", commit], cwd);
  expect(await ran()).toBe(false);
  await git(["update-ref", "refs/heads/b", commit], cwd);
  expect(await ran()).toBe(true);
});

test("grasp.md 5.5: a repository is made with HEAD on master and nothing that it does not need", async () => {
  await using dir = await workDirectory();
  await git([...configFlags(COMMON, INIT), "init", "-q", "--bare", "."], { cwd: dir.path });
  expect(await git(["symbolic-ref", "HEAD"], { cwd: dir.path })).toBe("refs/heads/master");
  expect((await readdir(dir.path)).sort()).toEqual(["HEAD", "config", "objects", "refs"]);
});

test("files of another account are served", async () => {
  await using dir = await workDirectory();
  await git(["init", "-q", "--bare", "."], { cwd: dir.path });
  // How git's own tests play a repository that belongs to somebody else.
  const options = { cwd: dir.path, env: { GIT_TEST_ASSUME_DIFFERENT_OWNER: "1" } };
  expect((await runGit(["rev-parse", "--git-dir"], options)).stderr).toContain("dubious ownership");
  expect((await runGit([...configFlags(COMMON), "rev-parse", "--git-dir"], options)).code).toBe(0);
});

test("grasp.md 9.10: only a fetch may speak to others, and only http and https", async () => {
  await using dir = await workDirectory();
  await git(["init", "-q", "--bare", "."], { cwd: dir.path });
  const said = async (url: string, flags: readonly string[]): Promise<string> =>
    (await runGit([...flags, "ls-remote", url], { cwd: dir.path })).stderr;
  const fetching = configFlags(COMMON, FETCH);
  for (const url of [`file://${dir.path}`, dir.path, "ext::true", "git://127.0.0.1:1/", "ssh://127.0.0.1:1/", "ftp://127.0.0.1:1/"]) {
    expect(await said(url, fetching)).toMatch(/transport '\w+' not allowed/);
  }
  // Port 1: nothing answers, so what fails is the connection and not the protocol.
  expect(await said("http://127.0.0.1:1/", fetching)).not.toContain("not allowed");
  expect(await said("http://127.0.0.1:1/", configFlags(COMMON))).toContain("transport 'http' not allowed");
});

test("refs of our own bookkeeping are not listed", async () => {
  await using dir = await workDirectory();
  const cwd = { cwd: dir.path };
  await git(["init", "-q", "--bare", "."], cwd);
  const commit = await git(["commit-tree", "-m", "first", await git(["mktree"], cwd)], cwd);
  const served = ["refs/heads/a", `refs/nostr/${"1".repeat(64)}`, "refs/tags/b"];
  for (const ref of [...served, "refs/keep/c", "refs/notes/d"]) await git(["update-ref", ref, commit], cwd);
  const { stdout } = await runGit([...configFlags(COMMON, UPLOAD), "upload-pack", "--http-backend-info-refs", "."], cwd);
  expect([...stdout.toString().matchAll(/refs\/[^\s\0]+/g)].map(([ref]) => ref)).toEqual(served);
});
