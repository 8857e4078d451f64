import fc from "fast-check";
import { expect, test } from "vitest";
import { runs } from "../../test/kit/arbitrary/runs.ts";
import { runGit } from "../../test/kit/real-git.ts";
import { isBranch, isTag, nostrRefId, readRefName } from "./ref-name.ts";

const gitTakes = async (name: string): Promise<boolean> => (await runGit(["check-ref-format", name])).code === 0;

const TAKEN = [
  "refs/heads/main",
  "refs/heads/a/b/c",
  "refs/heads/-dash",
  "refs/heads/a.b",
  "refs/heads/a./b",
  "refs/heads/@",
  "refs/heads/a@b",
  "refs/heads/{",
  "refs/heads/a{b}",
  "refs/heads/lock",
  "refs/heads/a.locked",
  "refs/heads/a.LOCK",
  "refs/heads/ünï/😀",
  "refs/heads/no-break\u00a0space",
  "refs/heads/$(id)",
  "refs/heads/'\"`;&|<>",
  "refs/tags/v1.0",
  "refs/anything",
  `refs/nostr/${"a".repeat(64)}`,
];
const REFUSED = [
  "refs/",
  "refs//heads",
  "refs/heads/",
  "refs/heads//a",
  "refs/heads/a/",
  "refs/heads/.a",
  "refs/heads/a/.b",
  "refs/heads/a.",
  "refs/heads/a..b",
  "refs/heads/..",
  "refs/heads/a.lock",
  "refs/heads/a.lock/b",
  "refs/heads/a@{b",
  "refs/heads/a b",
  "refs/heads/a\tb",
  "refs/heads/a\nb",
  "refs/heads/a\r",
  "refs/heads/a\u0001",
  "refs/heads/a\u007f",
  "refs/heads/a~1",
  "refs/heads/a^",
  "refs/tags/v1^{}",
  "refs/heads/a:b",
  "refs/heads/a?",
  "refs/heads/*",
  "refs/heads/a[b",
  "refs/heads/a\\b",
];

test.each(TAKEN)("%s is a ref name, and git says so", async (name) => {
  expect(readRefName(name)).toBe(name);
  expect(await gitTakes(name)).toBe(true);
});

test.each(REFUSED)("%j is no ref name, and git says so", async (name) => {
  expect(readRefName(name)).toBeUndefined();
  expect(await gitTakes(name)).toBe(false);
});

test.each([
  ["not below refs/", "heads/main"],
  ["HEAD itself", "HEAD"],
  ["a NUL, which no argument can carry", "refs/heads/a\0b"],
  ["half a character", "refs/heads/\ud83d"],
  ["a part that is too long for a file with its .lock", `refs/heads/${"a".repeat(241)}`],
  ["the same in bytes", `refs/heads/${"ü".repeat(121)}`],
])("%s is refused here, whatever git says", (_, name) => {
  expect(readRefName(name)).toBeUndefined();
});

test("the longest part is taken", () => {
  const name = `refs/heads/${"a".repeat(240)}`;
  expect(readRefName(name)).toBe(name);
});

test("grasp.md 6.4: random names are taken exactly when git takes them", async () => {
  const piece = fc.constantFrom(
    "a",
    "b",
    "/",
    ".",
    "..",
    "@",
    "{",
    "@{",
    ".lock",
    "lock",
    "~",
    "^",
    ":",
    "?",
    "*",
    "[",
    "\\",
    " ",
    "\t",
    "-",
    "é",
    "😀",
    "]",
    "}",
  );
  const name = fc.array(piece, { minLength: 1, maxLength: 6 }).map((pieces) => `refs/heads/${pieces.join("")}`);
  await fc.assert(
    fc.asyncProperty(name, async (text) => {
      expect(readRefName(text) !== undefined).toBe(await gitTakes(text));
    }),
    runs(150),
  );
});

test("branches, tags and refs of events are told by their folder, which is not itself one", () => {
  expect([isBranch("refs/heads/a"), isBranch("refs/heads/"), isBranch("refs/heads"), isBranch("refs/tags/a")]).toEqual([
    true,
    false,
    false,
    false,
  ]);
  expect([isTag("refs/tags/a"), isTag("refs/tags/"), isTag("refs/heads/a")]).toEqual([true, false, false]);
});

test("grasp.md 7.9: refs/nostr/ is followed by 64 lower-case hex digits and nothing else", () => {
  const id = "0a".repeat(32);
  expect(nostrRefId(`refs/nostr/${id}`)).toBe(id);
  for (const other of [id.toUpperCase(), id.slice(1), `${id}0`, `${id}\n`, `${id}/a`, ""]) {
    expect(nostrRefId(`refs/nostr/${other}`)).toBeUndefined();
  }
});
