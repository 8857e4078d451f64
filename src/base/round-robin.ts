import { BoundedQueue } from "./bounded.ts";

export interface RoundRobinLimits {
  readonly perKeyMax: number;
  readonly totalMax: number;
}

/** A queue per key, and the keys take turns: one key with a thousand items does not delay another with one. */
export class RoundRobin<K, T> {
  readonly #limits: RoundRobinLimits;
  readonly #queues = new Map<K, BoundedQueue<T>>();
  /** Every key that has items, once, whose turn is next first. */
  #turns: BoundedQueue<K>;
  #size = 0;

  constructor(limits: RoundRobinLimits) {
    this.#limits = limits;
    this.#turns = new BoundedQueue({ countMax: limits.totalMax });
  }
  get size(): number {
    return this.#size;
  }
  sizeOf(key: K): number {
    return this.#queues.get(key)?.length ?? 0;
  }
  /** False when this key, or everything together, is full. */
  push(key: K, item: T): boolean {
    if (this.#size >= this.#limits.totalMax) return false;
    let queue = this.#queues.get(key);
    if (!queue) {
      queue = new BoundedQueue({ countMax: this.#limits.perKeyMax });
      this.#queues.set(key, queue);
      this.#turns.push(key);
    }
    if (!queue.push(item)) return false;
    this.#size++;
    return true;
  }
  /** The next key's oldest item. A key that is not ready is passed over, to be asked again at the next `take`. */
  take(isReady: (key: K) => boolean = () => true): { readonly key: K; readonly item: T } | undefined {
    for (let n = this.#turns.length; n > 0; n--) {
      const key = this.#turns.shift() as K;
      const queue = this.#queues.get(key);
      if (!queue) continue;
      if (!isReady(key)) {
        this.#turns.push(key);
        continue;
      }
      const item = queue.shift() as T;
      this.#size--;
      if (queue.length > 0) this.#turns.push(key);
      else this.#queues.delete(key);
      return { key, item };
    }
    return undefined;
  }
  /** Forgets a key and returns what waited under it. */
  drop(key: K): readonly T[] {
    const queue = this.#queues.get(key);
    if (!queue) return [];
    const items: T[] = [];
    while (queue.length > 0) items.push(queue.shift() as T);
    this.#size -= items.length;
    this.#queues.delete(key);
    const turns = new BoundedQueue<K>({ countMax: this.#limits.totalMax });
    while (this.#turns.length > 0) {
      const turn = this.#turns.shift() as K;
      if (turn !== key) turns.push(turn);
    }
    this.#turns = turns;
    return items;
  }
}
