import type { Bound } from "./bound.ts";
import { fingerprint } from "./fingerprint.ts";
import type { ItemSet } from "./items.ts";
import type { MessageWriter } from "./message-writer.ts";

/** Into how many parts a range is split when its fingerprints differ; what the other implementations do. */
const PARTS = 16;
/** Fewer items than this are told one by one: two ids an expected part cost about what its fingerprint does. */
export const LISTED_BELOW = 2 * PARTS;

/** Writes what we have from `low` up to `high`, the items up to `upper`, more finely than one fingerprint. False, and nothing written, when it does not fit. */
export function writeSplit(out: MessageWriter, items: ItemSet, low: number, high: number, upper: Bound): boolean {
  const mark = out.mark();
  const count = high - low;
  if (count < LISTED_BELOW) {
    out.ids(upper, items.idBytes(low, high));
  } else {
    const size = Math.floor(count / PARTS);
    const larger = count % PARTS;
    let from = low;
    for (let part = 0; part < PARTS; part += 1) {
      const to = from + size + (part < larger ? 1 : 0);
      out.fingerprint(to === high ? upper : items.boundBefore(to), fingerprint(items, from, to));
      from = to;
    }
  }
  if (out.fits) return true;
  out.back(mark);
  return false;
}
