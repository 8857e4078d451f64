import { Worker } from "node:worker_threads";
import { workerUrl } from "../../base/io/worker-url.ts";
import type { UnixSeconds } from "../../base/time.ts";
import type { Filter } from "../../nostr/filter.ts";
import type { FromReader, Reconciled, ToReader } from "../reader-messages.ts";
import type { ReaderWorkerData } from "./reader-worker.ts";

export interface Counted {
  readonly count: number;
  readonly hll: string | undefined;
}

/** Long reads, done elsewhere. */
export class ReaderThread implements AsyncDisposable {
  readonly #worker: Worker;
  readonly #counts = new Map<number, (counted: Counted | undefined) => void>();
  readonly #sessions = new Map<number, (outcome: Reconciled) => void>();
  #next = 1;
  #stopping = false;

  private constructor(worker: Worker, died: (error: Error) => void) {
    this.#worker = worker;
    worker.on("message", (message: FromReader) => this.#onMessage(message));
    worker.on("error", (error) => died(error instanceof Error ? error : new Error(String(error))));
    worker.on("exit", () => {
      if (!this.#stopping) died(new Error("the thread reader-worker ended"));
    });
  }

  static async start(data: ReaderWorkerData, died: (error: Error) => void): Promise<ReaderThread> {
    const worker = new Worker(workerUrl(import.meta.url, "reader-worker"), { workerData: data, name: "reader-worker" });
    await new Promise((resolve, reject) => {
      worker.once("message", resolve);
      worker.once("error", reject);
    });
    return new ReaderThread(worker, died);
  }

  count(filters: readonly Filter[], now: UnixSeconds): Promise<Counted | undefined> {
    const ticket = this.#next++;
    return new Promise((resolve) => {
      this.#counts.set(ticket, resolve);
      this.#post({ kind: "count", ticket, filters, now });
    });
  }

  /** Opens a session; `done` is called for each of its messages. */
  open(done: (outcome: Reconciled) => void): number {
    const session = this.#next++;
    this.#sessions.set(session, done);
    return session;
  }

  reconcile(session: number, filter: Filter | undefined, message: string, now: UnixSeconds): void {
    this.#post({ kind: "reconcile", session, filter, message, now });
  }

  end(session: number): void {
    if (this.#sessions.delete(session)) this.#post({ kind: "end", session });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping = true;
    await this.#worker.terminate();
  }

  #post(message: ToReader): void {
    this.#worker.postMessage(message);
  }

  #onMessage(message: FromReader): void {
    if (message.kind === "reconciled") {
      this.#sessions.get(message.session)?.(message.outcome);
      if (message.outcome.kind !== "reply") this.#sessions.delete(message.session);
    } else if (message.kind !== "started") {
      this.#counts.get(message.ticket)?.(message.kind === "counted" ? message : undefined);
      this.#counts.delete(message.ticket);
    }
  }
}
