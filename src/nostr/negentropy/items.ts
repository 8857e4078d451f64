import { type EventId } from "../event.ts";
import { type Bound, ID_BYTES, timeBound } from "./bound.ts";
import { type ItemColumns, inOrder, sorted } from "./item-order.ts";

const WORDS = ID_BYTES / 4;
const WORD = 2 ** 32;
/** A sum is kept for every 16 items (2 bytes an item) and at most 15 ids are added to it: cheap in memory and in time. */
const BLOCK = 16;

/**
 * A sealed set of (time, id) pairs that knows the sum of the ids in any range without adding them all up: about 42 bytes an item.
 * Columns that are already in order are used as they are, so they must not change afterwards.
 */
export class ItemSet {
  readonly length: number;
  readonly createdAt: Float64Array;
  readonly ids: Uint8Array;
  /** The ids as little-endian words, as every machine we run on stores them. */
  readonly #words: Uint32Array;
  /** For every block, the sum of all ids before it, modulo 2^256. */
  readonly #sums: Uint32Array;

  constructor(columns: ItemColumns) {
    const items = inOrder(columns) ? columns : sorted(columns);
    this.length = items.length;
    this.createdAt = items.createdAt;
    const aligned = items.ids.byteOffset % 4 === 0;
    this.ids = aligned ? items.ids : new Uint8Array(items.ids);
    this.#words = new Uint32Array(this.ids.buffer, this.ids.byteOffset, this.length * WORDS);
    this.#sums = sumsBefore(this.#words, this.length);
  }

  /** The first item from `from` on that does not lie before the bound. Near answers are found faster than far ones. */
  lowerBound(bound: Bound, from = 0): number {
    let low = from;
    let high = from;
    for (let step = 1; high < this.length && this.#isBefore(high, bound); step *= 2) {
      low = high + 1;
      high = Math.min(this.length, low + step);
    }
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if (this.#isBefore(middle, bound)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #isBefore(index: number, { timestamp, prefix }: Bound): boolean {
    const time = this.createdAt[index] as number;
    if (time !== timestamp) return time < timestamp;
    const start = index * ID_BYTES;
    for (let i = 0; i < prefix.length; i += 1) {
      const difference = (this.ids[start + i] as number) - (prefix[i] as number);
      if (difference !== 0) return difference < 0;
    }
    return false;
  }

  /** The shortest bound that parts item `index` from the one before it. */
  boundBefore(index: number): Bound {
    const timestamp = this.createdAt[index] as number;
    if (timestamp !== this.createdAt[index - 1]) return timeBound(timestamp);
    const start = index * ID_BYTES;
    let length = 0;
    while (this.ids[start + length] === this.ids[start + length - ID_BYTES]) length += 1;
    return { timestamp, prefix: this.ids.subarray(start, start + length + 1) };
  }

  /** Puts the sum of the ids from `low` up to `high`, modulo 2^256, into `into` as 8 little-endian words. */
  sum(low: number, high: number, into: Uint32Array): void {
    total.fill(0);
    if (high - low <= BLOCK) {
      for (let i = low; i < high; i += 1) add(this.#words, i, 1);
    } else {
      const lowBlock = Math.floor(low / BLOCK);
      const highBlock = Math.floor(high / BLOCK);
      add(this.#sums, highBlock, 1);
      for (let i = highBlock * BLOCK; i < high; i += 1) add(this.#words, i, 1);
      add(this.#sums, lowBlock, -1);
      for (let i = lowBlock * BLOCK; i < low; i += 1) add(this.#words, i, -1);
    }
    carry(into, 0);
  }

  /** The ids of the items from `low` up to `high`, 32 bytes each. */
  idBytes(low: number, high: number): Uint8Array {
    return this.ids.subarray(low * ID_BYTES, high * ID_BYTES);
  }
}

function sumsBefore(words: Uint32Array, length: number): Uint32Array {
  const sums = new Uint32Array((Math.floor(length / BLOCK) + 1) * WORDS);
  for (let end = BLOCK; end <= length; end += BLOCK) {
    total.fill(0);
    add(sums, end / BLOCK - 1, 1);
    for (let i = end - BLOCK; i < end; i += 1) add(words, i, 1);
    carry(sums, end / BLOCK);
  }
  return sums;
}

/** Words are added up as plain numbers, exact far beyond the 32 terms there can be, and carried over once at the end. */
const total = new Float64Array(WORDS);

function add(from: Uint32Array, index: number, sign: 1 | -1): void {
  const at = index * WORDS;
  for (let i = 0; i < WORDS; i += 1) total[i] = (total[i] as number) + sign * (from[at + i] as number);
}

function carry(into: Uint32Array, index: number): void {
  let over = 0;
  for (let i = 0; i < WORDS; i += 1) {
    const value = (total[i] as number) + over;
    over = Math.floor(value / WORD);
    into[index * WORDS + i] = value - over * WORD;
  }
}

/** Ids that lie one after the other, as hex. */
export function* eachId(packed: Uint8Array): Generator<EventId> {
  const bytes = Buffer.from(packed.buffer, packed.byteOffset, packed.length);
  for (let at = 0; at < bytes.length; at += ID_BYTES) yield bytes.toString("hex", at, at + ID_BYTES) as EventId;
}
