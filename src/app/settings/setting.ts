/** What reading a text gave: a value (with a note when it was understood in another way than it was written), or what was expected instead. */
export type Read<T> =
  | { readonly ok: true; readonly value: T; readonly note?: string | undefined }
  | { readonly ok: false; readonly expected: string };

/** How a kind of value is written and read. `read(show(value))` gives the value back. */
export interface ValueType<T> {
  /** For the manual: "a whole number of 1 or more". */
  readonly describe: string;
  readonly read: (text: string) => Read<T>;
  /** A list in a file is read item by item; in a flag or variable its items are separated by commas. */
  readonly readItems?: ((items: readonly string[]) => Read<T>) | undefined;
  /** The items of a list, each as it would be written. */
  readonly showItems?: ((value: T) => readonly string[]) | undefined;
  /** The value as it would be written, or `undefined` when nothing is set. */
  readonly show: (value: T) => string | undefined;
  /** On and off: a flag without a value means on. */
  readonly isSwitch?: boolean | undefined;
}

/** The settings that others are derived from. They stand earlier in the table. */
export interface Settled {
  readonly bindAddress: { readonly host: string; readonly port: number };
  readonly domain: string;
  readonly dataPath: string;
  readonly maxResults: number;
}

export interface Derived<T> {
  /** For the manual and `--print-config`: "from `data-path`". */
  readonly from: string;
  readonly derive: (settled: Settled) => T;
}

export interface Setting<T> {
  readonly type: ValueType<T>;
  readonly default: { readonly value: T } | Derived<T>;
  /** Names that ngit-grasp has for the same thing, without `NGIT_`. */
  readonly ngit: readonly string[];
  readonly meaning: string;
  /** Why there is such a limit, or why the default is what it is. */
  readonly reason: string;
}

interface Declaration<T> {
  readonly type: ValueType<T>;
  readonly ngit?: readonly string[];
  readonly meaning: string;
  readonly reason: string;
}

export function setting<T>(
  declaration: Declaration<T> & ({ readonly default: NoInfer<T> } | { readonly derived: Derived<NoInfer<T>> }),
): Setting<T> {
  return {
    type: declaration.type,
    default: "derived" in declaration ? declaration.derived : { value: declaration.default },
    ngit: declaration.ngit ?? [],
    meaning: declaration.meaning,
    reason: declaration.reason,
  };
}
