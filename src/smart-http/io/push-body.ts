import type { Clock } from "../../base/clock.ts";
import { FaultError } from "../../base/fault.ts";
import { plus } from "../../base/time.ts";
import type { RequestBody } from "./request-body.ts";

/** How much may arrive between two looks at the disk: a few pushes at once must not write through the reserve. */
const LOOK_BYTES = 16 * 1024 * 1024;

export interface PackSourceOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** grasp.md 7.16: without progress for so long the push is over; git may not even have been started yet. */
  readonly silenceMs: number;
  readonly hasDiskReserve: () => Promise<boolean>;
}

/** The pack of a push: what came with its command list, then the rest of the body. Stopping early leaves the body as it is, to be drained. */
export class PackSource implements AsyncIterable<Uint8Array> {
  readonly #body: RequestBody;
  readonly #options: PackSourceOptions;
  #rest: Uint8Array | undefined;
  #unseenBytes = 0;
  #isReserveReached = false;

  constructor(body: RequestBody, rest: Uint8Array, options: PackSourceOptions) {
    this.#body = body;
    this.#rest = rest.length === 0 ? undefined : rest;
    this.#options = options;
  }

  get isReserveReached(): boolean {
    return this.#isReserveReached;
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    return { next: () => this.#next() };
  }

  async #next(): Promise<IteratorResult<Uint8Array>> {
    const { clock, silenceMs, signal, hasDiskReserve } = this.#options;
    const value = this.#rest ?? (await within(this.#body.next(), clock, silenceMs, signal));
    this.#rest = undefined;
    if (value === undefined) return { value, done: true };
    this.#unseenBytes += value.length;
    if (this.#unseenBytes >= LOOK_BYTES) {
      this.#unseenBytes = 0;
      this.#isReserveReached = !(await hasDiskReserve());
      if (this.#isReserveReached) throw new FaultError({ kind: "io", code: "ENOSPC" });
    }
    return { value, done: false };
  }
}

/** grasp.md 7.11: git reads no answer before it has sent everything, so a push that is refused is still read, as far as this. */
const DRAIN_BYTES_MAX = 64 * 1024 * 1024;
const DRAIN_MS = 30_000;

/** Reads and forgets. Whoever sends more, or slower, may not see his answer. */
export async function drain(body: RequestBody, clock: Clock, signal: AbortSignal): Promise<void> {
  const over = plus(clock.now(), DRAIN_MS);
  let bytes = 0;
  try {
    while (!body.isOver && bytes < DRAIN_BYTES_MAX) {
      const chunk = await within(body.next(), clock, over - clock.now(), signal);
      if (chunk === undefined) return;
      bytes += chunk.length;
    }
  } catch {
    // What is wrong with bytes that nobody wants does not matter: the answer is known.
  }
}

async function within<T>(work: Promise<T>, clock: Clock, ms: number, signal: AbortSignal): Promise<T> {
  const stop = Promise.withResolvers<never>();
  stop.promise.catch(() => undefined);
  work.catch(() => undefined);
  const abort = (): void => stop.reject(new FaultError({ kind: "aborted", cause: signal.reason }));
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort, { once: true });
  const cancel = clock.at(plus(clock.now(), ms), () => stop.reject(new FaultError({ kind: "timeout", afterMs: ms })));
  try {
    return await Promise.race([work, stop.promise]);
  } finally {
    cancel();
    signal.removeEventListener("abort", abort);
  }
}
