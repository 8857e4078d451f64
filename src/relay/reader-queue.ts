import { RoundRobin } from "../base/round-robin.ts";

export interface ReaderJob {
  /** What it holds in memory while it waits. */
  readonly bytes: number;
}

/** More than a page full of counters asks for; who asks for more at once is not waiting for the answers. */
const PER_LANE_MAX = 64;
/** The largest request, one and a half times. */
const PER_LANE_BYTES_MAX = 1_048_576;
/** So that the thread has something to do while its last answer is on its way; one more and a stranger's two long ones stand before yours. */
const RUNNING_MAX = 2;

/**
 * Who is next at the thread for long reads. A lane is a connection: lanes take turns, one job of each runs at a time, and what a lane may leave waiting is
 * bounded, so that a thousand COUNTs of one client delay another's by one.
 */
export class ReaderQueue<J extends ReaderJob> {
  readonly #waiting: RoundRobin<number, J>;
  readonly #bytes = new Map<number, number>();
  readonly #running = new Set<number>();

  constructor(lanesMax: number) {
    this.#waiting = new RoundRobin({ perKeyMax: PER_LANE_MAX, totalMax: PER_LANE_MAX * lanesMax });
  }

  /** False: this lane has enough waiting already. */
  push(lane: number, job: J): boolean {
    const held = this.#bytes.get(lane) ?? 0;
    if (held > 0 && held + job.bytes > PER_LANE_BYTES_MAX) return false;
    if (!this.#waiting.push(lane, job)) return false;
    this.#bytes.set(lane, held + job.bytes);
    return true;
  }

  /** The next job to start, if one may. `done` must follow. */
  take(): { readonly lane: number; readonly job: J } | undefined {
    if (this.#running.size >= RUNNING_MAX) return undefined;
    const next = this.#waiting.take((lane) => !this.#running.has(lane));
    if (next === undefined) return undefined;
    const { key: lane, item: job } = next;
    const left = (this.#bytes.get(lane) ?? 0) - job.bytes;
    if (this.#waiting.sizeOf(lane) === 0) this.#bytes.delete(lane);
    else this.#bytes.set(lane, left);
    this.#running.add(lane);
    return { lane, job };
  }

  done(lane: number): void {
    this.#running.delete(lane);
  }

  /** Nobody waits for these any more. */
  drop(lane: number): readonly J[] {
    this.#bytes.delete(lane);
    return this.#waiting.drop(lane);
  }
}
