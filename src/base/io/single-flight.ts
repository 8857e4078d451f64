interface Flight<T> {
  readonly result: Promise<T>;
  readonly abort: AbortController;
  waiters: number;
}

/** Identical work in progress is shared: who asks for a key that is being worked on gets that result. Nothing is kept afterwards. */
export class SingleFlight<K, T> {
  readonly #flights = new Map<K, Flight<T>>();

  get size(): number {
    return this.#flights.size;
  }

  /** A waiter that aborts leaves alone; the work is aborted only when the last one has left. */
  run(key: K, work: (signal: AbortSignal) => Promise<T>, signal?: AbortSignal): Promise<T> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    const flight = this.#flights.get(key) ?? this.#start(key, work);
    flight.waiters++;
    if (!signal) return flight.result;
    return new Promise((resolve, reject) => {
      const leave = () => {
        reject(signal.reason);
        if (--flight.waiters === 0) {
          this.#forget(key, flight);
          flight.abort.abort(signal.reason);
        }
      };
      signal.addEventListener("abort", leave, { once: true });
      flight.result.then(resolve, reject).finally(() => signal.removeEventListener("abort", leave));
    });
  }

  #start(key: K, work: (signal: AbortSignal) => Promise<T>): Flight<T> {
    const abort = new AbortController();
    // The extra function turns a throw before the first await into a rejection.
    const flight: Flight<T> = { result: (async () => work(abort.signal))(), abort, waiters: 0 };
    this.#flights.set(key, flight);
    const forget = () => this.#forget(key, flight);
    flight.result.then(forget, forget);
    return flight;
  }

  /** Only its own entry: after an abort the key may already belong to newer work. */
  #forget(key: K, flight: Flight<T>): void {
    if (this.#flights.get(key) === flight) this.#flights.delete(key);
  }
}
