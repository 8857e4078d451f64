import { join } from "node:path";
import { expect, test } from "vitest";
import { answerGit } from "../../test/kit/git-answers.ts";
import { git, runGit, workDirectory } from "../../test/kit/real-git.ts";
import { fromUtf8 } from "../base/bytes.ts";
import { receiveAdvertisement, uploadAdvertisement } from "./advertisement.ts";
import { lsRefsAnswer } from "./ls-refs.ts";
import { LsRefsReader } from "./ls-refs-request.ts";
import type { ObjectFormat, Oid } from "./oid.ts";
import type { RefView } from "./ref-lines.ts";
import { EMPTY_REFS } from "./ref-map.ts";
import type { RefName } from "./ref-name.ts";
import { advertisementType, type ProtocolVersion, readProtocolVersion, readService, resultType } from "./service.ts";
import { COMMON, configFlags, FETCH, UPLOAD } from "./settings.ts";

const AGENT = "holdfast/test";
const A = "a".repeat(40) as Oid;
const B = "b".repeat(40) as Oid;
const C = "c".repeat(40) as Oid;
const name = (text: string): RefName => text as RefName;
const view = (
  refs: Readonly<Record<string, Oid>>,
  head = "refs/heads/main",
  peeled = new Map<Oid, Oid>(),
  format: ObjectFormat = "sha1",
): RefView => ({
  refs: { refs: new Map(Object.entries(refs) as [RefName, Oid][]), head: name(head) },
  peeled,
  format,
});

const EMPTY: RefView = { refs: EMPTY_REFS, format: "sha1" };
const ONE = view({ "refs/heads/main": A });
const TAGGED = view({ "refs/tags/v1": B, "refs/heads/main": A, "refs/tags/light": A }, "refs/heads/main", new Map([[B, A]]));
const UNBORN = view({ "refs/heads/next": A }, "refs/heads/main");
const MANY = view(Object.fromEntries(Array.from({ length: 3_000 }, (_, i) => [`refs/heads/ü${i}`, A])), "refs/heads/ü7");
const LONG = view({ "refs/heads/main": "e".repeat(64) as Oid }, "refs/heads/main", new Map(), "sha256");
const VERSIONS = [0, 1, 2] as const;

/** What `git ls-remote` prints of our bytes. */
async function lsRemote(shown: RefView, version: ProtocolVersion, ...args: string[]): Promise<string[]> {
  const seen: string[] = [];
  await using server = await answerGit(({ method, url, protocol, body }) => {
    const asked = readProtocolVersion(protocol);
    seen.push(`${method} ${asked}`);
    if (method === "GET") {
      expect(readService(url.searchParams.get("service") ?? "")).toBe("upload-pack");
      return { type: advertisementType("upload-pack"), body: uploadAdvertisement(shown, AGENT, asked) };
    }
    const step = new LsRefsReader(shown.format).feed(body);
    if (step.kind !== "ls-refs") throw new Error(JSON.stringify(step));
    return { type: resultType("upload-pack"), body: lsRefsAnswer(shown, step.asked) };
  });
  const said = await git([
    ...configFlags(COMMON, FETCH),
    "-c",
    `protocol.version=${version}`,
    "ls-remote",
    "--symref",
    server.url,
    ...args,
  ]);
  expect(seen).toEqual(version === 2 ? ["GET 2", "POST 2"] : [`GET ${version}`]);
  return said === "" ? [] : said.split("\n");
}

/** What it should print: HEAD, then every ref by name with its peeled value behind it. */
function expected(shown: RefView): string[] {
  const head = shown.refs.refs.get(shown.refs.head);
  const lines = head === undefined ? [] : [`ref: ${shown.refs.head}\tHEAD`, `${head}\tHEAD`];
  for (const [ref, oid] of [...shown.refs.refs].sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)))) {
    lines.push(`${oid}\t${ref}`);
    const peeled = shown.peeled?.get(oid);
    if (peeled !== undefined) lines.push(`${peeled}\t${ref}^{}`);
  }
  return lines;
}

test.each(VERSIONS)("grasp.md 7.2, 7.15: git reads our refs in protocol %d", async (version) => {
  for (const shown of [EMPTY, ONE, TAGGED, UNBORN, MANY, LONG]) {
    expect(await lsRemote(shown, version)).toEqual(expected(shown));
  }
});

test("protocol 2 narrows by prefix, and what is left is the same", async () => {
  expect(await lsRemote(TAGGED, 2, "v1")).toEqual([`${B}\trefs/tags/v1`]);
  expect(await lsRemote(TAGGED, 0, "v1")).toEqual([`${B}\trefs/tags/v1`]);
});

test.each([
  ["refs/heads/trunk", 2, "refs/heads/trunk"],
  ["refs/heads/trunk", 0, "refs/heads/mine"],
] as const)("grasp.md 5.5: a clone of an empty repository whose HEAD is %s, in protocol %d, is on %s", async (head, version, branch) => {
  await using dir = await workDirectory();
  const shown: RefView = { ...EMPTY, refs: { refs: new Map(), head: name(head) } };
  await using server = await answerGit(({ method, protocol, body }) => {
    if (method === "GET")
      return { type: advertisementType("upload-pack"), body: uploadAdvertisement(shown, AGENT, readProtocolVersion(protocol)) };
    const step = new LsRefsReader("sha1").feed(body);
    return { type: resultType("upload-pack"), body: step.kind === "ls-refs" ? lsRefsAnswer(shown, step.asked) : new Uint8Array(0) };
  });
  const flags = [...configFlags(COMMON, FETCH), "-c", `protocol.version=${version}`, "-c", "init.defaultBranch=mine"];
  await git([...flags, "clone", "-q", server.url, "clone"], { cwd: dir.path });
  expect(await git(["symbolic-ref", "HEAD"], { cwd: join(dir.path, "clone") })).toBe(branch);
});

/** A repository on disk with branches, an annotated tag, a light one and a ref of an event; and the same as a value. */
async function onDisk(path: string, format: ObjectFormat): Promise<RefView> {
  const cwd = { cwd: path };
  await git(["init", "-q", "--bare", "-b", "main", `--object-format=${format}`, "."], cwd);
  const tree = await git(["mktree"], cwd);
  const commit = await git(["commit-tree", "-m", "first", tree], cwd);
  for (const ref of [
    "refs/heads/main",
    "refs/heads/a-b",
    "refs/heads/a/b",
    "refs/heads/ü",
    "refs/heads/😀",
    "refs/heads/\uffee",
    `refs/nostr/${"1".repeat(64)}`,
  ])
    await git(["update-ref", ref, commit], cwd);
  await git(["tag", "light", commit], cwd);
  await git(["tag", "-a", "-m", "one", "v1", commit], cwd);
  await git(["tag", "-a", "-m", "of a tag", "v2", "v1"], cwd);
  const refs = new Map<RefName, Oid>();
  const peeled = new Map<Oid, Oid>();
  for (const line of (await git(["for-each-ref", "--format=%(refname) %(objectname) %(objecttype)"], cwd)).split("\n")) {
    const [ref = "", oid = "", type] = line.split(" ");
    refs.set(ref as RefName, oid as Oid);
    if (type === "tag") peeled.set(oid as Oid, commit as Oid);
  }
  return { refs: { refs, head: name("refs/heads/main") }, peeled, format };
}

/** Lines of refs, and the capabilities one by one; lengths are left out, since a newer git may offer more. */
function parted(listing: string): { refs: string[]; offered: Set<string> } {
  const offered = new Set((/\0([^\n]*)\n/.exec(listing)?.[1] ?? "").split(" "));
  const refs = listing.replace(/^[0-9a-f]{4}([^\0\n]*)\0[^\n]*\n/m, "$1\n").split("\n");
  return { refs, offered };
}

test.each(["sha1", "sha256"] as const)(
  "grasp.md 7.3: refs are listed as git upload-pack lists them, and nothing is offered that it does not do; %s",
  async (format) => {
    await using dir = await workDirectory();
    const shown = await onDisk(dir.path, format);
    const agent = `git/${(await git(["version"])).split(" ")[2]}`;
    const gitSays = async (version: ProtocolVersion): Promise<string> => {
      const flags = [...configFlags(COMMON, UPLOAD), "upload-pack", "--http-backend-info-refs", "."];
      return (await runGit(flags, { cwd: dir.path, env: { GIT_PROTOCOL: `version=${version}` } })).stdout.toString();
    };
    for (const version of [0, 1] as const) {
      const [header, ours] = (fromUtf8(uploadAdvertisement(shown, agent, version)) ?? "").split(
        /(?<=^001e# service=git-upload-pack\n0000)/,
      );
      expect(header).toBe("001e# service=git-upload-pack\n0000");
      const [mine, its] = [parted(ours ?? ""), parted(await gitSays(version))];
      expect(mine.refs).toEqual(its.refs);
      expect([...mine.offered].filter((word) => !its.offered.has(word))).toEqual([]);
      expect(mine.offered).toContain("symref=HEAD:refs/heads/main");
    }
    const its = new Set((await gitSays(2)).split("\n"));
    expect((fromUtf8(uploadAdvertisement(shown, agent, 2)) ?? "").split("\n").filter((line) => !its.has(line))).toEqual([]);
  },
);

test.each([
  "allow-tip-sha1-in-want",
  "allow-reachable-sha1-in-want",
  "filter",
  "shallow",
  "multi_ack_detailed",
  "side-band-64k",
  "ofs-delta",
  "object-format=sha1",
])("grasp.md 7.3: a fetch is offered %s, from an empty repository too", (word) => {
  for (const shown of [ONE, EMPTY]) expect(parted(fromUtf8(uploadAdvertisement(shown, AGENT, 0)) ?? "").offered).toContain(word);
});

const linesOf = (bytes: Uint8Array): string[] => (fromUtf8(bytes) ?? "").split("\n");
const PUSH = `report-status delete-refs side-band-64k quiet atomic ofs-delta object-format=sha1 agent=${AGENT}`;

test("grasp.md 7.3: a push is offered exactly this, no push options and no push-cert", () => {
  expect(linesOf(receiveAdvertisement(EMPTY, [], AGENT, 0))).toEqual([
    "001f# service=git-receive-pack",
    `000000a3${"0".repeat(40)} capabilities^{}\0${PUSH}`,
    "0000",
  ]);
});

test("a push sees refs without HEAD and without peeled values; version 1 says so, version 2 is answered as 0", () => {
  const lines = [
    "001f# service=git-receive-pack",
    expect.stringContaining(`${A} refs/heads/main\0${PUSH}`),
    `003d${A} refs/tags/light`,
    `003a${B} refs/tags/v1`,
    "0000",
  ];
  expect(linesOf(receiveAdvertisement(TAGGED, [], AGENT, 0))).toEqual(lines);
  expect(linesOf(receiveAdvertisement(TAGGED, [], AGENT, 2))).toEqual(lines);
  expect(linesOf(receiveAdvertisement(TAGGED, [], AGENT, 1))).toEqual([lines[0], "0000000eversion 1", ...lines.slice(1)]);
});

test("grasp.md 7.13: .have lines come last, once each, and not for what a ref shows", () => {
  const lines = linesOf(receiveAdvertisement(ONE, [C, A, C, B], AGENT, 0));
  expect(lines.slice(-3)).toEqual([`0033${C} .have`, `0033${B} .have`, "0000"]);
  expect(lines).toHaveLength(5);
});

test("grasp.md 7.13: git does not send what a .have line names", async () => {
  await using dir = await workDirectory();
  await git(["init", "-q"], { cwd: dir.path });
  for (const message of ["first", "second"]) await git(["commit", "-q", "--allow-empty", "-m", message], { cwd: dir.path });
  const have = (await git(["rev-parse", "HEAD~1"], { cwd: dir.path })) as Oid;
  const objects: number[] = [];
  for (const haves of [[], [have]]) {
    await using server = await answerGit(({ method, body }) => {
      if (method === "GET") return { type: advertisementType("receive-pack"), body: receiveAdvertisement(EMPTY, haves, AGENT, 0) };
      objects.push(body.readUInt32BE(body.indexOf("PACK") + 8));
      return { type: resultType("receive-pack"), body: new Uint8Array(0) };
    });
    await runGit(["-c", "protocol.http.allow=always", "push", server.url, "HEAD:refs/heads/main"], { cwd: dir.path });
  }
  // Two commits with one tree; then the second commit alone.
  expect(objects).toEqual([3, 1]);
});
