import { expect, test } from "vitest";
import type { EventId } from "./event.ts";
import { formatReason } from "./reason.ts";
import { committedTarget, hasWork, leadingZeroBits } from "./work.ts";

const padded = (start: string): EventId => start.padEnd(64, "f") as EventId;

test.each([
  ["000000000e9d97a1ab09fc381030b346cdd7a142ad57e6df0b46dc9bef6c7e2d", 36],
  [padded("002f"), 10],
  [padded("8"), 0],
  [padded("7"), 1],
  ["0".repeat(64), 256],
])("NIP-13: %s has %d leading zero bits", (id, bits) => {
  expect(leadingZeroBits(id)).toBe(bits);
});

test.each<[string, readonly string[], number | undefined]>([
  ["", ["nonce", "776797", "20"], 20],
  ["missing", ["nonce", "776797"], undefined],
  ["no number", ["nonce", "1", "2O"], undefined],
  ["negative", ["nonce", "1", "-5"], undefined],
])("NIP-13: the committed target %s", (_, tag, expected) => {
  expect(committedTarget({ tags: [tag] })).toBe(expected);
});

test.each<[string, number, readonly (readonly string[])[], string | undefined]>([
  ["000f", 12, [["nonce", "1", "12"]], undefined],
  ["000f", 12, [["nonce", "1", "20"]], undefined],
  ["00ff", 12, [["nonce", "1", "12"]], "pow: difficulty 8 is less than 12"],
  ["0000f", 12, [["nonce", "1", "8"]], "pow: committed difficulty 8 is less than 12"],
  ["000f", 12, [], "pow: the nonce tag must commit to a difficulty of at least 12"],
  ["f", 0, [], undefined],
])("grasp.md 3.1: id %s… against %d bits", (start, min, tags, expected) => {
  const refusal = hasWork({ id: padded(start), tags }, min);
  expect(refusal === undefined ? undefined : formatReason(refusal)).toBe(expected);
});
