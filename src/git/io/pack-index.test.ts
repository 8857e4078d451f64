import { copyFileSync, readdirSync, renameSync } from "node:fs";
import { afterAll, beforeAll, expect, it } from "vitest";
import { commit, GitRig, git, oid } from "../../../test/kit/git-rig.ts";
import { PackIndex } from "./pack-index.ts";
import { createRepository } from "./repository.ts";

let rig: GitRig;
beforeAll(async () => {
  rig = await GitRig.open();
});
afterAll(() => rig[Symbol.asyncDispose]());

/** A repository with long chains of deltas, and git's own list of what is in it. */
async function packed(format: "sha1" | "sha256"): Promise<{ path: string; types: [string, string][] }> {
  const cwd = rig.path(`${format}.git`);
  await createRepository(cwd, { format });
  const lines = Array.from({ length: 300 }, (_, n) => `line ${n}`);
  let tip = "";
  for (let n = 0; n < 12; n++) {
    lines[n * 7] = `changed ${n}`;
    tip = commit(cwd, lines.join("\n"), tip === "" ? [] : [tip]);
  }
  git(["tag", "-f", "-a", "-m", "x", "t", tip], { cwd });
  git(["update-ref", "refs/heads/master", tip], { cwd });
  git(["repack", "-a", "-d", "-f", "-q", "--depth=50"], { cwd });
  const list = git(["cat-file", "--batch-all-objects", "--batch-check=%(objectname) %(objecttype)"], { cwd });
  const name = readdirSync(`${cwd}/objects/pack`).find((file) => file.endsWith(".idx")) ?? "";
  return { path: `${cwd}/objects/pack/${name.slice(0, -4)}`, types: list.split("\n").map((line) => line.split(" ") as [string, string]) };
}

it.each(["sha1", "sha256"] as const)("finds the type of every object that git lists: %s", async (format) => {
  const { path, types } = await packed(format);
  const idBytes = format === "sha1" ? 20 : 32;
  await using index = await PackIndex.open(path, idBytes);
  expect(index.count).toBe(types.length);
  for (const [id, type] of types) expect(await index.typeOf(oid(id))).toBe(type);
  expect(await index.typeOf(oid("1".repeat(idBytes * 2)))).toBeUndefined();
  expect(git(["verify-pack", "-v", path], { cwd: rig.directory, env: { GIT_DIR: rig.path(`${format}.git`) } })).toMatch(
    /chain length = [3-9]/,
  );
});

it("deltas by id, and offsets beyond four bytes", async () => {
  const { types } = await packed("sha1");
  const cwd = rig.path("sha1.git");
  const ids = types.map(([id]) => `${id}\n`).join("");
  const name = git(["pack-objects", "-q", "--no-reuse-delta", rig.path("by-id")], { cwd, input: ids });
  const path = rig.path(`by-id-${name}`);
  git(["index-pack", "--index-version=2,0x40", "-o", `${path}.idx2`, `${path}.pack`], { cwd });
  renameSync(`${path}.idx2`, `${path}.idx`);
  await using index = await PackIndex.open(path, 20);
  for (const [id, type] of types) expect(await index.typeOf(oid(id))).toBe(type);
});

it("anything else is a fault", async () => {
  const { path } = await packed("sha256");
  for (const name of ["x.idx", "x.pack"]) copyFileSync(`${path}.pack`, rig.path(name));
  await expect(PackIndex.open(rig.path("x"), 20)).rejects.toMatchObject({ fault: { kind: "protocol" } });
});
