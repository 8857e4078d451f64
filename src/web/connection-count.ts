/** How many connections there are, in total and per address, and whether one more may come. */
export class ConnectionCount {
  readonly #max: number;
  readonly #perAddressMax: number;
  readonly #byAddress = new Map<string, number>();
  #total = 0;

  constructor(max: number, perAddressMax: number) {
    this.#max = max;
    this.#perAddressMax = perAddressMax;
  }

  get total(): number {
    return this.#total;
  }

  get addresses(): number {
    return this.#byAddress.size;
  }

  /** Addresses with at least so many connections. */
  crowded(threshold: number): number {
    let count = 0;
    for (const n of this.#byAddress.values()) if (n >= threshold) count += 1;
    return count;
  }

  /** One more socket. `undefined` as key: an address that is not limited. The release may be called more than once. */
  enter(key: string | undefined): (() => void) | "total" | "address" {
    if (this.#total >= this.#max) return "total";
    const leave = this.enterAddress(key);
    if (leave === "address") return leave;
    this.#total += 1;
    let here = true;
    return () => {
      if (!here) return;
      here = false;
      this.#total -= 1;
      leave();
    };
  }

  /** One more client behind a socket that is already counted: a proxy's socket is nobody's until its headers say whose. */
  enterAddress(key: string | undefined): (() => void) | "address" {
    if (key === undefined) return () => undefined;
    const count = this.#byAddress.get(key) ?? 0;
    if (count >= this.#perAddressMax) return "address";
    this.#byAddress.set(key, count + 1);
    let here = true;
    return () => {
      if (!here) return;
      here = false;
      const left = (this.#byAddress.get(key) ?? 1) - 1;
      if (left === 0) this.#byAddress.delete(key);
      else this.#byAddress.set(key, left);
    };
  }
}
