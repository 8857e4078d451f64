import { PassThrough, Readable, Writable } from "node:stream";
import { afterAll, beforeAll, expect, it } from "vitest";
import { commit, GitRig, git } from "../../../test/kit/git-rig.ts";
import type { Oid } from "../oid.ts";
import type { ProtocolVersion } from "../service.ts";
import { createRepository } from "./repository.ts";
import { type FetchEnd, type FetchRequest, UploadPack } from "./upload-pack.ts";

let rig: GitRig;
let gitDir: string;
let tip: Oid;
beforeAll(async () => {
  rig = await GitRig.open();
  gitDir = rig.path("r.git");
  await createRepository(gitDir, { format: "sha1" });
  // Hard to compress, so that no buffer on the way holds all of it.
  const noise = Array.from({ length: 400_000 }, (_, n) => ((n * 2_654_435_761) >>> 7).toString(36)).join("");
  tip = commit(gitDir, noise);
  git(["update-ref", "refs/heads/master", tip], { cwd: gitDir });
});
afterAll(() => rig[Symbol.asyncDispose]());

const line = (text: string): string => (text.length + 4).toString(16).padStart(4, "0") + text;
const wantV2 = (id: string): string => `${line("command=fetch")}0001${line(`want ${id}\n`)}${line("done\n")}0000`;
const wantV0 = (id: string): string => `${line(`want ${id} side-band-64k\n`)}0000${line("done\n")}`;
const start = (body: AsyncIterable<Uint8Array>, version: ProtocolVersion = 2, more: Partial<FetchRequest> = {}): Promise<UploadPack> =>
  UploadPack.start(rig.processes, rig.clock, { gitDir, version, body, ...more });

async function fetched(body: string, version: ProtocolVersion): Promise<{ end: FetchEnd; answer: Buffer }> {
  const output = new PassThrough();
  const chunks = output.toArray();
  const end = await (await start(Readable.from([Buffer.from(body)]), version)).sendTo(output);
  expect(output.writableEnded).toBe(false);
  output.end();
  return { end, answer: Buffer.concat((await chunks) as Buffer[]) };
}

/** Takes the pack out of the side-band and lets git index it. */
function indexed(answer: Buffer): string {
  const parts: Buffer[] = [];
  for (let at = 0; at < answer.length; ) {
    const length = Number.parseInt(answer.toString("latin1", at, at + 4), 16);
    if (length > 4 && answer[at + 4] === 1) parts.push(answer.subarray(at + 5, at + length));
    at += Math.max(4, length);
  }
  git(["init", "-q", "--bare", "copy.git"], { cwd: rig.directory });
  git(["index-pack", "--stdin"], { cwd: rig.path("copy.git"), input: Buffer.concat(parts) });
  return git(["cat-file", "-t", tip], { cwd: rig.path("copy.git") });
}

it.each([
  [0, wantV0],
  [1, wantV0],
  [2, wantV2],
] as const)("protocol %i: the answer is a pack that git takes", async (version, want) => {
  const body = want(tip);
  const { end, answer } = await fetched(body, version);
  expect(end).toMatchObject({ fault: undefined, bytesIn: body.length, bytesOut: answer.length });
  expect(indexed(answer)).toBe("commit");
});

it("v2 lists refs and names the unborn HEAD", async () => {
  const { answer } = await fetched(`${line("command=ls-refs")}0001${line("symrefs")}${line("unborn")}0000`, 2);
  expect(answer.toString()).toContain(`${tip} HEAD symref-target:refs/heads/master`);
});

it("filters and reachable ids are served (grasp.md 7.3)", async () => {
  const tree = git(["rev-parse", `${tip}^{tree}`], { cwd: gitDir });
  const filter = `${line("command=fetch")}0001${line(`want ${tip}\n`)}${line("filter blob:none\n")}${line("done\n")}0000`;
  const small = await fetched(filter, 2);
  expect(small.end.fault).toBeUndefined();
  expect(small.answer.length).toBeLessThan(2_000);
  expect((await fetched(wantV2(tree), 2)).end.fault).toBeUndefined();
});

it("what we do not have is an ERR line, and all of it arrives (grasp.md 7.11)", async () => {
  const { end, answer } = await fetched(wantV2("1".repeat(40)), 2);
  expect(answer.toString()).toContain(`ERR upload-pack: not our ref ${"1".repeat(40)}`);
  expect(end.fault).toMatchObject({ kind: "git-exit", code: 128 });
});

it("git says no more than the client takes", async () => {
  let taken = 0;
  let release: (() => void) | undefined;
  const output = new Writable({
    highWaterMark: 1,
    write(chunk: Buffer, _encoding, done) {
      taken += chunk.length;
      release = done;
    },
  });
  const abort = new AbortController();
  const sent = (await start(Readable.from([Buffer.from(wantV2(tip))]), 2, { signal: abort.signal })).sendTo(output);
  await expect.poll(() => taken, { timeout: 10_000 }).toBeGreaterThan(0);
  for (let n = 0; n < 3; n++) {
    const before = taken;
    release?.();
    await expect.poll(() => taken, { timeout: 10_000 }).toBeGreaterThan(before);
  }
  expect(taken).toBeLessThan(500_000);
  abort.abort();
  expect((await sent).fault).toMatchObject({ kind: "aborted" });
  expect(rig.slots.running).toBe(0);
});

it("a client that goes away ends git", async () => {
  const output = new PassThrough();
  const sent = (await start(Readable.from([Buffer.from(wantV2(tip))]))).sendTo(output);
  await expect.poll(() => output.readableLength, { timeout: 10_000 }).toBeGreaterThan(0);
  output.destroy();
  expect((await sent).fault).toMatchObject({ kind: "closed" });
  expect(rig.slots.running).toBe(0);
});

it("a request that breaks off ends git", async () => {
  const body = new PassThrough();
  const sent = (await start(body)).sendTo(new PassThrough());
  body.write(line("command=fetch"));
  body.destroy(Object.assign(new Error("reset"), { code: "ECONNRESET" }));
  expect((await sent).fault).toMatchObject({ kind: "closed", code: "ECONNRESET" });
});

it("nonsense is answered by git, and a client that then hangs is not waited for", async () => {
  const body = new PassThrough();
  body.write("zzzz");
  const end = await (await start(body)).sendTo(new PassThrough().resume());
  expect(end.fault).toMatchObject({ kind: "git-exit", code: 128 });
});

it("a directory that is no repository is a fault", async () => {
  const end = await (await start(Readable.from([Buffer.from(wantV2(tip))]), 2, { gitDir: rig.directory })).sendTo(
    new PassThrough().resume(),
  );
  expect(end.fault).toMatchObject({ kind: "git-exit", code: 128 });
});
