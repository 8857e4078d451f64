import { FaultError } from "../fault.ts";

interface Job {
  start(): Promise<void>;
}

/** Keyed serial queues: one task at a time per key, keys beside each other; a key is forgotten when nothing runs or waits in it. */
export class Lanes<K> {
  readonly #waitingMax: number;
  /** A key is here while its task runs; the jobs are those that wait behind it. */
  readonly #waiting = new Map<K, Job[]>();

  /** `waitingMax` bounds what waits behind the running task of one key; beyond it `run` fails as `busy`. */
  constructor(waitingMax: number) {
    this.#waitingMax = waitingMax;
  }

  /** How many keys have a task. */
  get size(): number {
    return this.#waiting.size;
  }
  waiting(key: K): number {
    return this.#waiting.get(key)?.length ?? 0;
  }

  /** Aborting takes a waiting task out of its lane; a running one has the same signal and keeps the lane until it has ended. */
  run<T>(key: K, task: (signal: AbortSignal | undefined) => Promise<T>, signal?: AbortSignal): Promise<T> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const job: Job = {
        async start() {
          signal?.removeEventListener("abort", leave);
          try {
            resolve(await task(signal));
          } catch (error) {
            reject(error);
          }
        },
      };
      const leave = () => {
        const jobs = this.#waiting.get(key);
        jobs?.splice(jobs.indexOf(job), 1);
        reject(signal?.reason);
      };
      const jobs = this.#waiting.get(key);
      if (!jobs) {
        this.#waiting.set(key, []);
        void this.#work(key, job);
      } else if (jobs.length >= this.#waitingMax) reject(new FaultError({ kind: "busy", what: "lane" }));
      else {
        jobs.push(job);
        signal?.addEventListener("abort", leave, { once: true });
      }
    });
  }

  async #work(key: K, first: Job): Promise<void> {
    for (let job: Job | undefined = first; job; job = this.#waiting.get(key)?.shift()) await job.start();
    this.#waiting.delete(key);
  }
}
