import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { runs } from "../../test/kit/arbitrary/runs.ts";
import { answerGit } from "../../test/kit/git-answers.ts";
import { git, runGit, workDirectory } from "../../test/kit/real-git.ts";
import { fromUtf8, toUtf8 } from "../base/bytes.ts";
import { receiveAdvertisement } from "./advertisement.ts";
import type { ObjectFormat } from "./oid.ts";
import { FLUSH, PktDecoder, pktText } from "./pkt-line.ts";
import { ReceiveReader, type ReceiveRequest, type ReceiveStep } from "./receive-request.ts";
import { EMPTY_REFS } from "./ref-map.ts";
import { reportStatus } from "./report-status.ts";
import { advertisementType, resultType } from "./service.ts";

function read(body: Uint8Array): ReceiveStep {
  const reader = new ReceiveReader();
  const step = reader.feed(body);
  return step.kind === "more" ? reader.end() : step;
}

/** What a real push sends; everything is answered `ok`. */
async function capture(
  format: ObjectFormat,
  cwd: string,
  args: readonly string[],
): Promise<{ request: ReceiveRequest; rest: Uint8Array }[]> {
  const pushes: { request: ReceiveRequest; rest: Uint8Array }[] = [];
  await using server = await answerGit(({ method, body }) => {
    if (method === "GET") {
      return { type: advertisementType("receive-pack"), body: receiveAdvertisement({ refs: EMPTY_REFS, format }, [], "holdfast/test", 0) };
    }
    const step = read(body);
    if (step.kind !== "request") throw new Error(JSON.stringify(step));
    pushes.push(step);
    const results = step.request.commands.map(({ ref }) => ({ kind: "ok" as const, ref }));
    return { type: resultType("receive-pack"), body: reportStatus({ unpackError: undefined, results }, step.request.capabilities) };
  });
  await git(["-c", "protocol.http.allow=always", "push", ...args.map((arg) => (arg === "URL" ? server.url : arg))], { cwd });
  return pushes;
}

test.each(["sha1", "sha256"] as const)("grasp.md 7.4: a real push of %s is read", async (format) => {
  await using dir = await workDirectory();
  await git(["init", "-q", `--object-format=${format}`], { cwd: dir.path });
  await git(["commit", "-q", "--allow-empty", "-m", "first"], { cwd: dir.path });
  const oid = await git(["rev-parse", "HEAD"], { cwd: dir.path });
  const [push] = await capture(format, dir.path, ["--atomic", "URL", "HEAD:refs/heads/ünï", "HEAD:refs/tags/v1"]);
  expect(push?.request).toMatchObject({
    commands: [
      { ref: "refs/heads/ünï", from: undefined, to: oid },
      { ref: "refs/tags/v1", from: undefined, to: oid },
    ],
    capabilities: { reportStatus: true, sideBand64k: true, atomic: true, objectFormat: format, agent: expect.stringMatching(/^git\//) },
    shallow: [],
  });
  expect(fromUtf8((push?.rest ?? new Uint8Array(0)).subarray(0, 4))).toBe("PACK");
});

test("grasp.md 7.4: a real push from a shallow clone has its shallow lines before the commands", async () => {
  await using dir = await workDirectory();
  const [origin, clone] = [join(dir.path, "origin"), join(dir.path, "clone")];
  await git(["init", "-q", "origin"], { cwd: dir.path });
  for (const message of ["first", "second"]) await git(["commit", "-q", "--allow-empty", "-m", message], { cwd: origin });
  await git(["-c", "protocol.file.allow=always", "clone", "-q", "--depth=1", `file://${origin}`, clone], { cwd: dir.path });
  await git(["commit", "-q", "--allow-empty", "-m", "third"], { cwd: clone });
  const [push] = await capture("sha1", clone, ["URL", "HEAD:refs/heads/main", "HEAD:refs/heads/next"]);
  expect(push?.request.shallow).toEqual([await git(["rev-parse", "HEAD~1"], { cwd: clone })]);
  expect(push?.request.capabilities.reportStatus).toBe(true);
  expect(push?.request.commands.map(({ ref }) => ref)).toEqual(["refs/heads/main", "refs/heads/next"]);
});

/** The refs of git's own report, in order; `undefined` when git refuses the list. */
async function gitReads(repository: string, body: Uint8Array): Promise<string[] | undefined> {
  const { code, stdout } = await runGit(["receive-pack", "--stateless-rpc", repository], { input: body });
  if (code !== 0) return undefined;
  const decoder = new PktDecoder();
  decoder.feed(stdout);
  const refs: string[] = [];
  for (let pkt = decoder.next(); pkt?.kind === "data"; pkt = decoder.next()) {
    const [, ref] = /^(?:ok|ng) (\S+)/.exec(fromUtf8(pkt.data) ?? "") ?? [];
    if (ref !== undefined) refs.push(ref);
  }
  return refs;
}

test("grasp.md 7.4: what is accepted here, git reads as the same commands", async () => {
  await using dir = await workDirectory();
  const repository = join(dir.path, "r.git");
  await git(["init", "-q", "--bare", repository]);
  const [id, zero] = ["a".repeat(40), "0".repeat(40)];
  const piece = fc.constantFrom("a", "b", "/", ".", "@", "{", "~", " ", "\t", "\n", "\0", "é", "refs/heads/", "x.lock", "-");
  const tail = fc.array(piece, { maxLength: 3 }).map((pieces) => pieces.join(""));
  // Deletes, so that no pack is needed.
  const line = fc
    .tuple(fc.constantFrom("refs/heads/", "refs/tags/"), fc.constantFrom("a", "b", "c", "d"), tail)
    .map(([folder, name, end]) => `${id} ${zero} ${folder}${name}${end}`);
  const seen = { accepted: 0, refused: 0 };
  await fc.assert(
    fc.asyncProperty(fc.array(line, { minLength: 1, maxLength: 3 }), async (lines) => {
      const body = toUtf8(
        lines.map((text, i) => pktText(i === 0 && !text.includes("\0") ? `${text}\0report-status` : text)).join("") + FLUSH,
      );
      const step = read(body);
      if (step.kind !== "request") {
        seen.refused++;
        return;
      }
      if (!step.request.capabilities.reportStatus) return;
      seen.accepted++;
      expect(await gitReads(repository, body)).toEqual(step.request.commands.map(({ ref }) => ref));
    }),
    runs(120),
  );
  expect(seen.accepted).toBeGreaterThan(15);
  expect(seen.refused).toBeGreaterThan(15);
});
