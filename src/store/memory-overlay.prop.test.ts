import fc from "fast-check";
import { expect, it } from "vitest";
import { MemoryOverlay } from "./memory-overlay.ts";

const rising = (a: number, b: number): number => a - b;
const anyEntries = fc.array(fc.tuple(fc.nat({ max: 6 }), fc.option(fc.nat(), { nil: undefined })), { maxLength: 20 });

it("a draft reads like a changed copy, leaves its base alone until commit, and then makes it equal", () => {
  fc.assert(
    fc.property(anyEntries, anyEntries, (before, changes) => {
      const base = new Map<number, number>();
      for (const [key, value] of before) if (value !== undefined) base.set(key, value);
      const untouched = new Map(base);
      const copy = new Map(base);
      const draft = new MemoryOverlay(base);
      for (const [key, value] of changes) {
        if (value === undefined) draft.delete(key);
        else draft.set(key, value);
        if (value === undefined) copy.delete(key);
        else copy.set(key, value);
      }
      for (let key = 0; key <= 6; key++) expect(draft.get(key)).toBe(copy.get(key));
      expect(draft.values().toSorted(rising)).toEqual([...copy.values()].toSorted(rising));
      expect(base).toEqual(untouched);
      draft.commit();
      expect(base).toEqual(copy);
    }),
    { seed: 3, numRuns: 200 },
  );
});
