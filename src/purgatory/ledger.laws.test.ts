import fc from "fast-check";
import { expect, test } from "vitest";
import { fakeId, fakeKey } from "../../test/kit/arbitrary/fake-event.ts";
import { runs } from "../../test/kit/arbitrary/runs.ts";
import { checkLaws } from "../../test/kit/machine-laws.ts";
import { type Instant, instant, plus, unixSeconds } from "../base/time.ts";
import type { Oid } from "../git/oid.ts";
import { dueIn } from "./due.ts";
import { ledgerMachine } from "./ledger.ts";
import { type Effect, EMPTY_LEDGER, type Input, type Ledger, type LedgerInput } from "./ledger-state.ts";
import { LIFETIMES, type Lifetimes } from "./lifetimes.ts";
import { type ProjectKey, tipKey, type Waiting } from "./waiting.ts";

/** Small, so that every limit is met. */
const LIMITS: Lifetimes = {
  ...LIFETIMES,
  statesPerAuthor: 3,
  invitedPerProject: 2,
  pullRequestsPerAuthor: 2,
  pullRequestsPerRepository: 3,
  tipsPerId: 2,
  waitingMax: 9,
  softMax: 2,
  rememberedMax: 4,
  tipsMax: 5,
  fetchesMax: 3,
};
const machine = ledgerMachine(LIMITS);

const project = fc.constantFrom("hold", "fast").map((key) => key as ProjectKey);
const projects = fc.uniqueArray(project, { maxLength: 2 });
const repository = fc.constantFrom("30617:alice:hold", "30617:bob:hold", "30617:bob:fast");
const number = fc.nat({ max: 24 });
const id = number.map(fakeId);

/** An id stands for one event: what it is follows from its number. How it stands may differ from one time to the next. */
const waiting: fc.Arbitrary<Waiting> = fc
  .record({ n: number, projects, repository, invited: fc.boolean(), overlaid: fc.boolean() })
  .map(({ n, repository: named, invited, overlaid, ...more }): Waiting => {
    const common = { id: fakeId(n), author: fakeKey(n % 2), createdAt: unixSeconds(n % 7), ...more };
    if (n % 3 === 0) return { ...common, what: "announcement", repository: `30617:${n % 2}:${n % 4}` };
    if (n % 3 === 1) return { ...common, what: "state", invited, overlaid };
    return { ...common, what: "pull-request", repositories: [named] };
  });
const tip = fc.record({ repository, id, tip: fc.constantFrom("1", "2", "3").map((digit) => digit.repeat(40) as Oid) });
const ids = fc.array(id, { maxLength: 3 });
const fetch = fc.constantFrom("f1", "f2", "f3", "f4");

const inputs: fc.Arbitrary<Input> = fc.oneof(
  { weight: 12, arbitrary: fc.record({ kind: fc.constant("held"), waiting }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("sign-of-life"),
      repositories: fc.array(fc.nat({ max: 3 }).map((n) => `30617:${n % 2}:${n}`)),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("fetch-began"), fetch, projects }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("fetch-ended"), fetch }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("round-ended"), project }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("settled"),
      promoted: ids,
      dropped: ids,
      standing: fc.array(fc.record({ id, projects, invited: fc.boolean(), overlaid: fc.boolean() }), { maxLength: 3 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("deleted"), ids }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("staged"), tip }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("unstaged"), tip }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("started"), downMs: fc.constantFrom(0, 1, 86_400_000, -5) }) },
);

const isKnown = (ledger: Ledger, of: string): boolean =>
  [ledger.waiting, ledger.soft, ledger.remembered].some((table) => (table as ReadonlyMap<string, unknown>).has(of));

function isLate(ledger: Ledger, input: Input): boolean {
  switch (input.kind) {
    case "fetch-ended":
      return !ledger.fetches.has(input.fetch);
    case "round-ended":
      return ledger.firstRounds === undefined;
    case "unstaged":
      return !ledger.tips.has(tipKey(input.tip));
    case "deleted":
      return !input.ids.some((one) => isKnown(ledger, one));
    case "settled":
      return ![...input.promoted, ...input.dropped, ...input.standing.map((each) => each.id)].some((one) => isKnown(ledger, one));
    default:
      return false;
  }
}

/** How much any table holds, as a share of what it may. */
const fullness = ({ waiting: waits, soft, remembered, tips, fetches }: Ledger): number =>
  Math.max(
    waits.size / LIMITS.waitingMax,
    soft.size / LIMITS.softMax,
    remembered.size / LIMITS.rememberedMax,
    tips.size / LIMITS.tipsMax,
    fetches.size / LIMITS.fetchesMax,
  );

test("the ledger obeys the laws of every machine", () => {
  const { numRuns, seed } = runs(300);
  const options = { machine, initial: EMPTY_LEDGER, inputs, isLateAnswer: isLate, sizeOf: fullness, sizeMax: 1, gapMsMax: 2_400_000 };
  checkLaws<Ledger, Input, Effect>({ ...options, runs: numRuns, seed, inputsMax: 80 });
});

/** The invariants of SPEC.md, after every step. */
function checkInvariants(before: Ledger, input: LedgerInput, after: Ledger, effects: readonly Effect[], now: Instant): void {
  const all = [...after.waiting.keys(), ...after.soft.keys(), ...after.remembered.keys()];
  expect(new Set(all).size, "I1: an event stands in one place").toBe(all.length);
  const repositories = [...after.waiting.values(), ...after.soft.values()].flatMap(({ waiting: one }) =>
    one.what === "announcement" ? [one.repository] : [],
  );
  expect(new Set(repositories).size, "I2: one announcement per owner and identifier").toBe(repositories.length);
  for (const { waiting: one, heldAt, until } of after.waiting.values()) {
    if (one.what === "announcement") {
      expect(until, "I3: at most 24 h in all").toBeLessThanOrEqual(plus(heldAt, LIMITS.announcementMaxMs));
    }
  }
  const ended = effects.filter((effect) => effect.kind === "expire" || effect.kind === "soft-expire");
  if (input.kind === "wake") {
    const fetches = new Map([...before.fetches].filter(([, { lostAt }]) => lostAt > now));
    const due = dueIn({ ...before, fetches });
    for (const { id: one } of ended) {
      const entry = before.waiting.get(one);
      expect(entry, "I4: only what waited ends").toBeDefined();
      if (entry !== undefined) expect(due(entry), "I4: never while a fetch runs, nor with overlay records").toBeLessThanOrEqual(now);
    }
  } else {
    expect(ended.filter((effect) => effect.kind === "expire")).toEqual([]);
  }
  for (const effect of effects) {
    if (effect.kind === "forget" || effect.kind === "refuse")
      expect(isKnown(after, effect.id), "I6: what is dropped is dropped").toBe(false);
    if (effect.kind === "expire")
      expect(after.remembered.has(effect.id) || effects.some((one) => one.kind === "forget" && one.id === effect.id)).toBe(true);
  }
}

test("its invariants hold after every step, and when nothing more happens everything ends", () => {
  const move = fc.record({ gapMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 2_400_000 })), input: inputs });
  const walk = (moves: readonly { gapMs: number; input: Input }[]): void => {
    let ledger: Ledger = EMPTY_LEDGER;
    let now = instant(1_700_000_000_000);
    const step = (input: LedgerInput): void => {
      const next = machine.step(ledger, input, now);
      checkInvariants(ledger, input, next.state, next.effects, now);
      ledger = next.state;
    };
    const sleepTo = (end: Instant): void => {
      let wakes = 0;
      for (let at = machine.wakeAt(ledger); at !== undefined && at <= end; at = machine.wakeAt(ledger)) {
        expect(++wakes, "it wakes itself for ever").toBeLessThan(1_000);
        now = at > now ? at : now;
        step({ kind: "wake" });
      }
      now = end;
    };
    for (const { gapMs, input } of moves) {
      sleepTo(plus(now, gapMs));
      step(input);
    }
    sleepTo(plus(now, 30 * 86_400_000));
    // 6.7: a state with overlay records is all that time does not end.
    for (const { waiting: one } of ledger.waiting.values()) expect(one).toMatchObject({ what: "state", overlaid: true });
    expect({ ...ledger, waiting: new Map() }).toEqual(EMPTY_LEDGER);
  };
  fc.assert(fc.property(fc.array(move, { maxLength: 80, size: "max" }), walk), runs(300));
});
