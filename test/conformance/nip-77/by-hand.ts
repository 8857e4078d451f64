import { createHash } from "node:crypto";

/** Negentropy V1 written a second time, straight from the appendix of NIP-77 and without a thought for speed. */
export interface Item {
  readonly created_at: number;
  readonly id: string;
}

/** `undefined` is infinity. */
export interface HandBound {
  readonly timestamp: number | undefined;
  readonly prefix: string;
}

export interface HandRange {
  readonly upper: HandBound;
  readonly payload:
    | { readonly mode: 0 }
    | { readonly mode: 1; readonly fingerprint: string }
    | { readonly mode: 2; readonly ids: readonly string[] };
}

export const INFINITY: HandBound = { timestamp: undefined, prefix: "" };

export function varint(value: number): string {
  const digits = [value % 128];
  for (let rest = Math.floor(value / 128); rest > 0; rest = Math.floor(rest / 128)) digits.unshift((rest % 128) + 128);
  return Buffer.from(digits).toString("hex");
}

/** Concatenates ranges behind the version byte; timestamps become differences. */
export function encode(ranges: readonly HandRange[]): string {
  let out = "61";
  let last = 0;
  for (const { upper, payload } of ranges) {
    out += upper.timestamp === undefined ? "00" : varint(1 + upper.timestamp - last);
    last = upper.timestamp ?? last;
    out += varint(upper.prefix.length / 2) + upper.prefix + varint(payload.mode);
    if (payload.mode === 1) out += payload.fingerprint;
    if (payload.mode === 2) out += varint(payload.ids.length) + payload.ids.join("");
  }
  return out;
}

export function decode(hex: string): readonly HandRange[] {
  const bytes = Buffer.from(hex, "hex");
  if (bytes.length * 2 !== hex.length || bytes[0] !== 0x61) throw new Error(`not a negentropy message: ${hex.slice(0, 80)}`);
  let at = 1;
  let last = 0;
  const take = (count: number): string => {
    if (at + count > bytes.length) throw new Error("the message ends too early");
    at += count;
    return bytes.subarray(at - count, at).toString("hex");
  };
  const number = (): number => {
    let value = 0;
    for (;;) {
      const byte = Number.parseInt(take(1), 16);
      value = value * 128 + (byte % 128);
      if (byte < 128) return value;
    }
  };
  const ranges: HandRange[] = [];
  while (at < bytes.length) {
    const encoded = number();
    const timestamp = encoded === 0 ? undefined : encoded - 1 + last;
    last = timestamp ?? last;
    const upper = { timestamp, prefix: take(number()) };
    const mode = number();
    if (mode === 0) ranges.push({ upper, payload: { mode } });
    else if (mode === 1) ranges.push({ upper, payload: { mode, fingerprint: take(16) } });
    else if (mode === 2) ranges.push({ upper, payload: { mode, ids: Array.from({ length: number() }, () => take(32)) } });
    else throw new Error(`unknown mode ${mode}`);
  }
  return ranges;
}

export const inOrder = <T extends Item>(items: readonly T[]): readonly T[] =>
  items.toSorted((a, b) => a.created_at - b.created_at || (a.id < b.id ? -1 : 1));

const isBelow = (item: Item, bound: HandBound): boolean => {
  if (bound.timestamp === undefined) return true;
  if (item.created_at !== bound.timestamp) return item.created_at < bound.timestamp;
  return item.id < bound.prefix.padEnd(64, "0");
};

export function fingerprint(ids: readonly string[]): string {
  let sum = 0n;
  for (const id of ids) sum += BigInt(`0x${Buffer.from(id, "hex").reverse().toString("hex")}`);
  const wrapped = (sum % (1n << 256n)).toString(16).padStart(64, "0");
  const input = Buffer.concat([Buffer.from(wrapped, "hex").reverse(), Buffer.from(varint(ids.length), "hex")]);
  return createHash("sha256").update(input).digest("hex").slice(0, 32);
}

/** "Nothing here": no id is named, whether the empty range is written out or skipped because both sides have nothing in it. */
export const namesNothing = (message: string | undefined): boolean =>
  message !== undefined && decode(message).every(({ payload }) => payload.mode === 0 || (payload.mode === 2 && payload.ids.length === 0));

/** What is untrue in a relay's message when its set is `items`; an empty list for an honest one. */
export function untruths(message: string, items: readonly Item[]): readonly string[] {
  const problems: string[] = [];
  let rest = [...inOrder(items)];
  for (const { upper, payload } of decode(message)) {
    const end = rest.findIndex((item) => !isBelow(item, upper));
    const inside = rest.slice(0, end < 0 ? rest.length : end).map((item) => item.id);
    rest = rest.slice(inside.length);
    if (payload.mode === 1 && payload.fingerprint !== fingerprint(inside)) problems.push(`fingerprint of ${inside.length} ids`);
    if (payload.mode === 2 && payload.ids.toSorted().join() !== inside.toSorted().join()) problems.push(`list of ${inside.length} ids`);
  }
  return problems;
}
