import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { instant } from "../base/time.ts";
import type { Oid } from "../git/oid.ts";
import type { EventId } from "../nostr/event.ts";
import { DayBytes } from "./day-bytes.ts";
import type { RepositoryKey } from "./layout.ts";
import {
  allowance,
  claim,
  expiredTips,
  nextDeadline,
  STAGING_LIMITS,
  type StagedTip,
  type StagingFacts,
  stage,
  stagingCost,
  type Upload,
} from "./staging.ts";

const MIB = 1024 * 1024;
const now = instant(1_700_000_000_000);
const repository = "aa".repeat(32) as RepositoryKey;
const event = (n: number): EventId => n.toString(16).padStart(64, "0") as EventId;
const oid = (n: number): Oid => (n + 1).toString(16).padStart(40, "0") as Oid;
const upload = (change: Partial<Upload> = {}): Upload => ({ repository, event: event(1), tip: oid(1), address: "192.0.2.1", ...change });
const held = (change: Partial<StagedTip> = {}): StagedTip => ({ ...upload(), bytes: MIB, deadline: instant(now + 1000), ...change });
const facts = (tips: readonly StagedTip[] = [], uploadedToday = 0): StagingFacts => ({ held: tips, uploadedToday });

describe("unsigned uploads (grasp.md 7.9, 7.16)", () => {
  test.each<[string, Upload, StagingFacts, number | string]>([
    ["the first: a quarter of the repository's share", upload(), facts(), 64 * MIB],
    ["without a limit per address: the whole share", upload({ address: undefined }), facts(), 256 * MIB],
    ["what this address holds already counts", upload(), facts([held({ event: event(2), bytes: 60 * MIB })]), 4 * MIB],
    ["its quarter is full", upload(), facts([held({ event: event(2), bytes: 64 * MIB })]), "address share used up"],
    [
      "others have filled the share",
      upload(),
      facts([held({ event: event(2), address: "x", bytes: 256 * MIB })]),
      "repository share used up",
    ],
    [
      "another repository's share is its own",
      upload(),
      facts([held({ repository: "bb".repeat(32) as RepositoryKey, bytes: 256 * MIB })]),
      64 * MIB,
    ],
    ["a gibibyte a day", upload(), facts([], 1024 * MIB), "daily bytes used up"],
    ["the rest of the day", upload(), facts([], 1020 * MIB), 4 * MIB],
    ["the day counts for addresses only", upload({ address: undefined }), facts([], 2048 * MIB), 256 * MIB],
    [
      "four tips of one event",
      upload(),
      facts([2, 3, 4, 5].map((n) => held({ tip: oid(n), address: `a${n}` }))),
      "too many tips for this event",
    ],
    ["three and this very one", upload(), facts([1, 2, 3, 4].map((n) => held({ tip: oid(n), address: `a${n}` }))), 64 * MIB],
  ])("%s", (_, given, known, expected) => expect(allowance(given, known)).toBe(expected));

  test("staged for twenty minutes", () => {
    const verdict = stage({ ...upload(), bytes: 5 }, facts(), now);
    expect(verdict).toEqual({ kind: "stage", tip: { ...upload(), bytes: 5, deadline: now + 20 * 60 * 1000 } });
  });

  test.each<[string, Upload, StagingFacts, number, string]>([
    ["beyond the address's quarter", upload(), facts(), 65 * MIB, "address share used up"],
    ["beyond the repository's share", upload({ address: undefined }), facts(), 257 * MIB, "repository share used up"],
    ["beyond the day", upload(), facts([], 1000 * MIB), 30 * MIB, "daily bytes used up"],
    ["meanwhile others came", upload(), facts([2, 3, 4, 5].map((n) => held({ tip: oid(n) }))), 5, "too many tips for this event"],
  ])("decided again when the bytes are known: %s", (_, given, known, bytes, why) => {
    expect(stage({ ...given, bytes }, known, now)).toEqual({ kind: "refuse", why });
  });

  test("the same tip again: a new deadline, on the account of who brought it first", () => {
    const first = held({ address: "198.51.100.7" });
    const verdict = stage({ ...upload(), bytes: 5 }, facts([first]), now);
    expect(verdict).toEqual({ kind: "stage", tip: { ...first, deadline: now + STAGING_LIMITS.lifetimeMs } });
  });

  test("the event's c picks, in every repository; the others go", () => {
    const [mine, hers, elsewhere] = [held(), held({ tip: oid(2) }), held({ repository: "bb".repeat(32) as RepositoryKey })];
    const other = held({ event: event(9) });
    expect(claim(event(1), oid(1), [mine, hers, elsewhere, other])).toEqual({ picked: [mine, elsewhere], dropped: [hers] });
    expect(claim(event(1), undefined, [mine, other])).toEqual({ picked: [], dropped: [mine] });
  });

  test("what is over goes, and the next is known", () => {
    const [early, late] = [held({ deadline: now }), held({ event: event(2), deadline: instant(now + 1) })];
    expect(expiredTips([early, late], now)).toEqual([early]);
    expect(nextDeadline([late, early])).toBe(now);
    expect(nextDeadline([])).toBeUndefined();
  });

  test("whoever uploads whatever: no share is ever exceeded", () => {
    const step = fc.record({
      event: fc.integer({ min: 0, max: 30 }).map(event),
      tip: fc.integer({ min: 0, max: 6 }).map(oid),
      address: fc.constantFrom("a", "b", "c", undefined),
      bytes: fc.integer({ min: 0, max: 80 * MIB }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const day = new DayBytes(100);
        let tips: readonly StagedTip[] = [];
        for (const { address, ...rest } of steps) {
          const given = { ...rest, address, repository };
          const known = facts(tips, address === undefined ? 0 : day.used(address, now));
          const most = allowance(given, known);
          const verdict = stage(given, known, now);
          expect(verdict.kind === "stage").toBe(typeof most === "number" && given.bytes <= most);
          if (verdict.kind === "refuse") continue;
          if (address !== undefined) day.add(address, stagingCost(given.bytes), now);
          tips = [...tips.filter((t) => t.event !== given.event || t.tip !== given.tip), verdict.tip];
          const sum = (list: readonly StagedTip[]): number => list.reduce((total, t) => total + t.bytes, 0);
          expect(sum(tips)).toBeLessThanOrEqual(256 * MIB);
          for (const who of ["a", "b", "c"]) {
            expect(sum(tips.filter((t) => t.address === who))).toBeLessThanOrEqual(64 * MIB);
            expect(day.used(who, now)).toBeLessThanOrEqual(1024 * MIB);
          }
          for (const t of tips) expect(tips.filter((o) => o.event === t.event).length).toBeLessThanOrEqual(4);
        }
      }),
      { seed: 79, numRuns: 200 },
    );
  });

  test("tips of a few bytes are bounded in number", () => {
    let tips: readonly StagedTip[] = [];
    for (let n = 0; ; n++) {
      const verdict = stage({ ...upload({ event: event(n) }), bytes: 100 }, facts(tips), now);
      if (verdict.kind === "refuse") break;
      tips = [...tips, verdict.tip];
    }
    expect(tips).toHaveLength(1024);
  });
});

describe("bytes of a day", () => {
  test("counted until midnight; a bounded number of keys", () => {
    const day = new DayBytes(2);
    day.add("a", 3, now);
    day.add("a", 4, now);
    expect(day.used("a", now)).toBe(7);
    expect(day.used("b", now)).toBe(0);
    expect(day.used("a", instant(now + 86_400_000))).toBe(0);
    day.add("b", 1, now);
    day.add("c", 1, now);
    expect(day.used("a", now)).toBe(0);
  });
});
