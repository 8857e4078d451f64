import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type GitDoor, openGitDoor, servedView } from "../../../test/kit/git-door.ts";
import { commit, GitRig, git as gitNow } from "../../../test/kit/git-rig.ts";
import { git, runGit } from "../../../test/kit/real-git.ts";
import type { Oid } from "../../git/oid.ts";

const VERSIONS = [0, 1, 2] as const;
const PULL = `refs/nostr/${"1".repeat(64)}`;

let rig: GitRig;
let door: GitDoor;
let source: string;
const tips = {} as Record<"first" | "main" | "side" | "pull" | "dangling", Oid>;

beforeAll(async () => {
  rig = await GitRig.open();
  source = rig.path("full");
  gitNow(["init", "-q", "--bare", "-b", "main", source], { cwd: rig.directory });
  tips.first = commit(source, "one");
  const second = commit(source, "two", [tips.first]);
  tips.main = commit(source, "three", [second]);
  tips.side = commit(source, "side", [tips.first]);
  tips.pull = commit(source, "pull", [tips.main]);
  tips.dangling = commit(source, "dangling", [tips.first]);
  const refs = { "refs/heads/main": tips.main, "refs/heads/side": tips.side, [PULL]: tips.pull, "refs/holdfast/kept": tips.first };
  for (const [name, oid] of Object.entries(refs)) gitNow(["update-ref", name, oid], { cwd: source });
  gitNow(["tag", "light", tips.first], { cwd: source });
  gitNow(["tag", "-a", "-m", "release", "v1", tips.main], { cwd: source });

  const many = rig.path("many");
  gitNow(["init", "-q", "--bare", "-b", "main", many], { cwd: rig.directory });
  const tip = commit(many, "many");
  const lines = ["main", ...Array.from({ length: 3_000 }, (_, n) => `topic/${n}`)].map((name) => `create refs/heads/${name} ${tip}\n`);
  gitNow(["update-ref", "--stdin"], { cwd: many, input: lines.join("") });

  const long = rig.path("long");
  gitNow(["init", "-q", "--bare", "-b", "main", "--object-format=sha256", long], { cwd: rig.directory });
  gitNow(["update-ref", "refs/heads/main", commit(long, "long")], { cwd: long });

  const views = {
    full: await servedView(source),
    many: await servedView(many),
    long: await servedView(long, "sha256"),
    "emoji 😀.x": await servedView(source),
    empty: { kind: "empty" },
  } as const;
  door = await openGitDoor({ views, processes: rig.processes, clock: rig.clock });
});
afterAll(async () => {
  await door[Symbol.asyncDispose]();
  await rig[Symbol.asyncDispose]();
});

let clones = 0;
const speaking = (version: number): string[] => ["-c", `protocol.version=${version}`];
/** Clones and returns where to. */
async function clone(version: number, name: string, ...args: string[]): Promise<string> {
  const to = rig.path(`clone-${clones++}`);
  await git([...speaking(version), "clone", "-q", ...args, door.url(name), to]);
  return to;
}
const inside = (cwd: string, ...args: string[]): Promise<string> => git(args, { cwd });
async function emptyClient(): Promise<string> {
  const to = rig.path(`client-${clones++}`);
  await git(["init", "-q", to]);
  return to;
}

it.each(VERSIONS)("grasp.md 7.2: ls-remote in protocol %d shows what git itself shows, without the refs of our own", async (version) => {
  const own = gitNow(["ls-remote", "--symref", source], { cwd: source })
    .split("\n")
    .filter((line) => !line.includes("refs/holdfast/"));
  expect(own).toContain(`${tips.main}\trefs/tags/v1^{}`);
  expect((await git([...speaking(version), "ls-remote", "--symref", door.url("full")])).split("\n")).toEqual(own);
});

it.each(VERSIONS)("grasp.md 7.2: a clone in protocol %d, and a fetch of what came later", async (version) => {
  const to = await clone(version, "full");
  expect(await inside(to, "rev-parse", "HEAD", "origin/side", "light", "v1^{}")).toBe(
    [tips.main, tips.side, tips.first, tips.main].join("\n"),
  );
  expect(await inside(to, "symbolic-ref", "HEAD")).toBe("refs/heads/main");
  await inside(to, "fsck", "--strict");
  await git([...speaking(version), "fetch", "-q", "origin", `${PULL}:refs/heads/pull`], { cwd: to });
  expect(await inside(to, "rev-parse", "pull")).toBe(tips.pull);
  expect(door.asked).toContain(`POST git-upload-pack ${version}`);
});

it.each(VERSIONS)("grasp.md 7.3: shallow in protocol %d, and deepened", async (version) => {
  const to = await clone(version, "full", "--depth=1");
  expect(await inside(to, "rev-list", "--count", "HEAD")).toBe("1");
  await git([...speaking(version), "fetch", "-q", "--deepen=1"], { cwd: to });
  expect(await inside(to, "rev-list", "--count", "HEAD")).toBe("2");
  await git([...speaking(version), "fetch", "-q", "--unshallow"], { cwd: to });
  expect(await inside(to, "rev-list", "--count", "HEAD")).toBe("3");
});

it.each(VERSIONS.flatMap((version) => [["blob:none", version] as const, ["tree:0", version] as const]))(
  "grasp.md 7.3: --filter=%s in protocol %d leaves out, and brings later what is needed",
  async (filter, version) => {
    const to = await clone(version, "full", "--bare", `--filter=${filter}`);
    const missing = (await inside(to, "rev-list", "--objects", "--missing=print", "--all")).split("\n").filter((l) => l.startsWith("?"));
    expect(missing.length).toBeGreaterThanOrEqual(4);
    // This client, unlike git as the server runs it, goes and gets what is missing.
    const shown = await git([...speaking(version), "show", `${tips.main}:file`], { cwd: to, env: { GIT_NO_LAZY_FETCH: "0" } });
    expect(shown).toBe("three");
  },
);

it.each(VERSIONS.flatMap((version) => [["tip", version] as const, ["reachable commit", version] as const]))(
  "grasp.md 7.3: a %s is fetched by its id in protocol %d",
  async (what, version) => {
    const wanted = what === "tip" ? tips.pull : tips.first;
    const to = await emptyClient();
    await git([...speaking(version), "fetch", "-q", door.url("full"), wanted], { cwd: to });
    expect(await inside(to, "rev-parse", "FETCH_HEAD")).toBe(wanted);
  },
);

it.each(VERSIONS)("grasp.md 7.11: what is not here stays an ERR on 200 in protocol %d", async (version) => {
  for (const name of ["full", "empty"]) {
    const to = await emptyClient();
    const wanted = "d".repeat(40);
    const run = await runGit([...speaking(version), "fetch", "-q", door.url(name), wanted], { cwd: to });
    expect(run.code).not.toBe(0);
    // git of protocol 0 and 1 does not even ask a server without refs.
    if (name === "full" || version === 2) expect(run.stderr).toContain(`remote error: upload-pack: not our ref ${wanted}`);
  }
});

it.each([0, 1] as const)("grasp.md 7.10: what no ref reaches is not fetched by its id in protocol %d", async (version) => {
  const run = await runGit([...speaking(version), "fetch", "-q", door.url("full"), tips.dangling], { cwd: await emptyClient() });
  expect(run.stderr).toContain(`not our ref ${tips.dangling}`);
});

it.each(VERSIONS)("grasp.md 5.5: a clone of an announcement that waits is empty, in protocol %d", async (version) => {
  const to = await clone(version, "empty");
  expect(await inside(to, "symbolic-ref", "HEAD")).toBe("refs/heads/master");
  expect(await inside(to, "for-each-ref")).toBe("");
});

it.each(VERSIONS)("many refs in protocol %d", async (version) => {
  const to = await clone(version, "many");
  expect((await inside(to, "for-each-ref", "refs/remotes/origin/topic")).split("\n").length).toBe(3_000);
});

it.each(VERSIONS)("one branch of many, asked for by its name in protocol %d", async (version) => {
  const line = await git([...speaking(version), "ls-remote", door.url("many"), "refs/heads/topic/7"]);
  expect(line).toMatch(/^[0-9a-f]{40}\trefs\/heads\/topic\/7$/);
});

it.each(VERSIONS)("SHA-256 in protocol %d", async (version) => {
  const to = await clone(version, "long");
  expect((await inside(to, "rev-parse", "HEAD")).length).toBe(64);
});

it("grasp.md 7.1: any identifier", async () => {
  expect(await inside(await clone(2, "emoji 😀.x"), "rev-parse", "HEAD")).toBe(tips.main);
});

it("grasp.md 7.11: an unknown repository is not found, and git says so", async () => {
  const run = await runGit(["clone", "-q", door.url("other"), join(rig.directory, "other")]);
  expect(run.stderr).toContain("There is no such repository here.");
  expect(run.stderr).toContain("not found");
});

it.each([0, 2] as const)("grasp.md 7.2: a large request comes gzip'd or in chunks, in protocol %d", async (version) => {
  const to = await clone(version, "many");
  // Ten thousand commits that the server does not know: `have` lines, in several rounds.
  const lines = ["reset refs/heads/other\n"];
  for (let n = 1; n <= 10_000; n++) lines.push(`commit refs/heads/other\nmark :${n}\ncommitter a <a@b> ${n} +0000\ndata 1\nx\n`);
  await git(["fast-import", "--quiet"], { cwd: to, input: lines.join("") });
  for (const buffer of ["65536", "1048576"]) {
    const wanted = commit(rig.path("many"), `later ${version} ${buffer}`);
    gitNow(["update-ref", "refs/heads/later", wanted], { cwd: rig.path("many") });
    const flags = ["-c", `http.postBuffer=${buffer}`, "-c", "fetch.negotiationAlgorithm=consecutive"];
    await git([...flags, ...speaking(version), "fetch", "-q", door.url("many"), wanted], { cwd: to });
    expect(await inside(to, "rev-parse", "FETCH_HEAD")).toBe(wanted);
  }
  expect(door.asked).toContain(`POST git-upload-pack ${version} gzip`);
  if (version === 2) expect(door.asked).toContain("POST git-upload-pack 2 chunked");
  expect(door.faults).toEqual([]);
});
