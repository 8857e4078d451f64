import { expect, test } from "vitest";
import { equalBytes, fromUtf8, toUtf8 } from "../base/bytes.ts";
import { DELIM, FLUSH, PKT_BYTES_MAX, PKT_DATA_MAX, PktDecoder, pktBytes, pktText, RESPONSE_END } from "./pkt-line.ts";

function decodeOne(text: string): unknown {
  const decoder = new PktDecoder();
  decoder.feed(toUtf8(text));
  return decoder.next();
}

test.each([
  ["", "0004"],
  ["a", "0005a"],
  ["hello\n", "000ahello\n"],
  ["ü", "0006ü"],
])("%j is the line %j", (text, line) => {
  expect(pktText(text)).toBe(line);
  expect(fromUtf8(pktBytes(toUtf8(text)))).toBe(line);
});

test("the longest line is git's longest", () => {
  expect(pktBytes(new Uint8Array(PKT_DATA_MAX))).toHaveLength(PKT_BYTES_MAX);
  expect(pktText("a".repeat(PKT_DATA_MAX)).slice(0, 4)).toBe("fff0");
  expect(() => pktText("a".repeat(PKT_DATA_MAX + 1))).toThrow("invariant");
});

test.each([
  [FLUSH, { kind: "flush" }],
  [DELIM, { kind: "delim" }],
  [RESPONSE_END, { kind: "response-end" }],
  ["0004", { kind: "data", data: new Uint8Array(0) }],
  ["000Aabcdef", { kind: "data", data: toUtf8("abcdef") }],
  ["000", undefined],
  ["0005", undefined],
])("%j is read as %j", (text, pkt) => {
  expect(decodeOne(text)).toEqual(pkt);
});

test.each([
  ["0003", "length-reserved"],
  ["000g", "length-digits"],
  [" 005a", "length-digits"],
  ["+005a", "length-digits"],
  ["0x05a", "length-digits"],
  ["-001", "length-digits"],
  ["\n000", "length-digits"],
  ["fff1", "too-long"],
  ["ffff", "too-long"],
  ["PACK", "length-digits"],
])("%j is no line: %s", (text, why) => {
  expect(decodeOne(text)).toEqual({ kind: "malformed", why });
});

test("behind a malformed length nothing is read any more", () => {
  const decoder = new PktDecoder();
  decoder.feed(toUtf8("zzzz"));
  expect(decoder.next()).toMatchObject({ kind: "malformed" });
  decoder.feed(toUtf8("0000"));
  expect(decoder.next()).toMatchObject({ kind: "malformed" });
});

test("a line within a chunk is a view of it; what follows the line is too", () => {
  const decoder = new PktDecoder();
  const chunk = toUtf8("0005a0000PACK");
  decoder.feed(chunk);
  const pkt = decoder.next();
  expect(pkt?.kind === "data" && pkt.data.buffer === chunk.buffer).toBe(true);
  expect(decoder.consumed).toBe(5);
  expect(decoder.next()).toEqual({ kind: "flush" });
  expect(decoder.consumed).toBe(9);
  expect(decoder.rest.buffer).toBe(chunk.buffer);
  expect(fromUtf8(decoder.rest)).toBe("PACK");
});

test("a line that spans chunks survives what becomes of the chunks", () => {
  const decoder = new PktDecoder();
  const chunk = toUtf8("000aab");
  decoder.feed(chunk);
  expect(decoder.next()).toBeUndefined();
  chunk.fill(0);
  decoder.feed(toUtf8("cdef"));
  const pkt = decoder.next();
  expect(pkt?.kind === "data" && equalBytes(pkt.data, toUtf8("abcdef"))).toBe(true);
});
