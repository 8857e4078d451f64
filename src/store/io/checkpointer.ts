import { Worker } from "node:worker_threads";
import { workerUrl } from "../../base/io/worker-url.ts";
import type { CheckpointDone, CheckpointWorkerData } from "./checkpoint-worker.ts";
import { CHECKPOINT_PAGES, type Connection } from "./sqlite-file.ts";

/** Commits between two looks at the log: a look costs a message to the other thread. */
const LOOK_EVERY_COMMITS = 32;

/**
 * Keeps the log short without making the writer wait: a second thread copies pages back while writing goes on (half of a commit's cost, measured), and
 * only the last few are copied in the writer's own turn, because only then can the log start from its beginning again.
 */
export class Checkpointer implements AsyncDisposable {
  readonly #db: Connection;
  readonly #directory: string;
  #worker: Worker | undefined;
  #commits = 0;
  #busy = false;
  #nearlyDone = false;

  constructor(db: Connection, directory: string) {
    this.#db = db;
    this.#directory = directory;
  }

  /** After a commit, in the writer's turn. */
  committed(): void {
    if (this.#nearlyDone) {
      this.#nearlyDone = false;
      this.#db.pragma("wal_checkpoint(PASSIVE)");
    }
    if (this.#busy || ++this.#commits < LOOK_EVERY_COMMITS) return;
    this.#commits = 0;
    this.#busy = true;
    this.#worker ??= this.#start();
    this.#worker.postMessage("look");
  }

  /** Not before there is something to copy: a store that is only opened needs no second thread. */
  #start(): Worker {
    const data: CheckpointWorkerData = { directory: this.#directory };
    const worker = new Worker(workerUrl(import.meta.url, "checkpoint-worker"), { workerData: data, name: "checkpoint-worker" });
    worker.on("message", (done: CheckpointDone) => this.#onDone(done));
    // Without it the writer copies pages back by itself, later and in larger portions: slower, never wrong.
    worker.on("error", () => undefined);
    worker.unref();
    return worker;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#worker?.terminate();
  }

  #onDone({ log, copied }: CheckpointDone): void {
    this.#busy = false;
    this.#nearlyDone = log >= CHECKPOINT_PAGES && log - copied < CHECKPOINT_PAGES;
  }
}
