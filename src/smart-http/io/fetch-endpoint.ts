import type { IncomingMessage, ServerResponse } from "node:http";
import type { Clock } from "../../base/clock.ts";
import { type Fault, FaultError, faultOf } from "../../base/fault.ts";
import type { GitProcesses } from "../../git/io/git-process.ts";
import { UploadPack } from "../../git/io/upload-pack.ts";
import { lsRefsAnswer } from "../../git/ls-refs.ts";
import { LsRefsReader, type V2Step } from "../../git/ls-refs-request.ts";
import type { RefView } from "../../git/ref-lines.ts";
import { errLine } from "../../git/report-status.ts";
import { type ProtocolVersion, readProtocolVersion, resultType } from "../../git/service.ts";
import { emptyFetchAnswer } from "../empty-fetch.ts";
import type { GitAnswer } from "../git-answer.ts";
import * as answers from "../git-answer.ts";
import type { ClientAddress, GitReport, Repositories, RepoView } from "../ports.ts";
import { shownRefs } from "../repo-view.ts";
import { RequestCount } from "../request-count.ts";
import type { GitHandler } from "./git-handler.ts";
import { headerText } from "./info-refs.ts";
import { type BodyProblem, RequestBody } from "./request-body.ts";
import { readHead } from "./request-head.ts";
import { writeAnswer } from "./write-answer.ts";

export interface FetchLimits {
  /** Inflated: half a million `want` and `have` lines, more than the largest fetch in use, and less than a small body that inflates without end. */
  readonly bodyBytesMax: number;
  /** Running and waiting: below what one address may have waiting for a git process, so that it is told 429 before anybody else is told 503. */
  readonly perAddressMax: number;
}

export const FETCH_LIMITS: FetchLimits = { bodyBytesMax: 32 * 1024 * 1024, perAddressMax: 64 };

export interface FetchOptions {
  readonly repositories: Repositories;
  readonly processes: GitProcesses;
  readonly clock: Clock;
  readonly report: GitReport;
  readonly limits?: FetchLimits;
}

interface Asked {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly body: RequestBody;
  readonly view: RepoView;
  readonly address: ClientAddress;
  /** Aborted when the client is gone: then git's process group is killed (grasp.md 7.2). */
  readonly signal: AbortSignal;
}

/** `POST …/git-upload-pack`. */
export function fetchEndpoint(options: FetchOptions): GitHandler {
  const limits = options.limits ?? FETCH_LIMITS;
  const requests = new RequestCount(limits.perAddressMax);
  return async (request, response, path, address) => {
    const leave = requests.enter(address.limitKey);
    if (leave === undefined) return writeAnswer(request, response, answers.TOO_MANY);
    const body = new RequestBody(request, limits.bodyBytesMax);
    const gone = new AbortController();
    response.once("close", () => gone.abort());
    if (response.destroyed) gone.abort();
    let answer: GitAnswer | undefined;
    try {
      const view = options.repositories.view(path.repo, options.clock.now());
      answer = await answerFetch(options, { request, response, body, view, address, signal: gone.signal });
    } catch (error) {
      answer = refusalFor(faultOf(error), body.problem);
      if (answer === answers.FAILED && !gone.signal.aborted) options.report.fault("git-upload-pack", error);
    } finally {
      body.release();
      leave();
    }
    if (answer === undefined) response.end();
    // Half an answer must not look like a whole one.
    else if (response.headersSent) response.destroy();
    else writeAnswer(request, response, answer);
  };
}

/** The answer, or `undefined` when git has given it already. */
async function answerFetch(options: FetchOptions, asked: Asked): Promise<GitAnswer | undefined> {
  const { request, response, body, view } = asked;
  const shown = shownRefs(view);
  if (shown === undefined) return answers.NOT_FOUND;
  if (body.problem === "encoding") return answers.UNKNOWN_ENCODING;
  if (request.headers.expect?.toLowerCase() === "100-continue") response.writeContinue();
  const version = readProtocolVersion(headerText(request.headers["git-protocol"]));
  const reader = version === 2 ? new LsRefsReader(shown.format) : undefined;
  const head = await readHead(body, { clock: options.clock, signal: asked.signal }, (chunk) => lookAt(reader, chunk));
  if (head.found !== undefined) return answers.fetched(fromMemory(shown, head.found));
  if (view.kind !== "served") return answers.fetched(emptyFetchAnswer(head.chunks));
  return serve(options, asked, version, view.directory, head.chunks);
}

type MemoryStep = Exclude<V2Step, { kind: "more" | "other" }>;

/** Only protocol 2 asks for refs here, and says so in its first line. */
function lookAt(reader: LsRefsReader | undefined, chunk: Uint8Array | undefined): MemoryStep | "undecided" | "other" {
  if (reader === undefined) return "other";
  const step = chunk === undefined ? reader.end() : reader.feed(chunk);
  if (step.kind === "more") return "undecided";
  return step.kind === "other" ? "other" : step;
}

/** grasp.md 7.15. */
function fromMemory(shown: RefView, step: MemoryStep): Uint8Array {
  switch (step.kind) {
    case "ls-refs":
      return lsRefsAnswer(shown, step.asked);
    case "nothing":
      return new Uint8Array(0);
    case "problem":
      return errLine(step.text, false);
  }
}

/** Everything else is git's to answer. */
async function serve(
  { processes, clock, report }: FetchOptions,
  { response, body, address, signal }: Asked,
  version: ProtocolVersion,
  gitDir: string,
  head: readonly Uint8Array[],
): Promise<GitAnswer | undefined> {
  const by = address.limitKey === undefined ? {} : { address: address.limitKey };
  const git = await UploadPack.start(processes, clock, { gitDir, version, body: whole(head, body), signal, ...by });
  // They leave with git's first bytes; until then another answer can still be given.
  for (const [name, value] of answers.gitHeaders(resultType("upload-pack"))) response.setHeader(name, value);
  const { fault, stderr, bytesOut } = await git.sendTo(response);
  if (fault === undefined) return undefined;
  if (fault.kind !== "git-exit" || fault.code === undefined) throw new FaultError(fault);
  report.gitExit("upload-pack", fault.code, stderr);
  // grasp.md 7.11: `ERR upload-pack: not our ref` stays a line on 200, and git has written it; where it wrote nothing, we say as much as we know.
  return bytesOut > 0 ? undefined : answers.fetched(errLine("upload-pack: the request could not be answered", false));
}

async function* whole(head: readonly Uint8Array[], rest: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* head;
  yield* rest;
}

function refusalFor(fault: Fault, problem: BodyProblem | undefined): GitAnswer {
  switch (problem) {
    case "encoding":
      return answers.UNKNOWN_ENCODING;
    case "too-long":
      return answers.TOO_LONG;
    case "malformed":
      return answers.BROKEN_BODY;
    case undefined:
      if (fault.kind === "busy") return answers.BUSY;
      return fault.kind === "timeout" ? answers.TOO_SLOW : answers.FAILED;
  }
}
