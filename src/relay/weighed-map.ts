/**
 * Values that weigh something, the least recently used leave first when all weigh too much. Several keys may share a value, which weighs once.
 * The last one stays, whatever it weighs: its user has a limit of its own for that.
 */
export class WeighedMap<K, V extends object> {
  readonly #weightMax: number;
  readonly #weightOf: (value: V) => number;
  readonly #entries = new Map<K, V>();
  readonly #uses = new Map<V, number>();
  #weight = 0;

  constructor(weightMax: number, weightOf: (value: V) => number) {
    this.#weightMax = weightMax;
    this.#weightOf = weightOf;
  }

  get size(): number {
    return this.#entries.size;
  }

  get weight(): number {
    return this.#weight;
  }

  get(key: K): V | undefined {
    const value = this.#entries.get(key);
    if (value === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, value);
    return value;
  }

  /** The keys that had to leave for it. */
  set(key: K, value: V): readonly K[] {
    this.delete(key);
    this.#entries.set(key, value);
    const uses = this.#uses.get(value) ?? 0;
    this.#uses.set(value, uses + 1);
    if (uses === 0) this.#weight += this.#weightOf(value);
    const left: K[] = [];
    for (const oldest of this.#entries.keys()) {
      if (this.#weight <= this.#weightMax || this.#entries.size === 1) break;
      this.delete(oldest);
      left.push(oldest);
    }
    return left;
  }

  delete(key: K): void {
    const value = this.#entries.get(key);
    if (value === undefined) return;
    this.#entries.delete(key);
    const uses = (this.#uses.get(value) ?? 1) - 1;
    if (uses > 0) this.#uses.set(value, uses);
    else {
      this.#uses.delete(value);
      this.#weight -= this.#weightOf(value);
    }
  }
}
