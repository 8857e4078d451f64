import type { Read, ValueType } from "./setting.ts";

export const good = <T>(value: T, note?: string): Read<T> => ({ ok: true, value, note });
export const bad = (expected: string): { readonly ok: false; readonly expected: string } => ({ ok: false, expected });

export function text(describe: string, lengthMax: number): ValueType<string> {
  return {
    describe,
    read: (written) =>
      written.length > 0 && written.length <= lengthMax ? good(written) : bad(`${describe} of 1 to ${lengthMax} characters`),
    show: (value) => value,
  };
}

/** Something that may be left unset. */
export function optional<T>(type: ValueType<T>): ValueType<T | undefined> {
  return { ...type, readItems: undefined, showItems: undefined, show: (value) => (value === undefined ? undefined : type.show(value)) };
}

export function choice<const T extends string>(...choices: readonly T[]): ValueType<T> {
  const describe = `one of ${choices.map((c) => `\`${c}\``).join(", ")}`;
  return {
    describe,
    read: (written) => {
      const found = choices.find((c) => c === written.toLowerCase());
      return found === undefined ? bad(describe) : good(found);
    },
    show: (value) => value,
  };
}

const ON = new Set(["true", "1", "yes", "on"]);
const OFF = new Set(["false", "0", "no", "off"]);

export const onOff: ValueType<boolean> = {
  describe: "`true` or `false`",
  isSwitch: true,
  read: (written) => {
    const word = written.trim().toLowerCase();
    if (ON.has(word)) return good(true);
    return OFF.has(word) ? good(false) : bad("`true` or `false`");
  },
  show: String,
};

interface Range {
  readonly min: number;
  readonly max: number;
  readonly example: number;
}

export function whole({ min, max, example }: Range): ValueType<number> {
  const describe = `a whole number of ${min} or more`;
  return {
    describe,
    read: (written) => {
      const plain = written.trim().replaceAll("_", "");
      if (!/^\d+$/.test(plain) || Number(plain) < min) return bad(`${describe}, for example ${example}`);
      return Number(plain) <= max ? good(Number(plain)) : bad(`a whole number from ${min} to ${max}, for example ${example}`);
    },
    show: String,
  };
}

/** How often a minute; 0 switches the limit off. */
export const perMinute = (example: number): ValueType<number> => ({
  ...whole({ min: 0, max: 1_000_000_000, example }),
  describe: "a whole number a minute, or 0 for no limit",
});

/** Numbers with a unit: `5 MiB`, `25s`. The units are tried from the largest when shown, so that what is shown is short and exact. */
function measured(
  describe: string,
  units: readonly (readonly [string, number])[],
  bare: number,
  { min, max, example }: Range,
): ValueType<number> {
  const show = (value: number): string => {
    const unit = value === 0 ? undefined : units.find(([, size]) => value % size === 0);
    return unit === undefined ? `${value / bare}` : `${value / unit[1]}${unit[0]}`;
  };
  return {
    describe,
    read: (written) => {
      const parts = /^(\d+)\s*([A-Za-z]*)$/.exec(written.trim().replaceAll("_", ""));
      const name = (parts?.[2] ?? "").toLowerCase();
      const unit = name === "" ? bare : units.find(([n]) => n.toLowerCase() === name)?.[1];
      const value = parts === null || unit === undefined ? Number.NaN : Number(parts[1]) * unit;
      if (Number.isNaN(value)) return bad(`${describe}, for example ${show(example)}`);
      return value >= min && value <= max
        ? good(value)
        : bad(`${describe} from ${show(min)} to ${show(max)}, for example ${show(example)}`);
    },
    show,
  };
}

const BYTE_UNITS = [
  ["GiB", 1024 ** 3],
  ["MiB", 1024 ** 2],
  ["KiB", 1024],
  ["B", 1],
] as const;
const TIME_UNITS = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1_000],
  ["ms", 1],
] as const;

/** A bare number counts bytes. */
export const bytes = (range: Range): ValueType<number> => measured("a size such as `192KiB` or `5MiB`", BYTE_UNITS, 1, range);

/** Kept as milliseconds; a bare number counts seconds, as the `_SECS` names of ngit-grasp do. */
export const duration = (range: Range): ValueType<number> => measured("a time such as `20s`, `10m` or `30d`", TIME_UNITS, 1_000, range);

/** A list; the first bad item is named. */
export function listOf<T>(item: ValueType<T>, countMax: number): ValueType<readonly T[]> {
  const describe = `a list: ${item.describe}`;
  const showItems = (values: readonly T[]): readonly string[] => values.map((value) => item.show(value) ?? "");
  const readItems = (items: readonly string[]): Read<readonly T[]> => {
    if (items.length > countMax) return bad(`at most ${countMax} items`);
    const values: T[] = [];
    for (const written of items) {
      const read = item.read(written);
      if (!read.ok) return bad(`${describe}; \`${written}\` is not ${read.expected}`);
      values.push(read.value);
    }
    return good(values);
  };
  return {
    describe,
    readItems,
    read: (written) =>
      readItems(
        written
          .split(",")
          .map((part) => part.trim())
          .filter((part) => part !== ""),
      ),
    showItems,
    show: (values) => (values.length === 0 ? undefined : showItems(values).join(",")),
  };
}
