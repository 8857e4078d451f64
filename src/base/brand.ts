declare const brand: unique symbol;

/** A value that was checked once and carries the proof in its type: a plain `T` is not accepted where a brand is asked for. */
export type Brand<T, Name extends string> = T & { readonly [brand]: Name };
