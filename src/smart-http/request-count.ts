/** How many requests of each address are under way. An address without a key is not limited. */
export class RequestCount {
  readonly #perAddressMax: number;
  readonly #counts = new Map<string, number>();

  constructor(perAddressMax: number) {
    this.#perAddressMax = perAddressMax;
  }

  /** How many addresses have any. */
  get size(): number {
    return this.#counts.size;
  }

  /** The function that ends it, to be called once; `undefined` when there are too many. */
  enter(key: string | undefined): (() => void) | undefined {
    if (key === undefined) return () => undefined;
    const count = this.#counts.get(key) ?? 0;
    if (count >= this.#perAddressMax) return undefined;
    this.#counts.set(key, count + 1);
    return () => {
      const left = (this.#counts.get(key) ?? 1) - 1;
      if (left === 0) this.#counts.delete(key);
      else this.#counts.set(key, left);
    };
  }
}
