import { expect, test } from "vitest";
import { stay, unreachable } from "./machine.ts";

test("stay keeps the very same state and asks for nothing", () => {
  const state = { n: 1 };
  expect(stay(state).state).toBe(state);
  expect(stay(state).effects).toEqual([]);
});

test("unreachable names what reached it", () => {
  expect(() => unreachable({ kind: "new" } as never)).toThrow('unreachable: {"kind":"new"}');
});
