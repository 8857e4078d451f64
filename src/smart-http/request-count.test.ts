import { expect, it } from "vitest";
import { RequestCount } from "./request-count.ts";

it("so many of one address at a time, and others beside them", () => {
  const count = new RequestCount(2);
  const first = count.enter("a");
  const second = count.enter("a");
  expect([first, second, count.enter("a"), count.enter("b")].map((leave) => leave !== undefined)).toEqual([true, true, false, true]);
  first?.();
  expect(count.enter("a")).toBeDefined();
});

it("remembers nobody who has none under way", () => {
  const count = new RequestCount(2);
  const leaves = [count.enter("a"), count.enter("a"), count.enter("b")];
  expect(count.size).toBe(2);
  for (const leave of leaves) leave?.();
  expect(count.size).toBe(0);
});

it("one without a key is not limited", () => {
  const count = new RequestCount(0);
  expect(count.enter(undefined)).toBeDefined();
  expect(count.enter("a")).toBeUndefined();
});
