import { invariant } from "../base/assert.ts";
import { concatBytes, toUtf8, utf8Length } from "../base/bytes.ts";

/** git's own bound on a line, its four length digits included: nobody may make us hold more than this before we have judged it. */
export const PKT_BYTES_MAX = 65_520;
const HEADER = 4;
export const PKT_DATA_MAX = PKT_BYTES_MAX - HEADER;

export type Pkt =
  | { readonly kind: "data"; readonly data: Uint8Array }
  | { readonly kind: "flush" }
  | { readonly kind: "delim" }
  | { readonly kind: "response-end" };

/** After this the place of the next line is unknown, so nothing more is read. */
export interface PktProblem {
  readonly kind: "malformed";
  readonly why: "length-digits" | "length-reserved" | "too-long";
}

export const FLUSH = "0000";
export const DELIM = "0001";
export const RESPONSE_END = "0002";

const header = (dataBytes: number): string => {
  invariant(dataBytes <= PKT_DATA_MAX, "a pkt-line fits its length");
  return (dataBytes + HEADER).toString(16).padStart(HEADER, "0");
};

/** As text, so that many lines are joined and encoded once. */
export const pktText = (text: string): string => header(utf8Length(text)) + text;

export const pktBytes = (...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> =>
  concatBytes([toUtf8(header(parts.reduce((sum, part) => sum + part.length, 0))), ...parts]);

/**
 * Lines out of chunks as they come: `feed` one, then call `next` until it answers `undefined`.
 * A line that lies within one chunk is a view of that chunk; only one that spans chunks is copied, once.
 */
export class PktDecoder {
  #chunk = new Uint8Array(0);
  #at = 0;
  #before = 0;
  readonly #digits = new Uint8Array(HEADER);
  #digitCount = 0;
  #body: Uint8Array | undefined;
  #filled = 0;
  #problem: PktProblem | undefined;

  /** Bytes of all chunks up to the end of what was read; after a whole line that is the end of the line. */
  get consumed(): number {
    return this.#before + this.#at;
  }
  /** What of the last chunk was not read: a view, no copy. */
  get rest(): Uint8Array {
    return this.#chunk.subarray(this.#at);
  }

  feed(chunk: Uint8Array): void {
    invariant(this.#at === this.#chunk.length, "a chunk is read to its end before the next one comes");
    this.#before += this.#chunk.length;
    this.#chunk = chunk as Uint8Array<ArrayBuffer>;
    this.#at = 0;
  }

  next(): Pkt | PktProblem | undefined {
    if (this.#problem !== undefined) return this.#problem;
    if (this.#body === undefined) {
      while (this.#digitCount < HEADER) {
        if (this.#at === this.#chunk.length) return undefined;
        this.#digits[this.#digitCount++] = this.#chunk[this.#at++] as number;
      }
      this.#digitCount = 0;
      const length = readLength(this.#digits);
      if (length === undefined) return this.#fail("length-digits");
      if (length === 0) return { kind: "flush" };
      if (length === 1) return { kind: "delim" };
      if (length === 2) return { kind: "response-end" };
      if (length < HEADER) return this.#fail("length-reserved");
      if (length > PKT_BYTES_MAX) return this.#fail("too-long");
      const size = length - HEADER;
      if (this.#chunk.length - this.#at >= size) {
        this.#at += size;
        return { kind: "data", data: this.#chunk.subarray(this.#at - size, this.#at) };
      }
      this.#body = new Uint8Array(size);
      this.#filled = 0;
    }
    const body = this.#body;
    const part = this.#chunk.subarray(this.#at, this.#at + body.length - this.#filled);
    body.set(part, this.#filled);
    this.#filled += part.length;
    this.#at += part.length;
    if (this.#filled < body.length) return undefined;
    this.#body = undefined;
    return { kind: "data", data: body };
  }

  #fail(why: PktProblem["why"]): PktProblem {
    this.#problem = { kind: "malformed", why };
    return this.#problem;
  }
}

/** git writes lower case and reads both. */
function readLength(digits: Uint8Array): number | undefined {
  let length = 0;
  for (const digit of digits) {
    const value = valueOfDigit(digit);
    if (value === undefined) return undefined;
    length = length * 16 + value;
  }
  return length;
}

function valueOfDigit(code: number): number | undefined {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : undefined;
}
