import { expect, test } from "vitest";
import { answerGit } from "../../test/kit/git-answers.ts";
import { git, runGit, workDirectory } from "../../test/kit/real-git.ts";
import { concatBytes } from "../base/bytes.ts";
import { receiveAdvertisement } from "./advertisement.ts";
import { ReceiveReader, type ReceiveRequest } from "./receive-request.ts";
import { EMPTY_REFS } from "./ref-map.ts";
import { authorisationFailed, progressLine, reportStatus } from "./report-status.ts";
import { advertisementType, resultType } from "./service.ts";

/** What `git push` of two branches says to an answer, and how it ends. */
async function push(
  answer: (request: ReceiveRequest) => Uint8Array,
  without: string[] = [],
): Promise<{ code: number | null; said: string }> {
  await using dir = await workDirectory();
  await git(["init", "-q"], { cwd: dir.path });
  await git(["commit", "-q", "--allow-empty", "-m", "first"], { cwd: dir.path });
  await using server = await answerGit(({ method, body }) => {
    if (method === "GET") {
      const advertised = Buffer.from(receiveAdvertisement({ refs: EMPTY_REFS, format: "sha1" }, [], "holdfast/test", 0)).toString();
      // Blanked, not cut out: the length of the line stays what it says.
      const offered = without.reduce((text, word) => text.replace(word, " ".repeat(word.length)), advertised);
      return { type: advertisementType("receive-pack"), body: Buffer.from(offered) };
    }
    const step = new ReceiveReader().feed(body);
    if (step.kind !== "request") throw new Error(JSON.stringify(step));
    return { type: resultType("receive-pack"), body: answer(step.request) };
  });
  const run = await runGit(["-c", "protocol.http.allow=always", "push", server.url, "HEAD:refs/heads/a", "HEAD:refs/heads/b"], {
    cwd: dir.path,
  });
  return { code: run.code, said: run.stderr };
}

const refused = ({ commands, capabilities }: ReceiveRequest): Uint8Array =>
  concatBytes([
    progressLine("the state of alice expects another value", capabilities),
    reportStatus(
      {
        unpackError: undefined,
        results: commands.map(({ ref }, i) => (i === 0 ? { kind: "ok", ref } : { kind: "ng", ref, reason: "no state\nnames it" })),
      },
      capabilities,
    ),
  ]);

test("grasp.md 7.11: git shows the reason behind the ref that was refused, and the hint", async () => {
  const { code, said } = await push(refused);
  expect(code).toBe(1);
  expect(said).toContain("remote: the state of alice expects another value");
  expect(said).toMatch(/\* \[new branch\] +HEAD -> a\n/);
  expect(said).toMatch(/! \[remote rejected\] HEAD -> b \(no state names it\)/);
});

test("grasp.md 7.11: without a side-band git reads the same report", async () => {
  const { code, said } = await push(refused, ["side-band-64k"]);
  expect(code).toBe(1);
  expect(said).not.toContain("remote:");
  expect(said).toMatch(/! \[remote rejected\] HEAD -> b \(no state names it\)/);
});

test("all is well", async () => {
  const { code, said } = await push(({ commands, capabilities }) =>
    reportStatus({ unpackError: undefined, results: commands.map(({ ref }) => ({ kind: "ok", ref })) }, capabilities),
  );
  expect(said).toMatch(/HEAD -> b\n/);
  expect(code).toBe(0);
});

test("a pack that could not be taken", async () => {
  const { code, said } = await push(({ commands, capabilities }) =>
    reportStatus(
      { unpackError: "the pack is too large", results: commands.map(({ ref }) => ({ kind: "ng", ref, reason: "unpacker error" })) },
      capabilities,
    ),
  );
  expect(code).toBe(1);
  expect(said).toContain("the pack is too large");
  expect(said).toMatch(/! \[remote rejected\] HEAD -> a \(unpacker error\)/);
});

test.each([
  ["inside band 3", []],
  ["bare", ["side-band-64k"]],
])("grasp.md 7.11: an ERR answer %s is shown and fails the push", async (_, without) => {
  const { code, said } = await push(({ capabilities }) => authorisationFailed("no state names it", capabilities.sideBand64k), without);
  expect(code).not.toBe(0);
  expect(said).toContain("authorisation failed: no state names it");
  expect(said).not.toContain("bad band");
});
