import { randomBytes } from "node:crypto";
import { readdirSync, readlinkSync } from "node:fs";
import { Agent, type ClientRequest, type IncomingMessage, type OutgoingHttpHeaders, request } from "node:http";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type GitDoor, type GitDoorOptions, openGitDoor, servedView } from "../../../test/kit/git-door.ts";
import { commit, GitRig, git } from "../../../test/kit/git-rig.ts";
import { TestClock } from "../../../test/kit/test-clock.ts";
import { findGit } from "../../git/io/git-binary.ts";
import { GitProcesses } from "../../git/io/git-process.ts";
import { GitSlots, slotLimits } from "../../git/io/git-slots.ts";
import type { Oid } from "../../git/oid.ts";
import { pktText } from "../../git/pkt-line.ts";
import type { RepoView } from "../ports.ts";

let rig: GitRig;
let views: Readonly<Record<string, RepoView>>;
let tip: Oid;
let bigTip: Oid;
const doors: GitDoor[] = [];
beforeAll(async () => {
  rig = await GitRig.open();
  for (const name of ["small", "big"]) git(["init", "-q", "--bare", "-b", "main", rig.path(name)], { cwd: rig.directory });
  tip = commit(rig.path("small"), "one");
  git(["update-ref", "refs/heads/main", tip], { cwd: rig.path("small") });
  // More than the sockets between can hold.
  const flags = { cwd: rig.path("big"), env: { GIT_CONFIG_COUNT: "1", GIT_CONFIG_KEY_0: "core.compression", GIT_CONFIG_VALUE_0: "0" } };
  const blob = git(["hash-object", "-w", "--stdin"], { ...flags, input: randomBytes(24 * 1024 * 1024) });
  const tree = git(["mktree"], { ...flags, input: `100644 blob ${blob}\tfile\n` });
  bigTip = git(["commit-tree", tree, "-m", "big"], flags) as Oid;
  git(["update-ref", "refs/heads/main", bigTip], flags);
  views = { small: await servedView(rig.path("small")), big: await servedView(rig.path("big")), empty: { kind: "empty" } };
});
afterAll(async () => {
  for (const door of doors) await door[Symbol.asyncDispose]();
  await rig[Symbol.asyncDispose]();
});

async function open(options: Partial<GitDoorOptions> = {}): Promise<GitDoor> {
  const door = await openGitDoor({ views, processes: rig.processes, clock: rig.clock, ...options });
  doors.push(door);
  return door;
}

interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
}

/** A POST whose body is still to be written. */
const begin = (door: GitDoor, name: string, headers: OutgoingHttpHeaders = {}, agent?: Agent): ClientRequest =>
  request({
    host: "127.0.0.1",
    port: door.port,
    path: `${door.path(name)}/git-upload-pack`,
    method: "POST",
    headers: { "Content-Type": "application/x-git-upload-pack-request", ...headers },
    ...(agent === undefined ? {} : { agent }),
  });

const answerOf = (sent: ClientRequest): Promise<Answer> =>
  new Promise((resolve, reject) => {
    sent.on("error", reject);
    sent.on("response", (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => resolve({ status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks) }));
    });
  });

function post(door: GitDoor, name: string, body: string | Uint8Array, headers: OutgoingHttpHeaders = {}): Promise<Answer> {
  const sent = begin(door, name, { "Content-Length": Buffer.byteLength(body), ...headers });
  const answer = answerOf(sent);
  sent.end(body);
  return answer;
}

const V2 = { "Git-Protocol": "version=2" };
const LS_REFS = `${pktText("command=ls-refs\n")}0001${pktText("symrefs\n")}0000`;
const REFS = (oid: string): string => `${pktText(`${oid} HEAD symref-target:refs/heads/main\n`)}${pktText(`${oid} refs/heads/main\n`)}0000`;
const wants = (oid: string): string => `${pktText(`want ${oid} side-band-64k no-progress\n`)}0000${pktText("done\n")}`;
const gzip = { "Content-Encoding": "gzip" };

/** Processes that work in a directory, as the system sees them. */
const workingIn = (directory: string): number[] =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readlinkSync(`/proc/${pid}/cwd`) === directory;
      } catch {
        return false;
      }
    })
    .map(Number);
const poll = (look: () => unknown): ReturnType<typeof expect.poll> => expect.poll(look, { timeout: 20_000, interval: 10 });

it("grasp.md 7.15: ls-refs comes from memory, though git may not be started at all", async () => {
  const door = await open({ processes: await crowded() });
  const answer = await post(door, "small", LS_REFS, V2);
  expect([answer.status, answer.body.toString()]).toEqual([200, REFS(tip)]);
  expect(answer.headers).toMatchObject({ "content-type": "application/x-git-upload-pack-result", "cache-control": "no-cache" });
});

it.each([
  ["plain", (text: string) => text, {}],
  ["gzip'd", gzipSync, gzip],
  ["gzip'd, by its old name", gzipSync, { "Content-Encoding": "X-GZIP" }],
])("grasp.md 7.2: a body that is %s", async (_, encode, headers) => {
  const door = await open();
  expect((await post(door, "small", encode(LS_REFS), { ...V2, ...headers })).body.toString()).toBe(REFS(tip));
  const fetched = await post(door, "small", encode(wants(tip)), headers);
  expect(fetched.headers["content-type"]).toBe("application/x-git-upload-pack-result");
  expect(
    fetched.body
      .toString("latin1")
      .replace(/^0008NAK\n[0-9a-f]{4}/, "")
      .slice(0, 5),
  ).toBe("\u0001PACK");
  expect(door.faults).toEqual([]);
});

it.each([{}, gzip])("grasp.md 7.2: a chunked body, byte by byte %j", async (headers) => {
  const door = await open();
  for (const [body, more] of [
    [LS_REFS, V2],
    [wants(tip), {}],
  ] as const) {
    const sent = begin(door, "small", { ...headers, ...more });
    sent.setNoDelay(true);
    const answer = answerOf(sent);
    for (const byte of "Content-Encoding" in headers ? gzipSync(body) : Buffer.from(body)) {
      await new Promise<void>((resolve) => sent.write(Buffer.of(byte), () => resolve()));
    }
    sent.end();
    expect((await answer).status).toBe(200);
    expect((await answer).body.toString("latin1")).toMatch(/HEAD|PACK/);
  }
});

it.each([
  ["only a flush", "0000", V2, ""],
  [
    "another object format",
    `${pktText("command=ls-refs")}${pktText("object-format=sha256")}0000`,
    V2,
    "ERR upload-pack: the repository's object format",
  ],
  ["half a request", LS_REFS.slice(0, -4), V2, "ERR upload-pack: the request ends before its flush"],
  ["nonsense, which ends git without a word", "nonsense", {}, "ERR upload-pack: the request could not be answered"],
  ["an object that is not here", wants("d".repeat(40)), {}, `ERR upload-pack: not our ref ${"d".repeat(40)}`],
])("grasp.md 7.11: 200, whatever is asked: %s", async (_, body, headers, said) => {
  const door = await open();
  const answer = await post(door, "small", body, headers);
  expect([answer.status, answer.headers["content-type"]]).toEqual([200, "application/x-git-upload-pack-result"]);
  expect(answer.body.toString().slice(4, 4 + said.length)).toBe(said);
  expect(door.faults).toEqual([]);
});

it("grasp.md 7.15: an empty repository is answered without git", async () => {
  const door = await open({ processes: await crowded() });
  expect((await post(door, "empty", "0000")).body.toString()).toBe("");
  expect((await post(door, "empty", wants(tip))).body.toString()).toBe(pktText(`ERR upload-pack: not our ref ${tip}`));
  const unborn = `${pktText("command=ls-refs")}0001${pktText("symrefs")}${pktText("unborn")}0000`;
  expect((await post(door, "empty", unborn, V2)).body.toString()).toBe(`${pktText("unborn HEAD symref-target:refs/heads/master\n")}0000`);
});

it.each([
  ["broken", Buffer.from("not gzip at all"), gzip, 400],
  ["truncated", gzipSync(wants("a".repeat(40))).subarray(0, -6), gzip, 400],
  ["of an unknown encoding", Buffer.from(LS_REFS), { "Content-Encoding": "br" }, 415],
])("grasp.md 7.11: a body that is %s", async (_, body, headers, status) => {
  const door = await open();
  expect((await post(door, "small", body, headers)).status).toBe(status);
  expect(door.faults).toEqual([]);
});

it.each([
  ["before git is started", 1_000, () => pktText("have x\n").repeat(1_000)],
  ["while git reads", 150_000, () => pktText(`want ${tip}\n`).repeat(8_000)],
])("grasp.md 7.2: a small body that inflates without end is stopped %s", async (_, bodyBytesMax, write) => {
  const door = await open({ limits: { bodyBytesMax, perAddressMax: 9 } });
  const body = write();
  const packed = gzipSync(body);
  expect(packed.length).toBeLessThan(bodyBytesMax / 10);
  expect((await post(door, "small", packed, gzip)).status).toBe(413);
  expect((await post(door, "small", body)).status).toBe(413);
  await poll(() => rig.slots.running).toBe(0);
});

it("grasp.md 7.2: a client that expects 100-continue is told to go on where its body is wanted, and only there", async () => {
  const door = await open();
  const heard: string[] = [];
  for (const name of ["small", "other"]) {
    const sent = begin(door, name, { ...V2, Expect: "100-continue", "Content-Length": LS_REFS.length });
    sent.on("continue", () => {
      heard.push(name);
      sent.end(LS_REFS);
    });
    const answer = answerOf(sent);
    sent.flushHeaders();
    expect((await answer).status).toBe(name === "small" ? 200 : 404);
  }
  expect(heard).toEqual(["small"]);
});

it("one connection carries many requests, refused ones too", async () => {
  const door = await open();
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const sockets = new Set<unknown>();
  const statuses: (number | undefined)[] = [];
  for (const [name, body, headers] of [
    ["small", LS_REFS, V2],
    ["other", LS_REFS, V2],
    ["small", wants(tip), {}],
    ["small", `${wants(tip)}${"x".repeat(1_000)}`, {}],
    ["empty", wants(tip), {}],
    ["small", gzipSync(LS_REFS), { ...V2, ...gzip }],
    ["small", LS_REFS, { "Content-Encoding": "br" }],
    ["small", LS_REFS, V2],
  ] as const) {
    const sent = begin(door, name, { "Content-Length": Buffer.byteLength(body), ...headers }, agent);
    sent.on("socket", (socket) => sockets.add(socket));
    const answer = answerOf(sent);
    sent.end(body);
    statuses.push((await answer).status);
  }
  expect(statuses).toEqual([200, 404, 200, 200, 200, 200, 415, 200]);
  expect(sockets.size).toBe(1);
  agent.destroy();
});

it.each(["PUT", "GET"])("grasp.md 7.11: the service is not for %s", async (method) => {
  const door = await open();
  const answer = await fetch(`${door.url("small")}/git-upload-pack`, { method });
  expect([answer.status, answer.headers.get("allow")]).toEqual([405, "POST, OPTIONS"]);
});

it("grasp.md 7.11: too many from one address are told 429, until one of them ends", async () => {
  const door = await open({ limits: { bodyBytesMax: 1_000, perAddressMax: 1 }, limitKey: "192.0.2.1" });
  const first = begin(door, "small", { ...V2, "Content-Length": LS_REFS.length });
  const answer = answerOf(first);
  first.write(LS_REFS.slice(0, 9));
  await poll(() => door.asked.length).toBe(1);
  const second = await post(door, "small", LS_REFS, V2);
  expect([second.status, second.headers["retry-after"]]).toEqual([429, "10"]);
  first.end(LS_REFS.slice(9));
  expect((await answer).status).toBe(200);
  expect((await post(door, "small", LS_REFS, V2)).status).toBe(200);
});

/** Where no git process may be started, and no more may wait. */
async function crowded(): Promise<GitProcesses> {
  const slots = new GitSlots({ ...slotLimits(1), totalMax: 0, waitingMax: 1 });
  void slots.take("fetch", undefined);
  return new GitProcesses({ helper: rig.helper, slots, clock: rig.clock, path: (await findGit(process.env["PATH"] ?? "")) ?? "" });
}

it("grasp.md 7.11: when the queue is full it is 503, and when to come again", async () => {
  const door = await open({ processes: await crowded() });
  const answer = await post(door, "small", wants(tip));
  expect([answer.status, answer.headers["retry-after"]]).toEqual([503, "10"]);
  expect(door.faults).toEqual([]);
});

it("grasp.md 7.16: a request that drips is given up, and holds no git process meanwhile", async () => {
  const clock = new TestClock();
  const door = await open({ clock });
  const sent = begin(door, "small", { "Content-Length": 1_000 });
  const answer = answerOf(sent);
  sent.write("0032");
  await poll(() => clock.pending).toBe(1);
  expect(rig.slots.running).toBe(0);
  await clock.advance(60_000);
  expect([(await answer).status, (await answer).headers.connection]).toEqual([408, "close"]);
  expect(clock.pending).toBe(0);
});

/** Reads the beginning of a long answer. */
async function beginToRead(door: GitDoor): Promise<{ sent: ClientRequest; response: IncomingMessage }> {
  const body = wants(bigTip);
  const sent = begin(door, "big", { "Content-Length": body.length });
  sent.on("error", () => undefined);
  const response = await new Promise<IncomingMessage>((resolve) => sent.on("response", resolve).end(body));
  await new Promise((resolve) => response.once("data", resolve));
  response.pause();
  return { sent, response };
}

it("grasp.md 7.2: a client that goes leaves no git process behind", async () => {
  const door = await open();
  const { sent, response } = await beginToRead(door);
  response.on("error", () => undefined);
  expect(rig.slots.running).toBe(1);
  expect(workingIn(rig.path("big"))).not.toEqual([]);
  sent.destroy();
  await poll(() => [rig.slots.running, workingIn(rig.path("big"))]).toEqual([0, []]);
  expect(door.faults).toEqual([]);
});

it("grasp.md 7.2: a client that goes while it waits for its turn leaves the queue", async () => {
  const slots = new GitSlots({ ...slotLimits(1), totalMax: 0, keptForFetches: 0, keptForPushes: 0 });
  const path = (await findGit(process.env["PATH"] ?? "")) ?? "";
  const door = await open({
    processes: new GitProcesses({ helper: rig.helper, slots, clock: rig.clock, path }),
    limitKey: "192.0.2.1",
    limits: { bodyBytesMax: 1_000, perAddressMax: 1 },
  });
  const sent = begin(door, "small");
  sent.on("error", () => undefined).end(wants(tip));
  await poll(() => slots.waiting).toBe(1);
  sent.destroy();
  await expect.poll(async () => (await post(door, "small", LS_REFS, V2)).status, { timeout: 20_000 }).toBe(200);
  expect(door.faults).toEqual([]);
});

it("grasp.md 7.16: a client that does not read is cut, and git with it", async () => {
  const clock = new TestClock();
  const door = await open({ clock });
  const { response } = await beginToRead(door);
  const ended = new Promise((resolve) => response.once("error", resolve));
  expect(rig.slots.running).toBe(1);
  await expect
    .poll(
      async () => {
        await clock.advance(60_000);
        return rig.slots.running;
      },
      { timeout: 20_000, interval: 50 },
    )
    .toBe(0);
  response.resume();
  expect(await ended).toMatchObject({ code: "ECONNRESET" });
  await poll(() => workingIn(rig.path("big"))).toEqual([]);
});

it("half an answer does not look like a whole one", async () => {
  const door = await open();
  const { response } = await beginToRead(door);
  const ended = new Promise((resolve) => response.once("error", resolve));
  process.kill(rig.helper.pid as number, "SIGKILL");
  response.resume();
  expect(await ended).toMatchObject({ code: "ECONNRESET" });
  expect(door.faults.join()).toContain("git-upload-pack");
  expect((await post(door, "small", wants(tip))).body.toString("latin1")).toContain("PACK");
});
