import { type Bound, compareBounds, ID_BYTES, ORIGIN, readBound } from "./bound.ts";
import { FINGERPRINT_BYTES } from "./fingerprint.ts";
import { type NegProblem, problem } from "./problem.ts";
import { type Cursor, readVarint } from "./varint.ts";

/** Protocol version 1. */
export const VERSION = 0x61;

export const MODE_SKIP = 0;
export const MODE_FINGERPRINT = 1;
export const MODE_IDS = 2;

/**
 * So many ranges of one message are looked at and no more: about 0.1 s at the worst, whatever the size of the message. The largest frames in use
 * (500,000 bytes) hold fewer.
 */
export const RANGES_MAX = 32_768;

/** What the sender says about everything from the end of the range before up to `upper`. */
export type Range =
  | { readonly kind: "skip"; readonly upper: Bound }
  | { readonly kind: "fingerprint"; readonly upper: Bound; readonly fingerprint: Uint8Array }
  /** All ids the sender has there, 32 bytes each. */
  | { readonly kind: "ids"; readonly upper: Bound; readonly ids: Uint8Array };

/**
 * Reads a message range by range, so that a hostile one costs no more memory than one range. Fingerprints and ids are views of the message;
 * every length is compared with the bytes that are there before it is used (grasp.md 3.5).
 */
export class MessageReader {
  readonly #cursor: Cursor;
  #upper: Bound = ORIGIN;
  #ranges = 0;

  /** `message` starts with the version byte, which the caller has looked at. */
  constructor(message: Uint8Array) {
    this.#cursor = { bytes: message, at: 1 };
  }

  /** Enough was read, and something is left: it is to be treated as not said. */
  get isSpent(): boolean {
    return this.#ranges >= RANGES_MAX && this.#cursor.at < this.#cursor.bytes.length;
  }

  /** The next range, or undefined at the end of the message. */
  next(): Range | NegProblem | undefined {
    const cursor = this.#cursor;
    if (cursor.at >= cursor.bytes.length) return undefined;
    this.#ranges += 1;
    const lower = this.#upper;
    const upper = readBound(cursor, lower);
    if (typeof upper === "string") return problem(upper);
    const step = compareBounds(upper, lower);
    if (step < 0) return problem("descending");
    this.#upper = upper;
    const payload = this.#payload(upper);
    // A range from a bound to itself holds nothing and says nothing; others send one where a frame was cut, behind infinity too.
    return step === 0 && payload.kind !== "problem" ? { kind: "skip", upper } : payload;
  }

  #payload(upper: Bound): Range | NegProblem {
    const cursor = this.#cursor;
    const mode = readVarint(cursor);
    if (typeof mode === "string") return problem(mode);
    switch (mode) {
      case MODE_SKIP:
        return { kind: "skip", upper };
      case MODE_FINGERPRINT: {
        const fingerprint = this.#take(FINGERPRINT_BYTES);
        return fingerprint === undefined ? problem("truncated") : { kind: "fingerprint", upper, fingerprint };
      }
      case MODE_IDS: {
        const count = readVarint(cursor);
        if (typeof count === "string") return problem(count);
        const ids = this.#take(count * ID_BYTES);
        return ids === undefined ? problem("truncated") : { kind: "ids", upper, ids };
      }
      default:
        return problem("unknown-mode");
    }
  }

  #take(length: number): Uint8Array | undefined {
    const { bytes, at } = this.#cursor;
    if (bytes.length - at < length) return undefined;
    this.#cursor.at += length;
    return bytes.subarray(at, at + length);
  }
}
