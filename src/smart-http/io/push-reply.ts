import type { IncomingMessage, ServerResponse } from "node:http";
import type { Clock } from "../../base/clock.ts";
import { plus } from "../../base/time.ts";
import { type AnswerForm, progressLine } from "../../git/report-status.ts";
import type { GitAnswer } from "../git-answer.ts";
import { PUSH_HEADERS, pushed } from "../push-answer.ts";
import { writeAnswer } from "./write-answer.ts";

/** grasp.md 7.12. Proxies and people give up on a connection that says nothing. */
const LINE_MS = 5_000;

/** The answer to a push: a line now and then while it is worked on, then one report, or a stream that is cut. */
export class PushReply implements Disposable {
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #clock: Clock;
  #cancel: (() => void) | undefined;
  #text = "Working.";

  constructor(request: IncomingMessage, response: ServerResponse, clock: Clock) {
    this.#request = request;
    this.#response = response;
    this.#clock = clock;
  }

  /** From now on a status can no longer be chosen. */
  get isBegun(): boolean {
    return this.#response.headersSent;
  }

  /** Lines go out only while the client listens: not before its own body is over, and only where it has a band for them. */
  keepTelling(form: AnswerForm, isListening: () => boolean): void {
    if (!form.sideBand64k || this.#cancel !== undefined) return;
    const arm = (): void => {
      this.#cancel = this.#clock.at(plus(this.#clock.now(), LINE_MS), () => {
        if (isListening()) this.#line(progressLine(this.#text, form));
        arm();
      });
    };
    arm();
  }

  /** What the next lines say. */
  tell(text: string): void {
    this.#text = text;
  }

  send(answer: GitAnswer): void {
    this[Symbol.dispose]();
    if (this.isBegun) this.cut();
    else writeAnswer(this.#request, this.#response, answer);
  }

  report(body: Uint8Array, isRefused: boolean): void {
    this[Symbol.dispose]();
    if (this.isBegun) return void this.#response.end(body);
    // grasp.md 7.11: a refused push is drained, answered, closed.
    if (isRefused) this.#response.setHeader("Connection", "close");
    writeAnswer(this.#request, this.#response, pushed(body));
  }

  /** grasp.md 7.12: without a report. The head is sent, so that no client takes it for a connection that failed and sends everything again. */
  cut(): void {
    this[Symbol.dispose]();
    if (this.#response.destroyed) return;
    this.#begin();
    this.#response.flushHeaders();
    this.#response.destroy();
  }

  [Symbol.dispose](): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #line(bytes: Uint8Array): void {
    if (this.#response.destroyed) return;
    this.#begin();
    this.#response.write(bytes);
  }

  #begin(): void {
    if (this.isBegun) return;
    this.#response.statusCode = 200;
    for (const [name, value] of PUSH_HEADERS) this.#response.setHeader(name, value);
    this.#response.setHeader("Connection", "close");
  }
}
