import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readVarint, VARINT_MAX, varintBytes, writeVarint } from "./varint.ts";

const written = (value: number): Uint8Array => {
  const into = new Uint8Array(12);
  return into.slice(0, writeVarint(into, 0, value));
};

describe("varint (NIP-77: base 128, most significant digit first, as few digits as possible)", () => {
  it.each([
    [0, "00"],
    [127, "7f"],
    [128, "8100"],
    [2 ** 31, "8880808000"],
    [2 ** 32, "9080808000"],
    [2 ** 53 - 1, "8fffffffffffff7f"],
    [2 ** 53, "9080808080808000"],
  ])("%d", (value, hex) => {
    expect(Buffer.from(written(value)).toString("hex")).toBe(hex);
  });

  it("comes back as it went, for every size", () => {
    const values = fc.oneof(
      fc.integer({ min: 0, max: VARINT_MAX }),
      fc.tuple(fc.nat(52), fc.integer({ min: -2, max: 2 })).map(([bits, near]) => Math.max(0, 2 ** bits + near)),
    );
    fc.assert(
      fc.property(values, (value) => {
        const bytes = written(value);
        const cursor = { bytes, at: 0 };
        expect(readVarint(cursor)).toBe(value);
        expect(cursor.at).toBe(bytes.length);
        expect(varintBytes(value)).toBe(bytes.length);
      }),
      { seed: 85, numRuns: 500 },
    );
  });
});
