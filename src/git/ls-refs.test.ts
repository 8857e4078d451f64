import fc from "fast-check";
import { expect, test } from "vitest";
import { runs } from "../../test/kit/arbitrary/runs.ts";
import { git, runGit, workDirectory } from "../../test/kit/real-git.ts";
import { fromUtf8, toUtf8 } from "../base/bytes.ts";
import { lsRefsAnswer, prefixTest } from "./ls-refs.ts";
import { LsRefsReader, type V2Step } from "./ls-refs-request.ts";
import type { Oid } from "./oid.ts";
import { DELIM, FLUSH, pktText } from "./pkt-line.ts";
import type { RefView } from "./ref-lines.ts";
import type { RefName } from "./ref-name.ts";
import { COMMON, configFlags, UPLOAD } from "./settings.ts";

const lines = (...texts: string[]): string => texts.map(pktText).join("");
const CAPABILITIES = lines("agent=git/2.39.5", "object-format=sha1");
const request = (...args: string[]): string => lines("command=ls-refs\n") + CAPABILITIES + DELIM + lines(...args) + FLUSH;

function read(body: string | Uint8Array): V2Step {
  const reader = new LsRefsReader("sha1");
  const step = reader.feed(typeof body === "string" ? toUtf8(body) : body);
  return step.kind === "more" ? reader.end() : step;
}

test("a request is read, however it is cut", () => {
  const bytes = toUtf8(request("peel\n", "symrefs", "unborn", "ref-prefix refs/heads/", "ref-prefix HEAD"));
  const asked = { peel: true, symrefs: true, unborn: true, prefixes: ["refs/heads/", "HEAD"] };
  expect(read(bytes)).toEqual({ kind: "ls-refs", asked });
  const reader = new LsRefsReader("sha1");
  const steps = [...bytes].map((byte) => reader.feed(Uint8Array.of(byte)));
  expect(steps.pop()).toEqual({ kind: "ls-refs", asked });
  expect(new Set(steps.map(({ kind }) => kind))).toEqual(new Set(["more"]));
});

test("without arguments there is no delimiter", () => {
  const asked = { peel: false, symrefs: false, unborn: false, prefixes: [] };
  expect(read(lines("command=ls-refs") + FLUSH)).toEqual({ kind: "ls-refs", asked });
});

test("other commands are git's to answer, from their first line", () => {
  expect(read(lines("command=fetch"))).toEqual({ kind: "other", command: "fetch" });
  expect(read(lines("agent=git/2"))).toEqual({ kind: "other", command: "unknown" });
  expect(read(lines(`command=${"x".repeat(99)}`))).toEqual({ kind: "other", command: "unknown" });
  expect(read(FLUSH)).toEqual({ kind: "nothing" });
});

test.each([
  ["another object format", lines("command=ls-refs", "object-format=sha256") + FLUSH, "the repository's object format is sha1"],
  ["an unknown capability", lines("command=ls-refs", "hello") + FLUSH, "unknown capability"],
  ["an unknown argument", request("hello"), "unexpected line"],
  ["a prefix without its space", request("ref-prefix"), "unexpected line"],
  ["a second delimiter", lines("command=ls-refs") + DELIM + DELIM + FLUSH, "the request is not made of pkt-lines"],
  ["a delimiter first", DELIM, "the request is not made of pkt-lines"],
  ["no pkt-lines", "hello", "the request is not made of pkt-lines"],
  ["no end", lines("command=ls-refs"), "the request ends before its flush"],
  ["nothing", "", "the request ends before its flush"],
])("%s is refused", (_, body, text) => {
  expect(read(body)).toEqual({ kind: "problem", text: `upload-pack: ${text}` });
});

test("with too many prefixes nothing is left out; with too many bytes nothing is answered", () => {
  const prefixes = (count: number): V2Step => read(request(...Array.from({ length: count }, (_, i) => `ref-prefix refs/heads/${i}`)));
  expect(prefixes(4_096)).toMatchObject({ asked: { prefixes: { length: 4_096 } } });
  expect(prefixes(4_097)).toMatchObject({ asked: { prefixes: [] } });
  expect(read(request(...Array.from({ length: 70 }, () => `ref-prefix ${"x".repeat(65_000)}`)))).toMatchObject({
    kind: "problem",
    text: "upload-pack: the request is too long",
  });
});

test("any bytes are answered without a throw", () => {
  const piece = fc.constantFrom(
    lines("command=ls-refs"),
    CAPABILITIES,
    DELIM,
    FLUSH,
    lines("peel"),
    lines("ref-prefix a"),
    "0002",
    "0003",
    "zz",
  );
  const body = fc.oneof(
    fc.uint8Array({ maxLength: 60 }),
    fc.array(piece, { maxLength: 6 }).map((pieces) => toUtf8(pieces.join(""))),
  );
  fc.assert(
    fc.property(body, (bytes) => {
      expect(["ls-refs", "other", "nothing", "problem"]).toContain(read(bytes).kind);
    }),
    runs(1_000),
  );
});

test("the quick search for a prefix finds what looking at each finds", () => {
  const word = fc.string({ unit: fc.constantFrom("a", "b", "/", "é", "😀"), maxLength: 5 });
  fc.assert(
    fc.property(fc.array(word, { maxLength: 8 }), word, (prefixes, name) => {
      expect(prefixTest(prefixes)(name)).toBe(prefixes.length === 0 || prefixes.some((prefix) => name.startsWith(prefix)));
    }),
    runs(2_000),
  );
});

/** What each wants, and what git says to it. */
const ASKED = [
  [],
  ["peel"],
  ["symrefs"],
  ["unborn"],
  ["peel", "symrefs", "unborn"],
  ["peel", "symrefs", "unborn", "ref-prefix HEAD"],
  ["symrefs", "ref-prefix refs/tags/", "ref-prefix refs/tags/v1"],
  ["ref-prefix refs/heads/a", "ref-prefix refs/heads/a/b"],
  ["ref-prefix nothing"],
];

test.each(["born", "unborn", "empty"])("grasp.md 7.15: answers from memory are git's, byte by byte; HEAD %s", async (kind) => {
  await using dir = await workDirectory();
  const cwd = { cwd: dir.path };
  const head = kind === "born" ? "refs/heads/a" : "refs/heads/later";
  await git(["init", "-q", "--bare", "."], cwd);
  await git(["symbolic-ref", "HEAD", head], cwd);
  const commit = await git(["commit-tree", "-m", "first", await git(["mktree"], cwd)], cwd);
  const refs = new Map<RefName, Oid>();
  const peeled = new Map<Oid, Oid>();
  if (kind !== "empty") {
    for (const ref of ["refs/heads/a", "refs/heads/b/c", "refs/tags/light"]) {
      await git(["update-ref", ref, commit], cwd);
      refs.set(ref as RefName, commit as Oid);
    }
    await git(["tag", "-a", "-m", "one", "v1", commit], cwd);
    const tag = (await git(["rev-parse", "v1"], cwd)) as Oid;
    refs.set("refs/tags/v1" as RefName, tag);
    peeled.set(tag, commit as Oid);
  }
  const view: RefView = { refs: { refs, head: head as RefName }, peeled, format: "sha1" };
  for (const args of ASKED) {
    const body = request(...args);
    const run = await runGit([...configFlags(COMMON, UPLOAD), "upload-pack", "--stateless-rpc", "."], {
      ...cwd,
      env: { GIT_PROTOCOL: "version=2" },
      input: body,
    });
    const step = read(body);
    if (step.kind !== "ls-refs") throw new Error(JSON.stringify(step));
    expect(fromUtf8(lsRefsAnswer(view, step.asked))).toBe(run.stdout.toString());
  }
});
