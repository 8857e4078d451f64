import type { Clock } from "../../base/clock.ts";
import { FaultError } from "../../base/fault.ts";
import { plus } from "../../base/time.ts";
import type { RequestBody } from "./request-body.ts";

/** Nearly every fetch fits, so that git is started only when its whole request is here and a client that drips holds no place among the processes. */
const HEAD_BYTES = 64 * 1024;
/** grasp.md 7.16: 1 KiB/s over 60 s, which is this head. */
const HEAD_MS = 60_000;

export interface RequestHead<T> {
  readonly chunks: readonly Uint8Array[];
  /** What `look` found, if it found something before the head was full. */
  readonly found: T | undefined;
}

/**
 * The beginning of a body, in order to decide who answers it. `look` sees every chunk, and `undefined` at the end; what it returns ends the reading. While it is
 * `undecided`, the head grows with it.
 */
export async function readHead<T extends object>(
  body: RequestBody,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
  look: (chunk: Uint8Array | undefined) => T | "undecided" | "other",
): Promise<RequestHead<T>> {
  const stop = Promise.withResolvers<never>();
  stop.promise.catch(() => undefined);
  const abort = (): void => stop.reject(new FaultError({ kind: "aborted", cause: signal.reason }));
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort, { once: true });
  const cancel = clock.at(plus(clock.now(), HEAD_MS), () => stop.reject(new FaultError({ kind: "timeout", afterMs: HEAD_MS })));
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  let isUndecided = true;
  try {
    for (;;) {
      const next = body.next();
      next.catch(() => undefined);
      const chunk = await Promise.race([next, stop.promise]);
      if (chunk !== undefined) {
        chunks.push(chunk);
        bytes += chunk.length;
      }
      const seen: T | "undecided" | "other" = isUndecided ? look(chunk) : "other";
      if (seen !== "undecided" && seen !== "other") return { chunks, found: seen };
      isUndecided = seen === "undecided" && chunk !== undefined;
      if (chunk === undefined || (!isUndecided && bytes >= HEAD_BYTES)) return { chunks, found: undefined };
    }
  } finally {
    cancel();
    signal.removeEventListener("abort", abort);
  }
}
