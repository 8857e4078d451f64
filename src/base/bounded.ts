import { invariant } from "./assert.ts";

/** At most `max` entries; the least recently used leaves first. `get` and `set` are uses, `has` and `peek` only look. */
export class BoundedMap<K, V> {
  readonly max: number;
  readonly #entries = new Map<K, V>();
  readonly #onEvict: ((key: K, value: V) => void) | undefined;
  // Kept between evictions, and always just before the oldest entry, since whatever it passes is deleted: a new iterator would walk over every place that was freed at the front (measured: 40 times slower at 10 000).
  readonly #oldest = this.#entries.keys();

  constructor(max: number, onEvict?: (key: K, value: V) => void) {
    invariant(max > 0, "a bounded map holds something");
    this.max = max;
    this.#onEvict = onEvict;
  }

  get size(): number {
    return this.#entries.size;
  }
  has(key: K): boolean {
    return this.#entries.has(key);
  }
  peek(key: K): V | undefined {
    return this.#entries.get(key);
  }
  get(key: K): V | undefined {
    const value = this.#entries.get(key);
    if (value === undefined && !this.#entries.has(key)) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, value as V);
    return value;
  }
  set(key: K, value: V): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    if (this.#entries.size > this.max) this.#evict();
  }
  delete(key: K): boolean {
    return this.#entries.delete(key);
  }
  clear(): void {
    this.#entries.clear();
  }
  /** Least recently used first. */
  [Symbol.iterator](): IterableIterator<[K, V]> {
    return this.#entries.entries();
  }

  #evict(): void {
    const next = this.#oldest.next();
    invariant(!next.done, "an overfull map has an oldest entry");
    const value = this.#entries.get(next.value) as V;
    this.#entries.delete(next.value);
    this.#onEvict?.(next.value, value);
  }
}

/** At most `max` members; the one added longest ago leaves first. `add` of a member renews it, `has` only looks. */
export class BoundedSet<T> {
  readonly #members: BoundedMap<T, true>;

  constructor(max: number) {
    this.#members = new BoundedMap(max);
  }
  get size(): number {
    return this.#members.size;
  }
  has(value: T): boolean {
    return this.#members.has(value);
  }
  /** True when it was not there yet. */
  add(value: T): boolean {
    const isNew = !this.#members.has(value);
    this.#members.set(value, true);
    return isNew;
  }
  delete(value: T): boolean {
    return this.#members.delete(value);
  }
  clear(): void {
    this.#members.clear();
  }
}

export interface QueueLimits<T> {
  readonly countMax: number;
  readonly sizeMax?: number;
  readonly sizeOf?: (item: T) => number;
}

/** First in, first out, bounded by count and, where given, by the sum of sizes. */
export class BoundedQueue<T> {
  readonly #limits: QueueLimits<T>;
  #items: T[] = [];
  #head = 0;
  #size = 0;

  constructor(limits: QueueLimits<T>) {
    invariant(limits.countMax > 0, "a bounded queue holds something");
    this.#limits = limits;
  }
  get length(): number {
    return this.#items.length - this.#head;
  }
  /** The sum of `sizeOf` over what waits; 0 without one. */
  get size(): number {
    return this.#size;
  }
  /** False when full: the caller decides whether to pause, refuse or drop. */
  push(item: T): boolean {
    const { countMax, sizeMax = Number.POSITIVE_INFINITY, sizeOf } = this.#limits;
    const size = sizeOf?.(item) ?? 0;
    if (this.length >= countMax || this.#size + size > sizeMax) return false;
    this.#items.push(item);
    this.#size += size;
    return true;
  }
  peek(): T | undefined {
    return this.#items[this.#head];
  }
  shift(): T | undefined {
    if (this.length === 0) return undefined;
    const item = this.#items[this.#head] as T;
    this.#items[this.#head++] = undefined as T;
    this.#size -= this.#limits.sizeOf?.(item) ?? 0;
    // Array.shift moves everything each time; cutting off the used half now and then moves each item once at most.
    if (this.#head > 32 && this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }
  clear(): void {
    this.#items = [];
    this.#head = 0;
    this.#size = 0;
  }
}
