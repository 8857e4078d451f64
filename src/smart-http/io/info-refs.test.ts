import { afterAll, beforeAll, expect, it } from "vitest";
import { type GitDoor, openGitDoor } from "../../../test/kit/git-door.ts";
import { GitRig } from "../../../test/kit/git-rig.ts";
import { receiveAdvertisement, uploadAdvertisement } from "../../git/advertisement.ts";
import type { Oid } from "../../git/oid.ts";
import { EMPTY_REFS } from "../../git/ref-map.ts";
import type { RefName } from "../../git/ref-name.ts";
import type { RepoView } from "../ports.ts";
import { shownRefs } from "../repo-view.ts";

const A = "a".repeat(40) as Oid;
const B = "b".repeat(40) as Oid;
const AGENT = "holdfast/test";
const FULL: RepoView = {
  kind: "served",
  refs: { refs: new Map([["refs/heads/main" as RefName, A]]), head: "refs/heads/main" as RefName },
  peeled: new Map(),
  format: "sha1",
  // Refs come from memory: nothing is there.
  directory: "/nowhere",
  haves: [B],
};

let rig: GitRig;
let door: GitDoor;
beforeAll(async () => {
  rig = await GitRig.open();
  door = await openGitDoor({ views: { full: FULL, empty: { kind: "empty" } }, processes: rig.processes, clock: rig.clock });
});
afterAll(async () => {
  await door[Symbol.asyncDispose]();
  await rig[Symbol.asyncDispose]();
});

const ask = (name: string, query: string, init: RequestInit = {}): Promise<Response> => fetch(`${door.url(name)}/info/refs${query}`, init);
const UPLOAD = "?service=git-upload-pack";
const RECEIVE = "?service=git-receive-pack";
const protocol = (value: string): RequestInit => ({ headers: { "Git-Protocol": value } });
const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString();

it.each([
  ["no header", undefined, 0],
  ["version=1", "version=1", 1],
  ["version=2", "version=2", 2],
  ["the highest that is known counts", "version=1:version=2:version=9", 2],
  ["other keys are none of ours", "x=y:version=2", 2],
  ["no version", "version=02", 0],
  ["two headers in one", "version=2, version=2", 0],
  ["too long", `${"x".repeat(300)}:version=2`, 0],
] as const)("grasp.md 7.2, 7.15: refs for a fetch, without git: %s", async (_, header, version) => {
  const answer = await ask("full", UPLOAD, header === undefined ? {} : protocol(header));
  expect(answer.status).toBe(200);
  expect(answer.headers.get("content-type")).toBe("application/x-git-upload-pack-advertisement");
  expect(answer.headers.get("cache-control")).toBe("no-cache");
  const view = shownRefs(FULL);
  expect(await answer.text()).toBe(view && text(uploadAdvertisement(view, AGENT, version)));
  expect(rig.helper.pid).toBeUndefined();
});

it.each([0, 1, 2] as const)("grasp.md 7.3, 7.13: refs for a push in protocol %d, with the tips that need not be sent", async (version) => {
  const answer = await ask("full", RECEIVE, protocol(`version=${version}`));
  expect(answer.headers.get("content-type")).toBe("application/x-git-receive-pack-advertisement");
  const view = shownRefs(FULL);
  const body = await answer.text();
  expect(body).toBe(view && text(receiveAdvertisement(view, [B], AGENT, version)));
  expect(body).toContain(`${B} .have`);
});

it.each([UPLOAD, RECEIVE])("grasp.md 5.5: an announcement that waits answers as an empty repository: %s", async (query) => {
  const answer = await ask("empty", query);
  expect(answer.status).toBe(200);
  const view = { refs: EMPTY_REFS, format: "sha1" } as const;
  const bytes = query === UPLOAD ? uploadAdvertisement(view, AGENT, 0) : receiveAdvertisement(view, [], AGENT, 0);
  expect(await answer.text()).toBe(text(bytes));
});

it("grasp.md 2.1: HEAD says what GET says, without the body", async () => {
  const [get, head] = await Promise.all([ask("full", UPLOAD), ask("full", UPLOAD, { method: "HEAD" })]);
  const body = await get.text();
  expect(head.status).toBe(200);
  expect(head.headers.get("content-type")).toBe(get.headers.get("content-type"));
  expect(head.headers.get("content-length")).toBe(String(body.length));
  expect(await head.text()).toBe("");
});

it.each(["", "?service=", "?service=git-upload-archive", `${UPLOAD}&service=git-receive-pack`])(
  "grasp.md 7.1: without one service it is 403 with a sentence: %j",
  async (query) => {
    const answer = await ask("full", query);
    expect(answer.status).toBe(403);
    expect(await answer.text()).toMatch(/^Only git's smart protocol .*\.\n$/);
  },
);

it("grasp.md 7.11: an unknown repository is 404, in words that git shows", async () => {
  const answer = await ask("other", UPLOAD);
  expect([answer.status, answer.headers.get("content-type")]).toEqual([404, "text/plain; charset=utf-8"]);
  expect(await answer.text()).toBe("There is no such repository here.\n");
});

it.each(["POST", "PUT", "DELETE"])("grasp.md 7.11: refs are not for %s", async (method) => {
  const answer = await ask("full", UPLOAD, { method });
  expect([answer.status, answer.headers.get("allow")]).toEqual([405, "GET, HEAD, OPTIONS"]);
});
