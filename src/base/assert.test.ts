import { expect, test } from "vitest";
import { invariant } from "./assert.ts";

test("a broken invariant throws with its message, a kept one does nothing", () => {
  expect(() => invariant(false, "one writer")).toThrow("invariant broken: one writer");
  expect(() => invariant(true, "one writer")).not.toThrow();
});
