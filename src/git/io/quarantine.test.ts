import { existsSync, readdirSync } from "node:fs";
import { PassThrough, Readable } from "node:stream";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { commit, GitRig, git, gitBytes, oid, ref } from "../../../test/kit/git-rig.ts";
import { buildPack, objectId, repeatDelta } from "../../../test/kit/pack-builder.ts";
import { settled, TestClock } from "../../../test/kit/test-clock.ts";
import type { ObjectFormat, Oid } from "../oid.ts";
import { Objects } from "./objects.ts";
import { PACK_LIMITS, Quarantine, type Received, removeStaleQuarantines } from "./quarantine.ts";
import { createRepository } from "./repository.ts";

let rig: GitRig;
let objects: Objects;
let work: string;
let count = 0;
beforeAll(async () => {
  rig = await GitRig.open();
  objects = new Objects(rig.processes, rig.clock);
  await createRepository(rig.path("work.git"), { format: "sha1" });
  work = rig.path("work.git");
});
afterAll(async () => {
  await objects[Symbol.asyncDispose]();
  await rig[Symbol.asyncDispose]();
});

let gitDir: string;
beforeEach(async () => {
  gitDir = rig.path(`r${count++}.git`);
  await createRepository(gitDir, { format: "sha1" });
});

const open = (clock = rig.clock, format: ObjectFormat = "sha1"): Promise<Quarantine> =>
  Quarantine.open(rig.processes, clock, { gitDir, objects: `${gitDir}/objects`, path: rig.path("quarantine", `q${count++}`), format });
const stream = (bytes: Uint8Array): AsyncIterable<Uint8Array> => Readable.from([bytes]);
/** A pack as a client makes it: what `wants` reach and `haves` do not. */
const pack = (wants: readonly string[], haves: readonly string[] = [], cwd = work): Buffer =>
  gitBytes(["pack-objects", "--stdout", "--revs", "--thin", "-q"], {
    cwd,
    input: [...wants, ...haves.map((id) => `^${id}`)].map((line) => `${line}\n`).join(""),
  });
const packsOf = (dir: string): string[] => readdirSync(`${dir}/objects/pack`).toSorted();
const branch = (id: Oid, name = "refs/heads/main") => ({ ref: ref(name), oid: id });

/** Receives, and says what came of it; the repository must be as empty as before. */
async function refusal(bytes: Uint8Array, limits = PACK_LIMITS): Promise<Received> {
  await using quarantine = await open();
  const received = await quarantine.receive(stream(bytes), { limits });
  expect(received.kind).toBe("refused");
  await quarantine.migrate();
  expect(packsOf(gitDir)).toEqual([]);
  return received;
}

it("objects arrive apart, are checked, and stay when they migrate (grasp.md 7.10)", async () => {
  const tip = commit(work, "second", [commit(work, "first")]);
  let path: string;
  {
    await using quarantine = await open();
    path = quarantine.environment["GIT_QUARANTINE_PATH"] as string;
    expect(await quarantine.receive(stream(pack([tip])))).toMatchObject({ kind: "pack", objects: 6 });
    expect(await quarantine.problems([branch(tip)], objects)).toEqual([]);
    expect(await quarantine.isConnected([tip], [])).toBe(true);
    expect([...(await objects.look(gitDir, [tip]))]).toEqual([]);
    await quarantine.migrate();
    expect([...(await objects.look(gitDir, [tip]))]).toEqual([[tip, "commit"]]);
    await quarantine.migrate();
  }
  expect(existsSync(path)).toBe(false);
  git(["update-ref", "refs/heads/main", tip], { cwd: gitDir });
  expect(git(["fsck", "--strict", "--connectivity-only"], { cwd: gitDir })).toBe("");
  expect(packsOf(gitDir).map((name) => name.split(".").at(-1))).toEqual(expect.arrayContaining(["idx", "pack"]));
});

it("a thin pack is completed from what is here, and the type of a delta is found", async () => {
  const text = Array.from({ length: 2_000 }, (_, n) => `line ${n}`).join("\n");
  const first = commit(work, text);
  await using one = await open();
  await one.receive(stream(pack([first])));
  await one.migrate();
  const second = commit(work, `${text}!`, [first]);
  const thin = pack([second], [first]);
  expect(thin.length).toBeLessThan(2_000);
  await using two = await open();
  expect(await two.receive(stream(thin))).toMatchObject({ kind: "pack" });
  const blob = oid(git(["rev-parse", `${second}:file`], { cwd: work }));
  expect(await two.problems([branch(second), branch(blob, "refs/tags/b")], objects)).toEqual([]);
  expect(await two.problems([branch(blob)], objects)).toMatchObject([{ kind: "not-a-commit", type: "blob" }]);
  await two.migrate();
  git(["update-ref", "refs/heads/main", second], { cwd: gitDir });
  expect(git(["fsck", "--strict"], { cwd: gitDir })).toBe("");
});

it("a pool takes the objects where the repository only borrows them (grasp.md 7.13)", async () => {
  const pool = rig.path(`pool${count++}.git`);
  await createRepository(pool, { format: "sha1" });
  const borrower = rig.path(`b${count++}.git`);
  await createRepository(borrower, { format: "sha1", alternates: [`../../${pool.split("/").at(-1)}/objects`] });
  const first = commit(work, "in the pool");
  const second = commit(work, "on top of it", [first]);
  for (const bytes of [pack([first]), pack([second], [first])]) {
    const place = { gitDir: borrower, objects: `${pool}/objects`, path: rig.path(`q${count++}`), format: "sha1" } as const;
    await using quarantine = await Quarantine.open(rig.processes, rig.clock, place);
    expect(await quarantine.receive(stream(bytes))).toMatchObject({ kind: "pack" });
    await quarantine.migrate();
  }
  expect([packsOf(borrower).length, packsOf(pool).length > 0]).toEqual([0, true]);
  expect((await objects.look(borrower, [second])).get(second)).toBe("commit");
});

it("SHA-256 too", async () => {
  await createRepository(rig.path("work256.git"), { format: "sha256" });
  gitDir = rig.path("r256.git");
  await createRepository(gitDir, { format: "sha256" });
  const tip = commit(rig.path("work256.git"), "x");
  await using quarantine = await open(rig.clock, "sha256");
  expect(await quarantine.receive(stream(pack([tip], [], rig.path("work256.git"))))).toMatchObject({ kind: "pack", objects: 3 });
  expect(await quarantine.problems([branch(tip)], objects)).toEqual([]);
  await quarantine.migrate();
  expect((await objects.look(gitDir, [tip])).get(tip)).toBe("commit");
  expect((await (await open(rig.clock, "sha256")).receive(stream(buildPack([], 0, "sha256")))).kind).toBe("no-pack");
});

it("a push without a pack, or with an empty one, needs what is here already", async () => {
  const here = commit(gitDir, "here");
  for (const source of [Readable.from([]), stream(buildPack([]))]) {
    await using quarantine = await open();
    expect(await quarantine.receive(source)).toEqual({ kind: "no-pack" });
    expect(await quarantine.problems([branch(here)], objects)).toEqual([]);
    expect(await quarantine.problems([branch(commit(work, "elsewhere"))], objects)).toMatchObject([{ kind: "missing" }]);
    await quarantine.migrate();
  }
});

it("chunks of one byte are as good as one chunk", async () => {
  const bytes = pack([commit(work, "bytes")]);
  await using quarantine = await open();
  const single = Readable.from(Array.from(bytes, (byte) => Uint8Array.of(byte)));
  expect(await quarantine.receive(single)).toEqual({ kind: "pack", objects: 3, bytes: bytes.length });
});

describe("mallory's packs", () => {
  it("cut off anywhere", async () => {
    const bytes = pack([commit(work, "whole")]);
    for (const length of [4, 11]) expect(await refusal(bytes.subarray(0, length))).toMatchObject({ why: "not-a-pack" });
    for (const length of [12, 40, bytes.length - 21, bytes.length - 1])
      expect(await refusal(bytes.subarray(0, length))).toMatchObject({ why: "broken" });
  });

  it("no pack at all, a wrong version, one flipped bit, a wrong sum", async () => {
    expect(await refusal(Buffer.from("GET / HTTP/1.1\r\n\r\n"))).toMatchObject({ why: "not-a-pack" });
    const bytes = pack([commit(work, "flip")]);
    const flipped = (at: number): Buffer => Buffer.from(bytes.map((byte, n) => (n === at ? byte ^ 0x10 : byte)));
    expect(await refusal(flipped(7))).toMatchObject({ why: "not-a-pack" });
    for (const at of [20, bytes.length - 30, bytes.length - 1]) expect(await refusal(flipped(at))).toMatchObject({ why: "broken" });
    expect(await refusal(Buffer.concat([buildPack([]), Buffer.from("x")]))).toMatchObject({ why: "not-a-pack" });
    expect(await refusal(buildPack([]).fill(0, 12))).toMatchObject({ why: "not-a-pack" });
  });

  it("a commit without its parent, a tree without its blob", async () => {
    const parent = commit(work, "parent");
    expect(await refusal(pack([commit(work, "child", [parent])], [parent]))).toMatchObject({ why: "broken" });
    const tree = Buffer.concat([Buffer.from("100644 file\0"), Buffer.alloc(20, 7)]);
    expect(await refusal(buildPack([{ type: "tree", content: tree }]))).toMatchObject({ why: "broken" });
  });

  it("a parent that is in no ref here does not count as connected when storage is not closed", async () => {
    const blob = Buffer.from("unreachable");
    const tree = git(["mktree"], {
      cwd: work,
      input: `100644 blob ${git(["hash-object", "-w", "--stdin"], { cwd: work, input: blob })}\tf\n`,
    });
    const parent = oid(git(["commit-tree", tree, "-m", "p"], { cwd: work }));
    const content = gitBytes(["cat-file", "commit", parent], { cwd: work });
    git(["hash-object", "-w", "-t", "commit", "--stdin", "--literally"], { cwd: gitDir, input: content });
    const child = commit(work, "child of half", [parent]);
    await using quarantine = await open();
    expect(await quarantine.receive(stream(pack([child], [parent])))).toMatchObject({ kind: "pack" });
    expect(await quarantine.isConnected([child], [])).toBe(false);
  });

  it("a tip that is not in the pack, and a branch at a blob, a tree, a tag", async () => {
    const tip = commit(work, "sent");
    const blob = oid(git(["rev-parse", `${tip}:file`], { cwd: work }));
    const tree = oid(git(["rev-parse", `${tip}^{tree}`], { cwd: work }));
    git(["tag", "-f", "-a", "-m", "x", "t", tip], { cwd: work });
    const tag = oid(git(["rev-parse", "refs/tags/t"], { cwd: work }));
    await using quarantine = await open();
    await quarantine.receive(stream(pack([tag])));
    const absent = oid("1".repeat(40));
    const nostr = ref(`refs/nostr/${"a".repeat(64)}`);
    const tips = [
      branch(absent),
      branch(blob),
      branch(tree),
      branch(tag),
      branch(tag, "refs/tags/t"),
      branch(blob, "refs/tags/b"),
      { ref: nostr, oid: tree },
    ];
    expect(await quarantine.problems(tips, objects)).toEqual([
      { kind: "missing", tip: branch(absent) },
      { kind: "not-a-commit", tip: branch(blob), type: "blob" },
      { kind: "not-a-commit", tip: branch(tree), type: "tree" },
      { kind: "not-a-commit", tip: branch(tag), type: "tag" },
      { kind: "not-a-commit", tip: { ref: nostr, oid: tree }, type: "tree" },
    ]);
  });

  it("objects that fsck refuses", async () => {
    const blob = Buffer.from("x");
    const id = Buffer.from(objectId("blob", blob), "hex");
    const entry = (name: string): Buffer => Buffer.concat([Buffer.from(`100644 ${name}\0`), id]);
    const trees = [
      entry(".git"),
      entry("a/b"),
      entry(".."),
      Buffer.concat([entry("b"), entry("a")]),
      Buffer.concat([entry("a"), entry("a")]),
    ];
    for (const content of trees)
      expect(
        await refusal(
          buildPack([
            { type: "blob", content: blob },
            { type: "tree", content },
          ]),
        ),
      ).toMatchObject({ why: "broken" });
    const empty = { type: "tree", content: Buffer.alloc(0) } as const;
    const bad = Buffer.from(`tree ${objectId("tree", empty.content)}\nauthor x\n\nno committer\n`);
    const refused = await refusal(buildPack([empty, { type: "commit", content: bad }]));
    expect(refused).toMatchObject({ why: "broken", detail: expect.stringContaining("missingEmail") as string });
  });

  it("more bytes, or more objects, than allowed", async () => {
    const noise = Buffer.from(Array.from({ length: 60_000 }, (_, n) => (n * n * 31 + (n >> 3)) & 255));
    const bytes = buildPack([{ type: "blob", content: noise }]);
    expect(await refusal(bytes, { ...PACK_LIMITS, packBytesMax: bytes.length - 1 })).toMatchObject({ why: "too-large" });
    expect(await refusal(bytes, { ...PACK_LIMITS, objectsMax: 0 })).toMatchObject({ why: "too-many-objects" });
    await using quarantine = await open();
    const exact = { ...PACK_LIMITS, packBytesMax: bytes.length, objectsMax: 1 };
    expect(await quarantine.receive(stream(bytes), { limits: exact })).toMatchObject({ kind: "pack", objects: 1, bytes: bytes.length });
    expect(await refusal(buildPack([], 6_000_000))).toMatchObject({ why: "too-many-objects" });
    expect(await refusal(buildPack([], 1_000_000))).toMatchObject({ why: "broken" });
  });

  it("a delta of a few kilobytes that would become two gigabytes, and an object that claims to be huge", async () => {
    const base = Buffer.alloc(1 << 20);
    const delta = { type: "refDelta", base: objectId("blob", base), content: repeatDelta(base.length, base.length, 2_048) } as const;
    const bytes = buildPack([{ type: "blob", content: base }, delta]);
    expect(bytes.length).toBeLessThan(10_000);
    const tooMuch = { why: "broken", detail: expect.stringContaining("over limit") as string };
    expect(await refusal(bytes)).toMatchObject(tooMuch);
    expect(await refusal(buildPack([{ type: "tree", content: Buffer.from("x"), size: 2 ** 41 }]))).toMatchObject(tooMuch);
  });

  it("drips: cut after a minute, and the process is gone", async () => {
    const clock = new TestClock();
    const source = new PassThrough();
    await using quarantine = await open(clock);
    const received = quarantine.receive(source);
    received.catch(() => undefined);
    source.write(pack([commit(work, "drip")]).subarray(0, 20));
    await expect.poll(() => rig.slots.running, { timeout: 10_000 }).toBe(1);
    await expect.poll(() => clock.pending, { timeout: 10_000 }).toBe(1);
    await clock.advance(60_000);
    await expect(received).rejects.toMatchObject({ fault: { kind: "timeout" } });
    expect(rig.slots.running).toBe(0);
  });

  it.each([["nothing"], ["half a header"], ["an empty pack without its end"]])(
    "sends %s and then waits: cut, or left when he leaves",
    async (what) => {
      const bytes = { nothing: 0, "half a header": 6 }[what] ?? 20;
      const [clock, abort] = [new TestClock(), new AbortController()];
      await using slow = await open(clock);
      await using left = await open();
      const source = (): PassThrough => {
        const stream = new PassThrough();
        if (bytes > 0) stream.write(buildPack([]).subarray(0, bytes));
        return stream;
      };
      const received = [slow.receive(source()), left.receive(source(), { signal: abort.signal })];
      for (const promise of received) promise.catch(() => undefined);
      await clock.advance(60_000);
      abort.abort();
      await expect(received[0]).rejects.toMatchObject({ fault: { kind: "timeout" } });
      await expect(received[1]).rejects.toMatchObject({ fault: { kind: "aborted" } });
      expect(rig.slots.running).toBe(0);
    },
  );

  it("vanishes: what was started for him ends", async () => {
    const abort = new AbortController();
    const source = new PassThrough();
    await using quarantine = await open();
    const received = quarantine.receive(source, { signal: abort.signal, address: "203.0.113.7" });
    received.catch(() => undefined);
    source.write(pack([commit(work, "gone")]).subarray(0, 30));
    await expect.poll(() => rig.slots.running, { timeout: 10_000 }).toBe(1);
    abort.abort();
    await expect(received).rejects.toMatchObject({ fault: { kind: "aborted" } });
    source.destroy(new Error("reset"));
    await settled();
    expect(rig.slots.running).toBe(0);
  });

  it("goes silent after a broken object: he is not waited for", async () => {
    const source = new PassThrough();
    await using quarantine = await open();
    const received = quarantine.receive(source);
    source.write(buildPack([{ type: "blob", content: Buffer.from("x"), size: 5 }], 2));
    expect(await received).toMatchObject({ kind: "refused", why: "broken" });
  });
});

it("what a crash left is removed at boot", async () => {
  const quarantine = await open();
  await removeStaleQuarantines(rig.path("quarantine"));
  expect(readdirSync(rig.path("quarantine"))).toEqual([]);
  await quarantine[Symbol.asyncDispose]();
  await removeStaleQuarantines(rig.path("no such directory"));
});
