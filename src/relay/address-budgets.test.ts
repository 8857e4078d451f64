import { expect, test } from "vitest";
import { instant } from "../base/time.ts";
import { AddressBudgets } from "./address-budgets.ts";

const at = (ms: number) => instant(1_000_000 + ms);

test("grasp.md 3.3: all connections of an address share its allowance, by what they do", () => {
  const budgets = new AddressBudgets({ events: 2, queries: 1, messages: 0, auths: 1 });
  expect([1, 2, 3].map(() => budgets.allows("a", "events", at(0)))).toEqual([true, true, false]);
  expect(budgets.allows("b", "events", at(0)), "another address").toBe(true);
  expect(budgets.allows("a", "queries", at(0)), "something else").toBe(true);
  expect(budgets.allows("a", "queries", at(0))).toBe(false);
  expect(budgets.allows("a", "events", at(29_999))).toBe(false);
  expect(budgets.allows("a", "events", at(30_000)), "it comes back").toBe(true);
});

test("0 is no limit, and neither has a client without a key", () => {
  const budgets = new AddressBudgets({ events: 1, queries: 1, messages: 0, auths: 1 });
  for (let n = 0; n < 100; n++) expect(budgets.allows("a", "messages", at(0)) && budgets.allows(undefined, "events", at(0))).toBe(true);
});

test("what costs more than a minute's allowance is possible once it is whole", () => {
  const budgets = new AddressBudgets({ events: 1, queries: 10, messages: 1, auths: 1 });
  expect(budgets.allows("a", "queries", at(0), 50)).toBe(true);
  expect(budgets.allows("a", "queries", at(59_999), 50)).toBe(false);
  expect(budgets.allows("a", "queries", at(60_000), 50)).toBe(true);
});
