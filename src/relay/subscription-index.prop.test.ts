import fc from "fast-check";
import { expect, test } from "vitest";
import { anyEvents } from "../../test/kit/arbitrary/event.ts";
import { fakeEvent, fakeId, fakeKey } from "../../test/kit/arbitrary/fake-event.ts";
import { filterNear, filterOf } from "../../test/kit/arbitrary/filter.ts";
import { runs } from "../../test/kit/arbitrary/runs.ts";
import { type Filter, matches } from "../nostr/filter.ts";
import { compile, type Listener, SubscriptionIndex } from "./subscription-index.ts";

interface Named extends Listener {
  readonly name: number;
}

/** Every subscription, asked one after the other. */
class LinearScan {
  readonly #filters = new Map<Named, readonly Filter[]>();
  add(listener: Named, filters: readonly Filter[]): void {
    this.#filters.set(listener, filters);
  }
  remove(listener: Named): void {
    this.#filters.delete(listener);
  }
  match(event: Parameters<typeof matches>[1]): number[] {
    return [...this.#filters].filter(([, filters]) => filters.some((filter) => matches(filter, event))).map(([{ name }]) => name);
  }
  get size(): number {
    return this.#filters.size;
  }
}

const steps = anyEvents.chain((events) =>
  fc.record({
    events: fc.constant(events),
    steps: fc.array(
      fc.oneof(
        { weight: 4, arbitrary: fc.record({ kind: fc.constant("add"), filters: fc.array(filterNear(events), { maxLength: 4 }) }) },
        { weight: 2, arbitrary: fc.record({ kind: fc.constant("remove"), pick: fc.nat({ max: 100 }) }) },
        { weight: 4, arbitrary: fc.record({ kind: fc.constant("event"), event: fc.constantFrom(...events) }) },
      ),
      { minLength: 1, maxLength: 60, size: "max" },
    ),
  }),
);

test("the index finds what asking everybody would find, each once, whatever was added and removed before", () => {
  fc.assert(
    fc.property(steps, ({ steps }) => {
      const index = new SubscriptionIndex<Named>();
      const scan = new LinearScan();
      const open: Named[] = [];
      for (const [n, step] of steps.entries()) {
        if (step.kind === "add") {
          const listener = { name: n, lastMatch: 0 };
          open.push(listener);
          index.add(listener, step.filters);
          scan.add(listener, step.filters);
        } else if (step.kind === "remove") {
          const [gone] = open.splice(step.pick % (open.length + 1), 1);
          if (gone === undefined) continue;
          index.remove(gone);
          scan.remove(gone);
        } else {
          const found: number[] = [];
          index.match(step.event, ({ name }) => found.push(name));
          expect(found.toSorted((a, b) => a - b)).toEqual(scan.match(step.event));
        }
        expect(index.size).toBe(scan.size);
      }
    }),
    runs(300),
  );
});

test("a compiled filter says what matches() says", () => {
  const pairs = anyEvents.chain((events) => fc.tuple(filterNear(events), fc.constant(events)));
  fc.assert(
    fc.property(pairs, ([filter, events]) => {
      const accepts = compile(filter);
      for (const event of events) expect(accepts(event)).toBe(matches(filter, event));
    }),
    runs(500),
  );
});

test("lists long enough to be kept as sets, on both sides of the border", () => {
  for (const length of [7, 8, 9]) {
    const filter = filterOf({
      ids: Array.from({ length }, (_, n) => fakeId(n)),
      authors: Array.from({ length }, (_, n) => fakeKey(n)),
      kinds: Array.from({ length }, (_, n) => n),
      tags: { t: Array.from({ length }, (_, n) => `${n}`) },
    });
    const last = length - 1;
    const event = fakeEvent({ id: fakeId(last), pubkey: fakeKey(last), kind: last, tags: [["t", `${last}`]] });
    expect(compile(filter)(event)).toBe(true);
    expect(compile(filter)({ ...event, kind: length })).toBe(false);
    expect(compile(filter)({ ...event, tags: [["t", `${length}`]] })).toBe(false);
  }
});

test("a listener may leave while it or another is being served", () => {
  const index = new SubscriptionIndex<Named>();
  const listeners = [1, 2, 3].map((name) => ({ name, lastMatch: 0 }));
  for (const listener of listeners) index.add(listener, [filterOf({ kinds: [1] })]);
  const served: number[] = [];
  index.match(fakeEvent(), ({ name }) => {
    served.push(name);
    if (name === 1) for (const listener of listeners.slice(0, 2)) index.remove(listener);
  });
  expect(served).toEqual([1, 3]);
  expect(index.size).toBe(1);
});
