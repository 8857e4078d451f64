/** Changes to a map that nobody else sees until `commit`; a draft that is dropped instead leaves no trace. */
export class MemoryOverlay<K, V> {
  readonly #base: Map<K, V>;
  /** `undefined`: deleted here. */
  readonly #changed = new Map<K, V | undefined>();

  constructor(base: Map<K, V>) {
    this.#base = base;
  }

  get(key: K): V | undefined {
    return this.#changed.has(key) ? this.#changed.get(key) : this.#base.get(key);
  }

  set(key: K, value: V): void {
    this.#changed.set(key, value);
  }

  delete(key: K): void {
    this.#changed.set(key, undefined);
  }

  values(): V[] {
    const values: V[] = [];
    for (const [key, value] of this.#base) if (!this.#changed.has(key)) values.push(value);
    for (const value of this.#changed.values()) if (value !== undefined) values.push(value);
    return values;
  }

  commit(): void {
    for (const [key, value] of this.#changed) {
      if (value === undefined) this.#base.delete(key);
      else this.#base.set(key, value);
    }
  }
}
