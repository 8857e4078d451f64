import type { Writable } from "node:stream";
import type { Clock } from "../../base/clock.ts";
import { FaultError, faultOf } from "../../base/fault.ts";
import { plus, until } from "../../base/time.ts";

export interface SlowRule {
  /** Which end is the client: only time spent waiting for that one counts, never git's own. */
  readonly client: "source" | "sink";
  readonly bytesMin: number;
  readonly windowMs: number;
}

/** grasp.md 7.16: a client slower than 1 KiB/s over 60 s while git waits for it is cut. */
export const slowClient = (client: SlowRule["client"]): SlowRule => ({ client, bytesMin: 60 * 1024, windowMs: 60_000 });

export interface PourOptions {
  readonly clock: Clock;
  readonly signal?: AbortSignal;
  readonly slow?: SlowRule;
  /** Called with every chunk before it is written; what it throws ends the pouring. */
  readonly onChunk?: (chunk: Uint8Array) => void;
}

/**
 * Writes what comes from `source` into `sink`, no faster than the sink takes it, and leaves the sink open. Returns the bytes. A source that shall survive an
 * early end is given as `readable.iterator({ destroyOnReturn: false })`; one that hangs is its owner's to destroy.
 */
export async function pour(source: AsyncIterable<Uint8Array>, sink: Writable, options: PourOptions): Promise<number> {
  const iterator = source[Symbol.asyncIterator]();
  const patience = new Patience(options);
  let bytes = 0;
  let isDone = false;
  try {
    for (;;) {
      const next = await patience.wait(iterator.next(), "source");
      if (next.done === true) {
        isDone = true;
        return bytes;
      }
      options.onChunk?.(next.value);
      bytes += next.value.length;
      patience.count(next.value.length);
      if (sink.destroyed || sink.writableEnded) throw new FaultError({ kind: "closed", code: "EPIPE" });
      if (!sink.write(next.value)) await patience.wait(drained(sink), "sink");
    }
  } catch (error) {
    throw new FaultError(faultOf(error));
  } finally {
    // Not awaited: a source that hangs would hang us too.
    if (!isDone) void Promise.resolve(iterator.return?.()).catch(() => undefined);
  }
}

/** Resolves when the sink takes more; a sink that has gone is a fault. */
function drained(sink: Writable): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (error?: Error) => {
      sink.off("drain", settle);
      sink.off("close", gone);
      sink.off("error", gone);
      if (error) reject(error);
      else resolve();
    };
    const gone = () => settle(new FaultError({ kind: "closed", code: "EPIPE" }));
    if (sink.destroyed) return gone();
    sink.on("drain", settle);
    sink.on("close", gone);
    sink.on("error", gone);
  });
}

/** Waits for one end at a time, as long as the signal and the slow rule allow. */
export class Patience {
  readonly #options: Omit<PourOptions, "onChunk">;
  #waitedMs = 0;
  #bytes = 0;

  constructor(options: Omit<PourOptions, "onChunk">) {
    this.#options = options;
  }

  count(bytes: number): void {
    this.#bytes += bytes;
  }

  async wait<T>(work: Promise<T>, end: SlowRule["client"]): Promise<T> {
    const { clock, signal, slow } = this.#options;
    const stop = Promise.withResolvers<never>();
    stop.promise.catch(() => undefined);
    work.catch(() => undefined);
    const abort = () => stop.reject(new FaultError({ kind: "aborted", cause: signal?.reason }));
    if (signal?.aborted) abort();
    signal?.addEventListener("abort", abort, { once: true });
    const began = clock.now();
    let cancel: (() => void) | undefined;
    const watch = slow?.client === end ? slow : undefined;
    const arm = (rule: SlowRule, ms: number): void => {
      cancel = clock.at(plus(clock.now(), ms), () => {
        if (this.#bytes < rule.bytesMin) return stop.reject(new FaultError({ kind: "timeout", afterMs: rule.windowMs }));
        this.#bytes = 0;
        this.#waitedMs = 0;
        arm(rule, rule.windowMs);
      });
    };
    if (watch) arm(watch, Math.max(0, watch.windowMs - this.#waitedMs));
    try {
      return await Promise.race([work, stop.promise]);
    } finally {
      cancel?.();
      signal?.removeEventListener("abort", abort);
      if (watch) this.#waitedMs = Math.min(watch.windowMs, this.#waitedMs + until(began, clock.now()));
    }
  }
}
