import { ID_BYTES } from "./bound.ts";

/** (time, id) pairs by column, as the store hands them out. */
export interface ItemColumns {
  readonly length: number;
  readonly createdAt: Float64Array;
  /** 32 bytes an item, one after the other. */
  readonly ids: Uint8Array;
}

/** Are the items in NIP-77's order (time, then id, both ascending) and all different? */
export function inOrder(items: ItemColumns): boolean {
  const { length, createdAt, ids } = items;
  if (createdAt.length < length || ids.length < length * ID_BYTES) throw new RangeError("a column is shorter than the set");
  let previous = -1;
  for (let i = 0; i < length; i += 1) {
    const time = createdAt[i] as number;
    if (!Number.isSafeInteger(time) || time < 0) throw new RangeError("an item's time is not a whole number from 0 to 2^53-1");
    if (time < previous || (time === previous && compareIds(ids, i - 1, i) >= 0)) return false;
    previous = time;
  }
  return true;
}

/** The same items in NIP-77's order, each once. For unions of several sources; the store's own answer is in order already. */
export function sorted(items: ItemColumns): ItemColumns {
  const times = items.createdAt;
  const order = new Uint32Array(items.length);
  for (let i = 0; i < order.length; i += 1) order[i] = i;
  order.sort((a, b) => (times[a] as number) - (times[b] as number) || compareIds(items.ids, a, b));

  const createdAt = new Float64Array(items.length);
  const ids = new Uint8Array(items.length * ID_BYTES);
  let length = 0;
  for (const from of order) {
    createdAt[length] = times[from] as number;
    ids.set(items.ids.subarray(from * ID_BYTES, (from + 1) * ID_BYTES), length * ID_BYTES);
    const again = length > 0 && createdAt[length] === createdAt[length - 1] && compareIds(ids, length - 1, length) === 0;
    if (!again) length += 1;
  }
  return { length, createdAt, ids };
}

function compareIds(ids: Uint8Array, a: number, b: number): number {
  const left = a * ID_BYTES;
  const right = b * ID_BYTES;
  for (let i = 0; i < ID_BYTES; i += 1) {
    const difference = (ids[left + i] as number) - (ids[right + i] as number);
    if (difference !== 0) return difference;
  }
  return 0;
}
