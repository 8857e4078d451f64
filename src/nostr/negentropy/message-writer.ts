import { BOUND_BYTES_MAX, type Bound, compareBounds, ID_BYTES, INFINITE, ORIGIN, writeBound } from "./bound.ts";
import { FINGERPRINT_BYTES } from "./fingerprint.ts";
import { MODE_FINGERPRINT, MODE_IDS, MODE_SKIP, VERSION } from "./message-reader.ts";
import { VARINT_BYTES_MAX, writeVarint } from "./varint.ts";

/** What peers use too (grasp.md 3.3 leaves room for its hex many times over). */
export const FRAME_BYTES_MAX = 60_000;
/** Below this a frame might not hold one split range, and an exchange might stand still. */
export const FRAME_BYTES_MIN = 4_096;

const SKIP_BYTES_MAX = BOUND_BYTES_MAX + 1;
/** An infinite bound is 2 bytes. */
const REST_BYTES = 2 + 1 + FINGERPRINT_BYTES;
/** Kept free by every range: whatever was written, one skip and one fingerprint up to infinity still fit behind it. */
const TAIL_BYTES = SKIP_BYTES_MAX + REST_BYTES;
const IDS_HEAD_BYTES_MAX = BOUND_BYTES_MAX + 1 + VARINT_BYTES_MAX;

/** A place to go back to. */
export interface Mark {
  readonly length: number;
  readonly end: Bound;
}

/** Writes a message that never grows beyond its frame. */
export class MessageWriter {
  readonly #bytesMax: number;
  #bytes: Uint8Array;
  #length = 1;
  #end: Bound = ORIGIN;

  constructor(frameBytesMax: number) {
    this.#bytesMax = Math.max(FRAME_BYTES_MIN, frameBytesMax);
    this.#bytes = new Uint8Array(FRAME_BYTES_MIN);
    this.#bytes[0] = VERSION;
  }

  /** How many ids one more list can hold; negative when not even an empty one fits. */
  get idsRoom(): number {
    return Math.floor((this.#bytesMax - TAIL_BYTES - IDS_HEAD_BYTES_MAX - this.#length) / ID_BYTES);
  }

  /** Is there still room for the tail? */
  get fits(): boolean {
    return this.#length <= this.#bytesMax - TAIL_BYTES;
  }

  mark(): Mark {
    return { length: this.#length, end: this.#end };
  }

  back(to: Mark): void {
    this.#length = to.length;
    this.#end = to.end;
  }

  /** Leaves everything up to `bound` out of the talk. */
  skipTo(bound: Bound): void {
    if (compareBounds(this.#end, bound) < 0) this.#range(bound, MODE_SKIP, 0);
  }

  fingerprint(upper: Bound, fingerprint: Uint8Array): void {
    this.#range(upper, MODE_FINGERPRINT, FINGERPRINT_BYTES);
    this.#append(fingerprint);
  }

  ids(upper: Bound, ids: Uint8Array): void {
    this.#range(upper, MODE_IDS, VARINT_BYTES_MAX + ids.length);
    this.#length = writeVarint(this.#bytes, this.#length, ids.length / ID_BYTES);
    this.#append(ids);
  }

  /** The last range of a message that had to be cut. */
  rest(fingerprint: Uint8Array): void {
    this.fingerprint(INFINITE, fingerprint);
  }

  finish(): Uint8Array {
    return this.#bytes.slice(0, this.#length);
  }

  #range(upper: Bound, mode: number, payloadBytes: number): void {
    this.#grow(this.#length + BOUND_BYTES_MAX + 1 + payloadBytes);
    this.#length = writeBound(this.#bytes, this.#length, upper, this.#end);
    this.#bytes[this.#length] = mode;
    this.#length += 1;
    this.#end = upper;
  }

  #append(bytes: Uint8Array): void {
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  #grow(length: number): void {
    if (length <= this.#bytes.length) return;
    const larger = new Uint8Array(Math.max(length, this.#bytes.length * 2));
    larger.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = larger;
  }
}
