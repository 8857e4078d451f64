import fc from "fast-check";
import { expect, test } from "vitest";
import { fakeId, fakeKey } from "../../test/kit/arbitrary/fake-event.ts";
import { runs } from "../../test/kit/arbitrary/runs.ts";
import { filterText } from "./filter-text.ts";
import { isFilterProblem, readFilter } from "./read-filter.ts";

const count = fc.maxSafeNat();
const raw = fc.record(
  {
    ids: fc.array(fc.nat({ max: 9 }).map(fakeId)),
    authors: fc.array(fc.nat({ max: 9 }).map(fakeKey)),
    kinds: fc.array(fc.nat({ max: 65_535 })),
    "#e": fc.array(fc.nat({ max: 9 }).map(fakeId)),
    "#d": fc.array(fc.string({ unit: "binary" })),
    "#A": fc.array(fc.string()),
    since: count,
    until: count,
    limit: count,
  },
  { requiredKeys: [] },
);

test("NIP-01: a legal filter is read, and its text is read as the same filter", () => {
  fc.assert(
    fc.property(raw, (value) => {
      const filter = readFilter(JSON.parse(JSON.stringify(value)));
      if (isFilterProblem(filter)) throw new Error(filter.text);
      expect(readFilter(JSON.parse(filterText(filter)))).toEqual(filter);
    }),
    runs(300),
  );
});
