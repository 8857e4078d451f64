import { Worker } from "node:worker_threads";
import { workerUrl } from "../../base/io/worker-url.ts";
import type { UnixSeconds } from "../../base/time.ts";
import type { Filter } from "../../nostr/filter.ts";
import { filterBytes } from "../../nostr/filter-limits.ts";
import type { FromReader, Reconciled, ToReader } from "../reader-messages.ts";
import { type ReaderJob, ReaderQueue } from "../reader-queue.ts";
import type { ReaderWorkerData } from "./reader-worker.ts";

export interface Counted {
  readonly count: number;
  readonly hll: string | undefined;
}

type Job = ReaderJob & { readonly message: Exclude<ToReader, { kind: "end" }> };

interface Session {
  readonly lane: number;
  readonly done: (outcome: Reconciled) => void;
  /** The thread has heard of it. */
  begun: boolean;
}

/** More lanes than there may be connections. */
const LANES_MAX = 1_000_000;

/** Long reads, done elsewhere. A lane is whose they are. */
export class ReaderThread implements AsyncDisposable {
  readonly #worker: Worker;
  readonly #queue = new ReaderQueue<Job>(LANES_MAX);
  readonly #counts = new Map<number, (counted: Counted | "busy" | undefined) => void>();
  readonly #sessions = new Map<number, Session>();
  /** By ticket or session: whose job the thread has. */
  readonly #running = new Map<number, number>();
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

  /** `busy`: this lane has too much waiting already. Nothing: the store could not be read. */
  count(lane: number, filters: readonly Filter[], now: UnixSeconds): Promise<Counted | "busy" | undefined> {
    const ticket = this.#next++;
    const bytes = filters.reduce((sum, filter) => sum + filterBytes(filter), 0);
    return new Promise((resolve) => {
      if (!this.#queue.push(lane, { bytes, message: { kind: "count", ticket, filters, now } })) return resolve("busy");
      this.#counts.set(ticket, resolve);
      this.#pump();
    });
  }

  /** Opens a session; `done` is called for each of its messages. */
  open(lane: number, done: (outcome: Reconciled) => void): number {
    const session = this.#next++;
    this.#sessions.set(session, { lane, done, begun: false });
    return session;
  }

  reconcile(session: number, filter: Filter | undefined, message: string, now: UnixSeconds): void {
    const known = this.#sessions.get(session);
    if (known === undefined) return;
    const bytes = message.length + (filter === undefined ? 0 : filterBytes(filter));
    if (this.#queue.push(known.lane, { bytes, message: { kind: "reconcile", session, filter, message, now } })) this.#pump();
    else known.done({ kind: "busy" });
  }

  /** What still waits of it is not done any more. */
  end(session: number): void {
    const known = this.#sessions.get(session);
    if (known === undefined) return;
    this.#sessions.delete(session);
    if (known.begun) this.#post({ kind: "end", session });
  }

  /** Nobody is there any more to hear what this lane asked for. */
  leave(lane: number): void {
    for (const { message } of this.#queue.drop(lane)) if (message.kind === "count") this.#counts.delete(message.ticket);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping = true;
    await this.#worker.terminate();
  }

  #pump(): void {
    for (let next = this.#queue.take(); next !== undefined; next = this.#queue.take()) {
      const { message } = next.job;
      const session = message.kind === "reconcile" ? this.#sessions.get(message.session) : undefined;
      if (message.kind === "reconcile" && session === undefined) {
        this.#queue.done(next.lane);
        continue;
      }
      if (session !== undefined) session.begun = true;
      this.#running.set(message.kind === "count" ? message.ticket : message.session, next.lane);
      this.#post(message);
    }
  }

  /** The thread is done with one. */
  #finished(number: number): void {
    const lane = this.#running.get(number);
    if (lane === undefined) return;
    this.#running.delete(number);
    this.#queue.done(lane);
    this.#pump();
  }

  #post(message: ToReader): void {
    this.#worker.postMessage(message);
  }

  #onMessage(message: FromReader): void {
    if (message.kind === "started") return;
    if (message.kind === "reconciled") {
      this.#finished(message.session);
      this.#tell(message.session, message.outcome);
    } else if (message.kind === "evicted") {
      this.#tell(message.session, { kind: "evicted" });
    } else {
      this.#finished(message.ticket);
      this.#counts.get(message.ticket)?.(message.kind === "counted" ? message : undefined);
      this.#counts.delete(message.ticket);
    }
  }

  #tell(session: number, outcome: Reconciled): void {
    const known = this.#sessions.get(session);
    if (outcome.kind !== "reply") this.#sessions.delete(session);
    known?.done(outcome);
  }
}
