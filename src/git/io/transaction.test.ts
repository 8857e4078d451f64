import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { commit, git, oid, ref } from "../../../test/kit/git-rig.ts";
import type { Oid } from "../oid.ts";
import { clash } from "../ref-map.ts";
import type { RefName } from "../ref-name.ts";
import type { RefUpdate } from "../ref-update.ts";
import { filesBelow, readRefs } from "./refs.ts";
import { createRepository } from "./repository.ts";
import { applyRefs, type RefTransaction, recoverRefs } from "./transaction.ts";

let directory: string;
let cwd: string;
let ids: readonly Oid[];
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "holdfast-transaction-"));
  cwd = join(directory, "r.git");
  await createRepository(cwd, { format: "sha1" });
  ids = ["0", "1", "2"].map((text) => commit(cwd, text));
});
afterEach(() => rmSync(directory, { recursive: true }));

const id = (n: number): Oid => ids[n] as Oid;
const change = (name: string, from: Oid | undefined, to: Oid | undefined): RefUpdate => ({ ref: ref(name), from, to });
const listed = (dir = cwd): Record<string, string> =>
  Object.fromEntries(
    git(["for-each-ref", "--format=%(refname) %(objectname)"], { cwd: dir })
      .split("\n")
      .filter(Boolean)
      .map((line) => line.split(" ")),
  );
/** Asks git itself what each id peels to. */
const peel = (oids: readonly Oid[]): Promise<ReadonlyMap<Oid, Oid>> =>
  Promise.resolve(
    new Map(oids.map((tag) => [tag, oid(git(["rev-parse", `${tag}^{}`], { cwd }))] as const).filter(([tag, peeled]) => tag !== peeled)),
  );
const apply = (transaction: RefTransaction) => applyRefs(cwd, transaction, { peel });
const locks = async (dir = cwd): Promise<string[]> =>
  (await filesBelow(dir)).filter((path) => path.endsWith(".lock") || path === "ref-intent");

/** After every one: git agrees with our reading, finds nothing wrong, and nothing is left behind. */
async function sound(): Promise<Record<string, string>> {
  const { refs, head } = await readRefs(cwd);
  expect(listed()).toEqual(Object.fromEntries(refs));
  expect(git(["symbolic-ref", "HEAD"], { cwd })).toBe(head);
  expect(git(["fsck", "--no-dangling"], { cwd })).toBe("");
  expect(await locks()).toEqual([]);
  return Object.fromEntries(refs);
}

it("creates, moves and checks, with HEAD after the refs", async () => {
  const created = await apply({
    updates: [change("refs/heads/a", undefined, id(0)), change("refs/heads/b/c", undefined, id(1))],
    head: ref("refs/heads/b/c"),
  });
  expect(created).toEqual({ kind: "applied" });
  expect(await sound()).toEqual({ "refs/heads/a": id(0), "refs/heads/b/c": id(1) });
  expect(git(["rev-parse", "HEAD"], { cwd })).toBe(id(1));
  const moved = await apply({ updates: [change("refs/heads/a", id(0), id(2)), change("refs/heads/b/c", id(1), id(1))] });
  expect(moved).toEqual({ kind: "applied" });
  expect(await sound()).toEqual({ "refs/heads/a": id(2), "refs/heads/b/c": id(1) });
  expect(existsSync(join(cwd, "packed-refs"))).toBe(false);
});

it.each([2, 12])("one unexpected value refuses all (%i refs)", async (count) => {
  const names = Array.from({ length: count }, (_, n) => `refs/heads/b${n}`);
  git(["update-ref", "refs/heads/b1", id(1)], { cwd });
  const before = listed();
  const updates = names.map((name) => change(name, undefined, id(0)));
  expect(await apply({ updates, head: ref("refs/heads/b0") })).toEqual({
    kind: "moved",
    ref: "refs/heads/b1",
    expected: undefined,
    actual: id(1),
  });
  expect(await apply({ updates: [...updates.slice(0, 1), change("refs/heads/b1", id(2), id(0))] })).toMatchObject({
    kind: "moved",
    actual: id(1),
  });
  expect(await apply({ updates: [...updates.slice(0, 1), change("refs/heads/b1", id(2), undefined)] })).toMatchObject({ kind: "moved" });
  expect(await apply({ updates: [...updates.slice(0, 1), change("refs/heads/b1", undefined, undefined)] })).toMatchObject({
    kind: "moved",
  });
  expect(await sound()).toEqual(before);
  expect(git(["symbolic-ref", "HEAD"], { cwd })).toBe("refs/heads/master");
});

it("many go into one file, with what tags finally name; loose ones of the same name go", async () => {
  git(["tag", "-a", "-m", "x", "v1", id(0)], { cwd });
  git(["tag", "-a", "-m", "y", "v2", "v1"], { cwd });
  const [v1, v2] = ["v1", "v2"].map((name) => oid(git(["rev-parse", name], { cwd }))) as [Oid, Oid];
  git(["update-ref", "-d", "refs/tags/v1"], { cwd });
  git(["update-ref", "-d", "refs/tags/v2"], { cwd });
  await apply({ updates: [change("refs/heads/b0", undefined, id(1))] });
  const updates = Array.from({ length: 20 }, (_, n) => change(`refs/heads/b${n}`, n === 0 ? id(1) : undefined, id(0)));
  await apply({ updates: [...updates, change("refs/tags/v1", undefined, v1), change("refs/tags/v2", undefined, v2)] });
  expect(Object.keys(await sound())).toHaveLength(22);
  expect(await filesBelow(join(cwd, "refs"))).toEqual([]);
  const packed = readFileSync(join(cwd, "packed-refs"), "utf8");
  expect(packed).toContain(`${v2} refs/tags/v2\n^${id(0)}\n`);
  git(["pack-refs", "--all"], { cwd });
  expect(readFileSync(join(cwd, "packed-refs"), "utf8")).toBe(packed);
});

it("deletes loose, packed and both; the last one leaves an empty list", async () => {
  git(["update-ref", "refs/heads/packed", id(0)], { cwd });
  git(["update-ref", "refs/heads/both", id(0)], { cwd });
  git(["pack-refs", "--all"], { cwd });
  git(["update-ref", "refs/heads/both", id(1)], { cwd });
  git(["update-ref", "refs/heads/deep/down/loose", id(2)], { cwd });
  await apply({ updates: [change("refs/heads/deep/down/loose", id(2), undefined), change("refs/heads/both", id(1), undefined)] });
  expect(await sound()).toEqual({ "refs/heads/packed": id(0) });
  expect(existsSync(join(cwd, "refs/heads/deep"))).toBe(false);
  expect(existsSync(join(cwd, "refs/heads"))).toBe(true);
  await apply({ updates: [change("refs/heads/packed", id(0), undefined)] });
  expect(await sound()).toEqual({});
});

it("`a` becomes `a/b` and back, loose and packed (grasp.md 6.8)", async () => {
  for (const isPacked of [false, true]) {
    await apply({ updates: [change("refs/heads/a", undefined, id(0))] });
    if (isPacked) git(["pack-refs", "--all"], { cwd });
    await apply({
      updates: [change("refs/heads/a", id(0), undefined), change("refs/heads/a/b", undefined, id(1))],
      head: ref("refs/heads/a/b"),
    });
    expect(await sound()).toEqual({ "refs/heads/a/b": id(1) });
    await apply({
      updates: [change("refs/heads/a", undefined, id(2)), change("refs/heads/a/b", id(1), undefined)],
      head: ref("refs/heads/a"),
    });
    expect(await sound()).toEqual({ "refs/heads/a": id(2) });
    await apply({ updates: [change("refs/heads/a", id(2), undefined)] });
  }
});

it.each([
  ["refs/heads/a", "refs/heads/a/b"],
  ["refs/heads/a/b", "refs/heads/a"],
])("%s beside %s is refused, loose, packed and among the new ones", async (there, wanted) => {
  git(["update-ref", there, id(0)], { cwd });
  for (const prepare of [() => undefined, () => git(["pack-refs", "--all"], { cwd })]) {
    prepare();
    expect(await apply({ updates: [change(wanted, undefined, id(1))] })).toMatchObject({ kind: "clash" });
    const many = Array.from({ length: 12 }, (_, n) => change(`refs/heads/x${n}`, undefined, id(1)));
    expect(await apply({ updates: [...many, change(wanted, undefined, id(1))] })).toMatchObject({ kind: "clash" });
    expect(await sound()).toEqual({ [there]: id(0) });
  }
  git(["update-ref", "-d", there], { cwd });
  expect(await apply({ updates: [change(there, undefined, id(1)), change(wanted, undefined, id(1))] })).toMatchObject({ kind: "clash" });
  expect(await sound()).toEqual({});
});

it("an empty directory gives way to a ref of its name", async () => {
  mkdirSync(join(cwd, "refs/heads/a/b/c"), { recursive: true });
  expect(await apply({ updates: [change("refs/heads/a", undefined, id(0))] })).toEqual({ kind: "applied" });
  expect(await sound()).toEqual({ "refs/heads/a": id(0) });
});

it("a lock that somebody holds is a fault and stays his; boot clears it", async () => {
  writeFileSync(join(cwd, "refs/heads/a.lock"), "");
  writeFileSync(join(cwd, "packed-refs.lock"), "");
  await expect(apply({ updates: [change("refs/heads/a", undefined, id(0))] })).rejects.toMatchObject({ fault: { kind: "busy" } });
  await expect(apply({ updates: [change("refs/heads/b", id(0), undefined)] })).rejects.toMatchObject({ fault: { kind: "busy" } });
  expect(await locks()).toEqual(["packed-refs.lock", "refs/heads/a.lock"]);
  expect(await recoverRefs(cwd, { peel })).toBe(false);
  expect(await sound()).toEqual({});
});

it("a failure in between is finished by the next transaction", async () => {
  const step = (name: string): void => {
    if (name === "renamed refs/heads/a") throw new Error("the disk is gone");
  };
  const updates = [change("refs/heads/a", undefined, id(0)), change("refs/heads/b", undefined, id(0))];
  await expect(applyRefs(cwd, { updates, head: ref("refs/heads/b") }, { peel, step })).rejects.toThrow("the disk is gone");
  expect(listed()).toEqual({ "refs/heads/a": id(0) });
  await apply({ updates: [change("refs/heads/c", undefined, id(1))] });
  expect(await sound()).toEqual({ "refs/heads/a": id(0), "refs/heads/b": id(0), "refs/heads/c": id(1) });
  expect(git(["symbolic-ref", "HEAD"], { cwd })).toBe("refs/heads/b");
});

it("what somebody else wrote after the crash is not overwritten", async () => {
  const step = (name: string): void => {
    if (name === "intent") throw new Error("the disk is gone");
  };
  const updates = [change("refs/heads/a", undefined, id(0)), change("refs/heads/b", undefined, id(0))];
  await expect(applyRefs(cwd, { updates }, { peel, step })).rejects.toThrow("the disk is gone");
  git(["update-ref", "refs/heads/b", id(2)], { cwd });
  expect(await recoverRefs(cwd, { peel })).toBe(true);
  expect(await sound()).toEqual({ "refs/heads/a": id(0), "refs/heads/b": id(2) });
});

it("a broken intent is a fault: nobody guesses what was decided", async () => {
  writeFileSync(join(cwd, "ref-intent"), `{"version":1,"updates":[["refs/heads/../x",null,null]],"head":null}`);
  await expect(recoverRefs(cwd, { peel })).rejects.toMatchObject({ fault: { kind: "protocol" } });
});

it("any sequence of transactions leaves what git and a plain map say", async () => {
  const name = fc.constantFrom(...["a", "a/b", "a/b/c", "b", "c", "d/e", "ü"].map((text) => ref(`refs/heads/${text}`)));
  const wish = fc.uniqueArray(fc.tuple(name, fc.option(fc.nat(2), { nil: undefined })), { selector: ([key]) => key, maxLength: 7 });
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(wish, fc.boolean()), { maxLength: 5 }), async (wishes) => {
      for (const [wanted, isPacked] of wishes) {
        const { refs } = await readRefs(cwd);
        const after = new Map<RefName, Oid>(refs);
        const updates = wanted.map(([key, n]) => ({ ref: key, from: refs.get(key), to: n === undefined ? undefined : id(n) }));
        for (const { ref: key, to } of updates)
          if (to === undefined) after.delete(key);
          else after.set(key, to);
        const outcome = await apply({ updates });
        expect(outcome.kind).toBe(clash(after.keys()) === undefined ? "applied" : "clash");
        expect(listed()).toEqual(Object.fromEntries(outcome.kind === "applied" ? after : refs));
        if (isPacked) git(["pack-refs", "--all"], { cwd });
      }
      expect(await locks()).toEqual([]);
    }),
    { numRuns: 15, seed: 11 },
  );
});

describe("stopped between any two steps, it is all there or nothing is (grasp.md 6.8)", () => {
  const cases: [string, () => RefTransaction, boolean][] = [
    ["one ref", () => ({ updates: [change("refs/heads/a", id(0), id(1))] }), false],
    [
      "some refs and HEAD",
      () => ({
        updates: [change("refs/heads/m/n", undefined, id(1)), change("refs/heads/k", id(0), id(2)), change("refs/heads/a", id(0), id(1))],
        head: ref("refs/heads/m/n"),
      }),
      false,
    ],
    [
      "a delete, a move of what is loose over packed, HEAD",
      () => ({ updates: [change("refs/heads/a", id(0), undefined), change("refs/heads/k", id(0), id(2))], head: ref("refs/heads/k") }),
      true,
    ],
    [
      "a name becomes a directory",
      () => ({
        updates: [change("refs/heads/a", id(0), undefined), change("refs/heads/a/b", undefined, id(1))],
        head: ref("refs/heads/a/b"),
      }),
      false,
    ],
  ];

  /** Stops for ever at a step, so that nothing is cleaned up: on disk that is what a crash is. False when there are not so many steps. */
  const frozen: PromiseWithResolvers<void>[] = [];
  function freeze(dir: string, transaction: RefTransaction, count: number): Promise<boolean> {
    return new Promise((resolve, reject) => {
      let left = count;
      const step = (): Promise<void> | undefined => {
        if (left-- > 0) return undefined;
        resolve(true);
        const never = Promise.withResolvers<void>();
        frozen.push(never);
        return never.promise;
      };
      applyRefs(dir, transaction, { peel, step }).then(() => resolve(false), reject);
    });
  }

  const CRASHER = `
import { applyRefs } from ${JSON.stringify(new URL("./transaction.ts", import.meta.url).href)};
const [gitDir, text, count] = process.argv.slice(1);
const { updates, head } = JSON.parse(text);
let left = Number(count);
const step = () => { if (left-- === 0) process.kill(process.pid, "SIGKILL"); };
await applyRefs(gitDir, { updates: updates.map(({ ref, from, to }) => ({ ref, from, to })), head }, { peel: async () => new Map(), step });
`;
  /** The real thing: a process of its own that is killed. */
  async function crash(dir: string, transaction: RefTransaction, count: number): Promise<boolean> {
    const args = ["--input-type=module", "--no-warnings", "-e", CRASHER, dir, JSON.stringify(transaction), String(count)];
    const [code] = (await once(spawn(process.execPath, args, { stdio: ["ignore", "inherit", "inherit"] }), "exit")) as [number | null];
    if (code !== null) expect(code).toBe(0);
    return code === null;
  }

  const runs = [...cases.map((row) => [...row, freeze] as const), ...cases.slice(3).map((row) => [...row, crash] as const)];
  it.each(runs)("%s", async (_, make, isPacked, stop) => {
    const transaction = make();
    git(["update-ref", "refs/heads/a", id(0)], { cwd });
    git(["update-ref", "refs/heads/k", id(isPacked ? 1 : 0)], { cwd });
    if (isPacked) {
      git(["pack-refs", "--all"], { cwd });
      git(["update-ref", "refs/heads/k", id(0)], { cwd });
    }
    const see = (dir: string): unknown => ({ ...listed(dir), HEAD: git(["symbolic-ref", "HEAD"], { cwd: dir }) });
    const old = see(cwd);
    const whole = join(directory, "whole.git");
    cpSync(cwd, whole, { recursive: true });
    expect(await applyRefs(whole, transaction, { peel })).toEqual({ kind: "applied" });
    const fresh = see(whole);
    const seen: unknown[] = [];
    // A process costs a tenth of a second; every second step is enough for those.
    for (let count = 0; ; count += stop === crash ? 2 : 1) {
      const dir = join(directory, `stopped-${count}.git`);
      cpSync(cwd, dir, { recursive: true });
      const wasStopped = await stop(dir, transaction, count);
      const hadIntent = readdirSync(dir).includes("ref-intent");
      expect(await recoverRefs(dir, { peel })).toBe(hadIntent);
      seen.push(see(dir));
      if (hadIntent) expect(seen.at(-1)).toEqual(fresh);
      expect([old, fresh]).toContainEqual(seen.at(-1));
      expect(await locks(dir)).toEqual([]);
      if (!wasStopped) break;
    }
    expect(seen[0]).toEqual(old);
    expect(seen.at(-1)).toEqual(fresh);
    // Now they may close their files.
    for (const never of frozen.splice(0)) never.reject(new Error("thawed"));
  });
});
