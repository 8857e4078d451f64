import { expect, test } from "vitest";
import { instant } from "../base/time.ts";
import { connectionMachine, openConnection, termsOf } from "./connection.ts";
import type { Step } from "./connection-state.ts";
import type { RelayLimits } from "./limits.ts";

const LIMITS: RelayLimits = {
  subscriptions: 500,
  subscriptionBytes: 5_242_880,
  subscriptionIdLength: 250,
  filtersPerRequest: 20,
  valuesPerRequest: 10_000,
  resultsMax: 500,
  resultsDefault: 500,
  messageBytes: 5_242_880,
  eventBytes: 196_608,
  negentropySessions: 10,
  negentropyItems: 1_000,
  eventsPerMinute: 600,
  queriesPerMinute: 1_200,
  messagesPerMinute: 6_000,
  authsPerMinute: 30,
  unansweredEvents: 500,
  pingAfterMs: 25_000,
  pongWithinMs: 20_000,
};
const NOW = instant(1_700_000_000_000);

/** How many of the same message one connection may say at one moment until it hears `rate-limited`. */
function passes(limits: RelayLimits, text: string, most: number): number {
  const terms = termsOf(limits, []);
  const machine = connectionMachine(terms);
  let state = openConnection(terms, "challenge", NOW);
  for (let n = 0; n < most; n++) {
    const step: Step = machine.step(state, { kind: "frame", text }, NOW);
    if (step.effects.some((effect) => effect.kind === "say" && effect.text.includes("rate-limited"))) return n;
    state = step.state;
  }
  return most;
}

const kinds = (count: number) => Array.from({ length: count }, (_, n) => n);

test.each([
  [1, 1_200],
  [500, 1_200],
  [501, 600],
  [10_000, 60],
])("grasp.md 3.3, query cost: of REQs with %i values, %i pass in a minute", (values, expected) => {
  expect(passes(LIMITS, JSON.stringify(["REQ", "s", { kinds: kinds(values) }]), 2_000)).toBe(expected);
  expect(passes(LIMITS, JSON.stringify(["COUNT", "s", { kinds: kinds(values) }]), 2_000)).toBe(expected);
});

test("where the allowance is smaller than the price, one still passes", () => {
  expect(passes({ ...LIMITS, queriesPerMinute: 5 }, JSON.stringify(["REQ", "s", { kinds: kinds(10_000) }]), 10)).toBe(1);
  expect(passes({ ...LIMITS, messagesPerMinute: 5 }, `["CLOSE","s"${" ".repeat(5_000_000)}]`, 10)).toBe(1);
});

test("a message counts by its length: 6,000 short ones a minute, or 75 of the longest", () => {
  expect(passes(LIMITS, '["CLOSE","s"]', 7_000)).toBe(6_000);
  expect(passes(LIMITS, `["CLOSE","s"${" ".repeat(5_242_880 - 13)}]`, 100)).toBe(75);
});

test("an event counts by the tags that it brings into the indexes", () => {
  const event = (count: number, name: string) =>
    `["EVENT",{"content":"${" ".repeat(1_000)}","tags":[${Array.from({ length: count }, (_, n) => `["${name}","${n}"]`).join(",")}]}]`;
  const limits = { ...LIMITS, unansweredEvents: 1_000 };
  expect(passes(limits, event(50, "t"), 1_000)).toBe(600);
  expect(passes(limits, event(2_048, "e"), 1_000), "a large deletion request").toBe(28);
  expect(passes(limits, event(10_000, "t"), 1_000)).toBe(5);
  expect(passes(limits, event(2_000, "refs/heads/x"), 1_000), "a large repository").toBe(600);
});
