import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { commit, git, ref } from "../../../test/kit/git-rig.ts";
import type { Oid } from "../oid.ts";
import { PackedRefs, packedText } from "./packed-refs.ts";
import { readRefs } from "./refs.ts";
import { createRepository } from "./repository.ts";

let directory: string;
let cwd: string;
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "holdfast-refs-"));
  cwd = join(directory, "r.git");
  await createRepository(cwd, { format: "sha1" });
});
afterEach(() => rmSync(directory, { recursive: true }));

const set = (name: string, id: string): string => git(["update-ref", name, id], { cwd });
/** What git says, as name → value. */
const listed = (): Record<string, string> =>
  Object.fromEntries(
    git(["for-each-ref", "--format=%(refname) %(objectname)"], { cwd })
      .split("\n")
      .filter(Boolean)
      .map((line) => line.split(" ")),
  );

it("an empty repository has no refs and the unborn master", async () => {
  expect(await readRefs(cwd)).toEqual({ refs: new Map(), head: "refs/heads/master" });
});

it("reads what git lists: loose, packed, both, nested, in any alphabet", async () => {
  const [one, two] = [commit(cwd, "1"), commit(cwd, "2")];
  for (const name of ["refs/heads/a", "refs/heads/b/c/d", "refs/tags/v1", "refs/heads/ünï/😀", "refs/heads/ｚ"]) set(name, one);
  git(["tag", "-a", "-m", "x", "v2", one], { cwd });
  git(["pack-refs", "--all"], { cwd });
  set("refs/heads/a", two);
  set("refs/heads/new", two);
  git(["symbolic-ref", "HEAD", "refs/heads/b/c/d"], { cwd });
  const { refs, head } = await readRefs(cwd);
  expect(Object.fromEntries(refs)).toEqual(listed());
  expect(refs.get(ref("refs/heads/a"))).toBe(two);
  expect(head).toBe("refs/heads/b/c/d");
});

it("our packed-refs is byte for byte what git writes", async () => {
  const one = commit(cwd, "1");
  for (const name of ["refs/heads/a", "refs/heads/a-b", "refs/heads/a.b", "refs/heads/😀", "refs/heads/ｚ", "refs/heads/z/y"])
    set(name, one);
  git(["tag", "-a", "-m", "x", "v2", one], { cwd });
  git(["tag", "-a", "-m", "y", "v3", "v2"], { cwd });
  git(["pack-refs", "--all"], { cwd });
  const packed = await PackedRefs.read(cwd);
  const bytes = git(["-C", cwd, "cat-file", "-p", git(["hash-object", "-w", "packed-refs"], { cwd })], { cwd });
  expect(Buffer.from(packedText(packed.entries()), "latin1").toString("utf8").trimEnd()).toBe(bytes);
  expect(packed.isFullyPeeled).toBe(true);
  expect(packed.entries().get("refs/tags/v3")?.peeled).toBe(one);
  expect(packed.get(ref("refs/heads/a"))).toBe(one);
  expect(packed.get(ref("refs/heads/z"))).toBeUndefined();
  expect(packed.hasBelow(ref("refs/heads/z"))).toBe(true);
  expect(packed.hasBelow(ref("refs/heads/a"))).toBe(false);
});

it("locks and names that git refuses are no refs; a symbolic one has its target's value", async () => {
  const one = commit(cwd, "1");
  set("refs/heads/main", one);
  writeFileSync(join(cwd, "refs/heads/x.lock"), `${one}\n`);
  mkdirSync(join(cwd, "refs/remotes/origin"), { recursive: true });
  writeFileSync(join(cwd, "refs/remotes/origin/HEAD"), "ref: refs/heads/main\n");
  writeFileSync(join(cwd, "refs/remotes/origin/gone"), "ref: refs/heads/gone\n");
  expect(Object.fromEntries((await readRefs(cwd)).refs)).toEqual({ "refs/heads/main": one, "refs/remotes/origin/HEAD": one });
});

it("a detached HEAD names no branch", async () => {
  writeFileSync(join(cwd, "HEAD"), `${commit(cwd, "1")}\n`);
  expect((await readRefs(cwd)).head).toBe("refs/heads/master");
});

it.each(["", "nonsense\n", `${"0".repeat(40)}\n`])("a broken file is a fault, not an absent ref: %j", async (content) => {
  writeFileSync(join(cwd, "refs/heads/x"), content);
  await expect(readRefs(cwd)).rejects.toMatchObject({ fault: { kind: "protocol" } });
});

it.each(["^x\n", "short refs/heads/a\n", "refs/heads/a\n"])("so is a broken line of packed-refs: %j", async (content) => {
  writeFileSync(join(cwd, "packed-refs"), content);
  await expect(readRefs(cwd)).rejects.toMatchObject({ fault: { kind: "protocol" } });
});

it("ten thousand are found singly", () => {
  const id = "1".repeat(40) as Oid;
  const packed = new PackedRefs(
    packedText(new Map(Array.from({ length: 10_000 }, (_, n) => [`refs/heads/b${n}`, { oid: id, peeled: undefined }]))),
  );
  expect(packed.get(ref("refs/heads/b9999"))).toBe(id);
  expect(packed.get(ref("refs/heads/b10000"))).toBeUndefined();
});
