import fc from "fast-check";
import { expect, test } from "vitest";
import { compareBytes, concatBytes, equalBytes, fromHex, fromUtf8, toHex, toUtf8, utf8Length } from "./bytes.ts";

const someBytes = fc.uint8Array({ maxLength: 80 });
// Any 16-bit units, lone surrogates included.
const anyText = fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)) });

test("hex is what Node makes of it, and comes back", () => {
  const property = fc.property(someBytes, (bytes) => {
    expect(toHex(bytes)).toBe(Buffer.from(bytes).toString("hex"));
    expect(fromHex(toHex(bytes))).toEqual(bytes);
  });
  fc.assert(property, { seed: 1 });
});

test.each(["0", "0g", "g0", "AB", "0x", "é0", "٠٠", "12 4"])("%s is not hex", (text) => {
  expect(fromHex(text)).toBeUndefined();
});

test("comparing and equality agree with Buffer's", () => {
  const pair = fc.oneof(
    fc.tuple(someBytes, someBytes),
    fc.tuple(someBytes, someBytes).map(([a, b]): [Uint8Array, Uint8Array] => [a, concatBytes([a, b])]),
  );
  const property = fc.property(pair, ([a, b]) => {
    expect(Math.sign(compareBytes(a, b))).toBe(Buffer.compare(a, b));
    expect(equalBytes(a, b)).toBe(Buffer.compare(a, b) === 0);
    expect(equalBytes(a, a.slice())).toBe(true);
  });
  fc.assert(property, { seed: 2 });
});

test("concat joins in order", () => {
  const property = fc.property(fc.array(someBytes), (parts) => {
    expect(toHex(concatBytes(parts))).toBe(parts.map(toHex).join(""));
  });
  fc.assert(property, { seed: 3 });
});

test("utf-8: well-formed text comes back, the length is known beforehand for any text", () => {
  const comesBack = fc.property(fc.string({ unit: "binary" }), (text) => {
    expect(fromUtf8(toUtf8(text))).toBe(text);
  });
  fc.assert(comesBack, { seed: 4 });
  const lengthKnown = fc.property(anyText, (text) => {
    expect(utf8Length(text)).toBe(toUtf8(text).length);
  });
  fc.assert(lengthKnown, { seed: 5, numRuns: 500 });
  expect(utf8Length("\u{1f389}")).toBe(4);
});

test("utf-8: malformed bytes are not repaired, a byte order mark is kept", () => {
  expect(fromUtf8(Uint8Array.of(0xc3, 0x28))).toBeUndefined();
  expect(fromUtf8(Uint8Array.of(0xed, 0xa0, 0x80))).toBeUndefined();
  expect(fromUtf8(Uint8Array.of(0xef, 0xbb, 0xbf, 0x61))).toBe("\ufeffa");
});
