/** A store in memory answers at once, one on disk or elsewhere may take its time. */
export type Awaitable<T> = T | Promise<T>;
