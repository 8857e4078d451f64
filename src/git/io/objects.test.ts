import { afterAll, beforeAll, expect, it } from "vitest";
import { commit, GitRig, git, oid } from "../../../test/kit/git-rig.ts";
import type { Oid } from "../oid.ts";
import { Objects } from "./objects.ts";
import { createRepository } from "./repository.ts";

let rig: GitRig;
let objects: Objects;
let first: Oid;
beforeAll(async () => {
  rig = await GitRig.open();
  objects = new Objects(rig.processes, rig.clock, 2);
  for (const name of ["a", "b", "c"]) await createRepository(rig.path(name), { format: "sha1" });
  first = commit(rig.path("a"), "first");
});
afterAll(async () => {
  await objects[Symbol.asyncDispose]();
  await rig[Symbol.asyncDispose]();
});

const absent = oid("1".repeat(40));
const idOf = (name: string): Oid => oid(git(["rev-parse", name], { cwd: rig.path("a") }));

it("says what is there, and of what type", async () => {
  git(["tag", "-a", "-m", "x", "t", first], { cwd: rig.path("a") });
  const ids = [idOf(`${first}:file`), absent, idOf(`${first}^{tree}`), first, idOf("t")];
  expect([...(await objects.look(rig.path("a"), ids))]).toEqual([
    [ids[0], "blob"],
    [ids[2], "tree"],
    [ids[3], "commit"],
    [ids[4], "tag"],
  ]);
  expect((await objects.look(rig.path("a"), [])).size).toBe(0);
});

it("peels tags of tags, and leaves out what is no tag", async () => {
  git(["tag", "-a", "-m", "x", "t1", first], { cwd: rig.path("a") });
  git(["tag", "-a", "-m", "x", "t2", "t1"], { cwd: rig.path("a") });
  git(["tag", "-a", "-m", "x", "t3", `${first}:file`], { cwd: rig.path("a") });
  const [t2, t3] = [idOf("t2"), idOf("t3")];
  const peeled = await objects.peel(rig.path("a"), [first, t2, absent, t3]);
  expect([...peeled]).toEqual([
    [t2, { oid: first, type: "commit" }],
    [t3, { oid: idOf(`${first}:file`), type: "blob" }],
  ]);
  expect([...(await objects.peeledIds(rig.path("a"), [first, t2]))]).toEqual([[t2, first]]);
});

it("a process that is open sees what came later, packed too", async () => {
  const later = commit(rig.path("b"), "later");
  expect((await objects.look(rig.path("a"), [later])).size).toBe(0);
  const pack = git(["rev-list", "--objects", "--no-object-names", later], { cwd: rig.path("b") });
  git(["pack-objects", "-q", `${rig.path("a")}/objects/pack/pack`], { cwd: rig.path("b"), input: `${pack}\n` });
  expect((await objects.look(rig.path("a"), [later])).get(later)).toBe("commit");
});

it("thousands at once, from many askers, each get their own answers", async () => {
  const many = Array.from({ length: 3_000 }, (_, n) => oid((n + 1).toString(16).padStart(40, "0")));
  const askers = Array.from({ length: 5 }, (_, n) =>
    objects.look(rig.path("a"), [...many.slice(0, n * 500), first, ...many.slice(n * 500)]),
  );
  for (const answer of await Promise.all(askers)) expect([...answer]).toEqual([[first, "commit"]]);
});

it("of three repositories two keep their process; all get answers, also when asked in turns", async () => {
  const asked = Array.from({ length: 12 }, (_, n) => ["a", "b", "c"][n % 3] as string);
  const answers = await Promise.all(asked.map((name) => objects.look(rig.path(name), [first])));
  expect(answers.map((answer) => answer.has(first))).toEqual(asked.map((name) => name === "a"));
});

it("a dead process is replaced, and one of a repository that is not there is a fault", async () => {
  await objects.look(rig.path("a"), [first]);
  process.kill(rig.helper.pid as number, "SIGKILL");
  await expect.poll(async () => (await objects.look(rig.path("a"), [first]).catch(() => new Map())).size, { timeout: 10_000 }).toBe(1);
  await expect(objects.look(rig.path("nowhere"), [first])).rejects.toMatchObject({ fault: { kind: "git-exit", code: 128 } });
});

it("forgets, and answers again", async () => {
  await objects.forget(rig.path("a"));
  await objects.forget(rig.path("never asked"));
  expect((await objects.look(rig.path("a"), [first])).size).toBe(1);
});
