import type { Clock } from "../../base/clock.ts";
import { type Fault, faultOf } from "../../base/fault.ts";
import { RECEIVE_LIMITS, ReceiveReader, type ReceiveStep } from "../../git/receive-request.ts";
import type { GitAnswer } from "../git-answer.ts";
import * as answers from "../git-answer.ts";
import type { GitReport } from "../ports.ts";
import { PUSH_TOO_LONG, PUSHES_BUSY, TOO_MANY_PUSHES } from "../push-answer.ts";
import type { PushHost } from "../push-ports.ts";
import { RequestCount } from "../request-count.ts";
import type { GitHandler } from "./git-handler.ts";
import { Push } from "./push.ts";
import { PUSH_LIMITS, type PushLimits } from "./push-limits.ts";
import { PushReply } from "./push-reply.ts";
import { type BodyProblem, RequestBody } from "./request-body.ts";
import { readHead } from "./request-head.ts";
import { writeAnswer } from "./write-answer.ts";

export interface PushOptions {
  readonly host: PushHost;
  readonly clock: Clock;
  readonly report: GitReport;
  readonly limits?: PushLimits;
}

/** The pack has its own limit, which tells more; this one ends what goes on behind it. */
const bodyBytesMax = ({ packBytesMax }: PushLimits): number => packBytesMax + RECEIVE_LIMITS.bytesMax + 128 * 1024 * 1024;

/** `POST …/git-receive-pack`. */
export function pushEndpoint({ host, clock, report, limits = PUSH_LIMITS }: PushOptions): GitHandler {
  const requests = new RequestCount(limits.perAddressMax);
  return async (request, response, { repo }, { limitKey: address }) => {
    const leave = requests.enter(address);
    if (leave === undefined) return writeAnswer(request, response, TOO_MANY_PUSHES);
    const body = new RequestBody(request, bodyBytesMax(limits));
    const gone = new AbortController();
    response.once("close", () => gone.abort());
    if (response.destroyed) gone.abort();
    using reply = new PushReply(request, response, clock);
    const push = new Push({ host, clock, limits, repo, address, body, reply, signal: gone.signal });
    try {
      if (body.problem !== undefined) return reply.send(answers.UNKNOWN_ENCODING);
      if (request.headers.expect?.toLowerCase() === "100-continue") response.writeContinue();
      const reader = new ReceiveReader();
      const { found } = await readHead(body, { clock, signal: gone.signal }, (chunk) => lookAt(reader, chunk));
      await push.answer(found ?? reader.end());
    } catch (error) {
      const hasVanished = gone.signal.aborted || (request.destroyed && !request.complete);
      if (hasVanished && !push.hasBegunToMove) return;
      const answer = refusalFor(faultOf(error), body.problem);
      if (answer === answers.FAILED) report.fault("git-receive-pack", error);
      // grasp.md 7.12: once refs may have moved, nobody is told that they have not.
      if (push.hasBegunToMove) reply.cut();
      else reply.send(answer);
    } finally {
      body.release();
      leave();
    }
  };
}

function lookAt(reader: ReceiveReader, chunk: Uint8Array | undefined): ReceiveStep | "undecided" {
  const step = chunk === undefined ? reader.end() : reader.feed(chunk);
  return step.kind === "more" ? "undecided" : step;
}

function refusalFor(fault: Fault, problem: BodyProblem | undefined): GitAnswer {
  if (problem === "too-long") return PUSH_TOO_LONG;
  if (problem === "malformed") return answers.BROKEN_BODY;
  if (fault.kind === "busy") return PUSHES_BUSY;
  return fault.kind === "timeout" ? answers.TOO_SLOW : answers.FAILED;
}
