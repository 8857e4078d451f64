import type { IncomingMessage } from "node:http";
import { createGunzip, type Gunzip } from "node:zlib";
import { FaultError, faultOf } from "../../base/fault.ts";
import { discard } from "./write-answer.ts";

/** A body that cannot be used, and whose fault it is: always the client's. */
export type BodyProblem = "encoding" | "too-long" | "malformed";

/** A request's body, inflated as it comes and never held (grasp.md 7.2). What is read counts, so a small body that inflates without end is stopped as early as a long one. */
export class RequestBody implements AsyncIterable<Uint8Array> {
  readonly #request: IncomingMessage;
  readonly #bytesMax: number;
  readonly #gunzip: Gunzip | undefined;
  readonly #chunks: AsyncIterator<Uint8Array> | undefined;
  #bytes = 0;
  #isOver = false;
  #problem: BodyProblem | undefined;

  constructor(request: IncomingMessage, bytesMax: number) {
    this.#request = request;
    this.#bytesMax = bytesMax;
    const encoding = (request.headers["content-encoding"] ?? "identity").trim().toLowerCase();
    // The request outlives its reader: destroying it would take the answer along.
    if (encoding === "identity") this.#chunks = request.iterator({ destroyOnReturn: false });
    else if (encoding === "gzip" || encoding === "x-gzip") {
      const gunzip = createGunzip();
      this.#gunzip = gunzip;
      request.once("close", this.#onClose);
      this.#chunks = request.pipe(gunzip)[Symbol.asyncIterator]();
    } else this.#problem = "encoding";
  }

  get problem(): BodyProblem | undefined {
    return this.#problem;
  }
  get isOver(): boolean {
    return this.#isOver;
  }

  /** The next bytes, `undefined` at the end. Fails with a `FaultError`; where the client is to blame, `problem` says for what. */
  async next(): Promise<Uint8Array | undefined> {
    try {
      const { done, value } = (await this.#chunks?.next()) ?? { done: true, value: undefined };
      if (done === true) {
        this.#isOver = true;
        return undefined;
      }
      this.#bytes += value.length;
      if (this.#bytes <= this.#bytesMax) return value;
      this.#problem = "too-long";
    } catch (error) {
      const fault = faultOf(error);
      if (this.#gunzip !== undefined && fault.kind === "protocol") this.#problem = "malformed";
      throw new FaultError(fault);
    }
    throw new FaultError({ kind: "protocol", what: "body too long" });
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for (let chunk = await this.next(); chunk !== undefined; chunk = await this.next()) yield chunk;
  }

  /** Nobody reads it any more. */
  release(): void {
    this.#request.off("close", this.#onClose);
    if (this.#gunzip !== undefined) this.#request.unpipe(this.#gunzip);
    this.#gunzip?.on("error", () => undefined).destroy();
    void Promise.resolve(this.#chunks?.return?.()).catch(() => undefined);
    discard(this.#request);
  }

  /** A pipe does not tell its end that the beginning is gone. */
  readonly #onClose = (): void => {
    if (!this.#request.readableEnded) this.#gunzip?.destroy(new FaultError({ kind: "closed", code: "ECONNRESET" }));
  };
}
