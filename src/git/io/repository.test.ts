import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { commit, git, ref } from "../../../test/kit/git-rig.ts";
import { createRepository, isUnfinishedRepository, readFormat, writeAlternates } from "./repository.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "holdfast-repository-"));
});
afterEach(() => rmSync(directory, { recursive: true }));
const at = (...parts: readonly string[]): string => join(directory, ...parts);

it.each(["sha1", "sha256"] as const)("git takes it for a repository of its own: %s", async (format) => {
  expect(await createRepository(at("deep/down/r.git"), { format })).toBe(true);
  const cwd = at("deep/down/r.git");
  expect(git(["rev-parse", "--is-bare-repository", "--show-object-format"], { cwd })).toBe(`true\n${format}`);
  expect(git(["symbolic-ref", "HEAD"], { cwd })).toBe("refs/heads/master");
  expect(git(["config", "gc.auto"], { cwd })).toBe("0");
  const id = commit(cwd, "x");
  git(["update-ref", "refs/heads/master", id], { cwd });
  git(["clone", "-q", cwd, at("copy")], { cwd: directory });
  expect(git(["fsck", "--strict"], { cwd })).toBe("");
  expect(await readFormat(cwd)).toBe(format);
});

it("asking again changes nothing, another format is refused", async () => {
  await createRepository(at("r.git"), { format: "sha1" });
  const id = commit(at("r.git"), "x");
  git(["update-ref", "refs/heads/master", id], { cwd: at("r.git") });
  expect(await createRepository(at("r.git"), { format: "sha1", head: ref("refs/heads/other") })).toBe(false);
  expect(git(["rev-parse", "HEAD"], { cwd: at("r.git") })).toBe(id);
  await expect(createRepository(at("r.git"), { format: "sha256" })).rejects.toMatchObject({ fault: { kind: "protocol" } });
  expect(readdirSync(directory)).toEqual(["r.git"]);
});

it("many at once make one, and leave nothing beside it", async () => {
  const made = await Promise.all(Array.from({ length: 8 }, () => createRepository(at("r.git"), { format: "sha1" })));
  expect(made.filter(Boolean)).toHaveLength(1);
  expect(readdirSync(directory)).toEqual(["r.git"]);
});

it("what a crash left beside it does not matter, and has a name to know it by", async () => {
  mkdirSync(at("r.git.new-a1B2c3", "objects"), { recursive: true });
  expect(await createRepository(at("r.git"), { format: "sha1" })).toBe(true);
  expect(readdirSync(directory).filter(isUnfinishedRepository)).toEqual(["r.git.new-a1B2c3"]);
});

it("a directory that is no repository is not overwritten", async () => {
  mkdirSync(at("r.git"));
  writeFileSync(at("r.git", "precious"), "");
  await expect(createRepository(at("r.git"), { format: "sha1" })).rejects.toThrow("ENOTEMPTY");
  expect(readdirSync(directory)).toEqual(["r.git"]);
});

it("objects are borrowed by relative paths, so the storage can be moved (grasp.md 7.13)", async () => {
  await createRepository(at("data/pool.git"), { format: "sha1" });
  const id = commit(at("data/pool.git"), "x");
  await createRepository(at("data/r.git"), { format: "sha1", alternates: ["../../pool.git/objects"] });
  expect(git(["cat-file", "-t", id], { cwd: at("data/r.git") })).toBe("commit");
  renameSync(at("data"), at("moved"));
  expect(git(["cat-file", "-t", id], { cwd: at("moved/r.git") })).toBe("commit");
  await createRepository(at("moved/second.git"), { format: "sha1" });
  await writeAlternates(at("moved/r.git"), ["../../second.git/objects", "../../pool.git/objects"]);
  expect(readFileSync(at("moved/r.git/objects/info/alternates"), "utf8")).toBe("../../second.git/objects\n../../pool.git/objects\n");
  expect(git(["cat-file", "-t", id], { cwd: at("moved/r.git") })).toBe("commit");
  await writeAlternates(at("moved/r.git"), []);
  expect(() => git(["cat-file", "-t", id], { cwd: at("moved/r.git") })).toThrow("could not get object info");
  await expect(writeAlternates(at("moved/r.git"), ["/etc"])).rejects.toThrow("relative");
});
