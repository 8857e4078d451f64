/** A seeded stream of numbers (splitmix32): the same seed gives the same events on every machine. */
export class Chance {
  #state: number;

  constructor(seed: string) {
    let hash = 0x811c9dc5;
    for (let at = 0; at < seed.length; at++) hash = Math.imul(hash ^ seed.charCodeAt(at), 0x01000193);
    this.#state = hash >>> 0;
  }

  /** From 0 up to, not including, 1. */
  next(): number {
    this.#state = (this.#state + 0x9e3779b9) | 0;
    let z = this.#state;
    z = Math.imul(z ^ (z >>> 16), 0x21f0aaad);
    z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
    return ((z ^ (z >>> 15)) >>> 0) / 2 ** 32;
  }

  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  pick<T>(from: readonly T[]): T {
    const chosen = from[this.below(from.length)];
    if (chosen === undefined) throw new Error("nothing to pick from");
    return chosen;
  }
}

/** Ranks 0…count-1 where rank r is about 1/(r+1) as frequent as rank 0: few write much, many write little. */
export class Zipf {
  readonly #sums: Float64Array;

  constructor(count: number) {
    this.#sums = new Float64Array(count);
    let sum = 0;
    for (let rank = 0; rank < count; rank++) {
      sum += 1 / (rank + 1);
      this.#sums[rank] = sum;
    }
  }

  draw(chance: Chance): number {
    const sums = this.#sums;
    const wanted = chance.next() * (sums[sums.length - 1] ?? 0);
    let low = 0;
    let high = sums.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((sums[middle] ?? 0) < wanted) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
