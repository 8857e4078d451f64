import type { Writable } from "node:stream";
import type { Clock } from "../../base/clock.ts";
import { type Fault, faultOf } from "../../base/fault.ts";
import type { ProtocolVersion } from "../service.ts";
import { UPLOAD } from "../settings.ts";
import { type GitProcesses, type RunningGit, untilEnd } from "./git-process.ts";
import { pour, slowClient } from "./pour.ts";

export interface FetchRequest {
  readonly gitDir: string;
  readonly version: ProtocolVersion;
  /** The body of the POST, inflated. */
  readonly body: AsyncIterable<Uint8Array>;
  readonly address?: string;
  /** Aborted when the client is gone. */
  readonly signal?: AbortSignal;
}

export interface FetchEnd {
  readonly bytesIn: number;
  readonly bytesOut: number;
  /** Absent when everything went out and git ended with 0. A client that asks for what we do not have ends git with 128, after an `ERR` line. */
  readonly fault: Fault | undefined;
  readonly stderr: string;
}

/** grasp.md 7.16: 10 min without progress. */
const SILENCE_MS = 600_000;

/** One POST of a fetch: git reads its body and writes its answer, both at once and neither faster than the other end. */
export class UploadPack {
  readonly #git: RunningGit;
  readonly #clock: Clock;
  readonly #request: FetchRequest;

  private constructor(git: RunningGit, clock: Clock, request: FetchRequest) {
    this.#git = git;
    this.#clock = clock;
    this.#request = request;
  }

  /** Waits for a place among the git processes; a `FaultError` (busy, aborted) comes while the door can still say 503. */
  static async start(processes: GitProcesses, clock: Clock, request: FetchRequest): Promise<UploadPack> {
    const { gitDir, version, address, signal } = request;
    const git = await processes.start({
      args: ["upload-pack", "--stateless-rpc", "--strict", gitDir],
      settings: UPLOAD,
      env: version === 0 ? {} : { GIT_PROTOCOL: `version=${version}` },
      purpose: "fetch",
      silenceMs: SILENCE_MS,
      ...(address === undefined ? {} : { address }),
      ...(signal === undefined ? {} : { signal }),
    });
    return new UploadPack(git, clock, request);
  }

  /** Sends the answer and leaves `output` open, so that the door decides how to end it. Never rejects. */
  async sendTo(output: Writable): Promise<FetchEnd> {
    const fed = this.#pour(this.#request.body, this.#git.stdin, "source").then((poured) => {
      this.#git.stdin.end();
      return poured;
    });
    const sent = await this.#pour(this.#git.stdout as AsyncIterable<Uint8Array>, output, "sink");
    // A client that takes no more, or sends no more, ends git; a git that reads no more has said what it had to say.
    if (sent.fault) this.#git.kill(sent.fault);
    const { fault, stderr } = await this.#git.ended;
    const { bytes: bytesIn } = await fed;
    return { bytesIn, bytesOut: sent.bytes, fault: fault ?? sent.fault, stderr };
  }

  async #pour(
    from: AsyncIterable<Uint8Array>,
    to: Writable,
    client: "source" | "sink",
  ): Promise<{ bytes: number; fault: Fault | undefined }> {
    const signal = client === "source" ? untilEnd(this.#git, this.#request.signal) : this.#request.signal;
    let bytes = 0;
    const onChunk = (chunk: Uint8Array): void => void (bytes += chunk.length);
    try {
      await pour(from, to, { clock: this.#clock, slow: slowClient(client), onChunk, ...(signal === undefined ? {} : { signal }) });
      return { bytes, fault: undefined };
    } catch (error) {
      const fault = faultOf(error);
      if (client === "source" && !this.#git.stdin.destroyed) this.#git.kill(fault);
      return { bytes, fault };
    }
  }
}
