import { concatBytes } from "../../base/bytes.ts";
import type { Clock } from "../../base/clock.ts";
import { FaultError } from "../../base/fault.ts";
import { type Instant, plus } from "../../base/time.ts";
import type { ObjectFormat } from "../../git/oid.ts";
import { receiveProblemText } from "../../git/receive-problem.ts";
import type { ReceiveRequest, ReceiveStep } from "../../git/receive-request.ts";
import { type AnswerForm, authorisationFailed, type PushReport, progressLine, reportStatus } from "../../git/report-status.ts";
import type { RepoId } from "../../grasp/repo-id.ts";
import { judgePush, type PushVerdict } from "../../policy/push-policy.ts";
import { NOT_FOUND } from "../git-answer.ts";
import { pushed } from "../push-answer.ts";
import type { Arrival, PushHost, UnsignedTip } from "../push-ports.ts";
import * as steps from "../push-steps.ts";
import { drain, PackSource } from "./push-body.ts";
import type { PushLimits } from "./push-limits.ts";
import type { PushReply } from "./push-reply.ts";
import type { RequestBody } from "./request-body.ts";

export interface PushContext {
  readonly host: PushHost;
  readonly clock: Clock;
  readonly limits: PushLimits;
  readonly repo: RepoId;
  readonly address: string | undefined;
  readonly body: RequestBody;
  readonly reply: PushReply;
  /** Aborted when the client is gone. */
  readonly signal: AbortSignal;
}

/** grasp.md 7.12: counted from when the refs moved. */
const SETTLE_MS = 60_000;

interface Received {
  readonly arrival: Arrival;
  readonly unsigned: readonly UnsignedTip[];
}

/** What came of it; only a push that was not refused can have released events. */
type PushEnd = steps.RefuseStep | { readonly kind: "done"; readonly report: PushReport };

const done = (report: PushReport): PushEnd => ({ kind: "done", report });

/** grasp.md 7.11. A client that wants no report must not take its silence for success. */
function refusal({ report, hint }: steps.RefuseStep, form: AnswerForm): Uint8Array {
  const reason = report.unpackError ?? report.results.find((result) => result.kind === "ng")?.reason ?? steps.REASONS.changedMeanwhile;
  const last = form.reportStatus ? reportStatus(report, form) : authorisationFailed(reason, form.sideBand64k);
  return concatBytes([progressLine(hint, form), last]);
}

/** One push, from its command list to its answer. */
export class Push {
  readonly #context: PushContext;
  #hasBegunToMove = false;
  #movedAt: Instant | undefined;

  constructor(context: PushContext) {
    this.#context = context;
  }

  /** From then on it is finished whether or not its client is still there, and a failure leaves open how far it came. */
  get hasBegunToMove(): boolean {
    return this.#hasBegunToMove;
  }

  async answer(step: ReceiveStep): Promise<void> {
    const { host, repo, address, body, clock, reply, signal } = this.#context;
    switch (step.kind) {
      case "more":
        throw new FaultError({ kind: "protocol", what: "a command list without an end" });
      case "probe": {
        const facts = await host.facts(repo, [], address);
        return reply.send(facts === undefined ? NOT_FOUND : pushed(new Uint8Array(0)));
      }
      case "problem": {
        await drain(body, clock, signal);
        return reply.report(authorisationFailed(receiveProblemText(step.problem), step.sideBand64k), true);
      }
      case "request":
        return this.#answerRequest(step.request, step.rest);
    }
  }

  async #answerRequest(request: ReceiveRequest, rest: Uint8Array): Promise<void> {
    const { host, repo, address, body, reply, limits } = this.#context;
    const facts = await host.facts(repo, request.commands, address);
    if (facts === undefined) return reply.send(NOT_FOUND);
    reply.keepTelling(request.capabilities, () => body.isOver);
    const verdict = judgePush(request.commands, facts);
    const first = steps.firstStep(verdict, facts, await host.hasDiskReserve(), limits);
    const format = steps.formatFor(facts, request.capabilities.objectFormat);
    const end = await this.#carryOut(first, verdict, format, rest);
    const form = request.capabilities;
    if (end.kind === "refuse") {
      await this.#drain();
      reply.report(refusal(end, form), true);
    } else if (await this.#settle()) reply.report(reportStatus(end.report, form), false);
    else reply.cut();
  }

  #drain(): Promise<void> {
    const { body, clock, signal } = this.#context;
    return drain(body, clock, signal);
  }

  async #carryOut(first: steps.FirstStep, verdict: PushVerdict, format: ObjectFormat, rest: Uint8Array): Promise<PushEnd> {
    switch (first.kind) {
      case "refuse":
        return first;
      case "answer":
        await this.#drain();
        return done(first.report);
      case "delete":
        await this.#drain();
        return this.#inLane(verdict, undefined);
      case "receive": {
        const { host, repo, address } = this.#context;
        // Gone before the answer is: what was not wanted is not there any more when the client hears of it.
        await using arrival = await host.open(repo, { format, address, unsigned: first.unsigned });
        const refusal = await this.#receive(arrival, verdict, first.packBytesMax, rest);
        return refusal === undefined ? await this.#inLane(verdict, { arrival, unsigned: first.unsigned }) : refusal;
      }
    }
  }

  /** grasp.md 7.10: outside the lane, so a client that drips holds up nobody. */
  async #receive(arrival: Arrival, verdict: PushVerdict, packBytesMax: number, rest: Uint8Array): Promise<steps.RefuseStep | undefined> {
    const { host, clock, limits, address, body, reply, signal } = this.#context;
    const { objectsMax, silenceMs } = limits;
    const source = new PackSource(body, rest, { clock, signal, silenceMs, hasDiskReserve: () => host.hasDiskReserve() });
    reply.tell("Checking the objects.");
    try {
      const received = await arrival.receive(source, { signal, address, packBytesMax, objectsMax, silenceMs });
      // git ends with the pack, perhaps before the body does; and a client that still sends does not listen yet.
      if (received.kind !== "refused") await this.#drain();
      else return steps.refuse(steps.refuseAll(verdict, steps.REASONS.unpack, received.detail));
    } catch (error) {
      if (source.isReserveReached) return steps.refuse(steps.refuseAll(verdict, steps.REASONS.diskReserve));
      throw error;
    }
    const problems = await arrival.problems(steps.tipsOf(verdict));
    return problems.length === 0 ? undefined : steps.refuse(steps.refuseTips(verdict, problems));
  }

  #inLane(before: PushVerdict, received: Received | undefined): Promise<PushEnd> {
    const { host, repo, reply, signal } = this.#context;
    reply.tell("Waiting for another change of this repository.");
    return host.inLane(repo, () => this.#change(before, received), signal);
  }

  /** Under the lock: the verdict once more, since the world went on while the pack arrived. */
  async #change(before: PushVerdict, received: Received | undefined): Promise<PushEnd> {
    const { host, repo, address, signal } = this.#context;
    const commands = before.refs.map(({ update }) => update);
    const facts = await host.facts(repo, commands, address);
    if (facts === undefined) return steps.refuse(steps.refuseAll(before, steps.REASONS.changedMeanwhile));
    const verdict = judgePush(commands, facts);
    const step = steps.laneStep(verdict, facts, received);
    if (step.kind === "refuse") return step;
    if (step.kind === "answer") return done(step.report);
    if (!(await host.hasDiskReserve())) return steps.refuse(steps.refuseAll(verdict, steps.REASONS.diskReserve));
    if (received !== undefined) {
      const refusal = await this.#keep(received.arrival, verdict, step);
      if (refusal !== undefined) return steps.refuse(refusal);
    }
    signal.throwIfAborted();
    return this.#move(verdict, step);
  }

  /** Puts the objects where they stay. No ref leads to them yet, so a push that ends here has changed nothing that anybody sees. */
  async #keep(arrival: Arrival, verdict: PushVerdict, { tips, unsigned }: steps.ApplyStep): Promise<PushReport | undefined> {
    if (!(await arrival.isStillConnected([...tips, ...unsigned.map(({ tip }) => tip)])))
      return steps.refuseAll(verdict, steps.REASONS.incomplete);
    this.#context.signal.throwIfAborted();
    for (const tip of unsigned) {
      const reason = await arrival.stage(tip);
      if (reason !== undefined) return steps.refuseStaging(verdict, tip, reason);
    }
    if (tips.length > 0) await arrival.migrate(tips);
    return undefined;
  }

  async #move(verdict: PushVerdict, { updates, records }: steps.ApplyStep): Promise<PushEnd> {
    const { host, repo, clock } = this.#context;
    if (updates.length === 0) return done(steps.reportOf(verdict));
    this.#hasBegunToMove = true;
    // grasp.md 6.7: before the refs, so that no settlement in between, or after a crash, takes them back.
    if (records.length > 0) await host.recordOverlay(records);
    const outcome = await host.moveRefs(repo, updates);
    this.#movedAt = clock.now();
    const report = steps.reportAfter(verdict, outcome);
    return outcome.kind === "applied" ? done(report) : steps.refuse(report);
  }

  /** grasp.md 7.12: true when the events that it released can be queried; false when nobody knows. */
  async #settle(): Promise<boolean> {
    const { host, repo, clock, reply } = this.#context;
    // Also where the refs were as asked already: somebody else's push may be the one that fails now.
    this.#hasBegunToMove = true;
    reply.tell("Waiting until the events of this push can be queried.");
    const late = Promise.withResolvers<boolean>();
    const cancel = clock.at(plus(this.#movedAt ?? clock.now(), SETTLE_MS), () => late.resolve(false));
    try {
      return await Promise.race([host.settle(repo.identifier).then(() => true), late.promise]);
    } finally {
      cancel();
    }
  }
}
