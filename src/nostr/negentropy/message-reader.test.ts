import { describe, expect, it } from "vitest";
import { setOf } from "../../../test/negentropy/sets.ts";
import { fromHex } from "./hex.ts";
import { MessageReader } from "./message-reader.ts";
import { respond } from "./responder.ts";

const fingerprint = "00".repeat(16);
const id = "ab".repeat(32);

function flawOf(hex: string): string {
  const bytes = fromHex(hex);
  if (!(bytes instanceof Uint8Array)) return bytes.flaw;
  const reader = new MessageReader(bytes);
  for (let range = reader.next(); range !== undefined; range = reader.next()) if (range.kind === "problem") return range.flaw;
  return "none";
}

describe("reading a message (NIP-77, grasp.md 3.5)", () => {
  it.each([
    ["only the version", "61", "none"],
    ["one fingerprint up to infinity", `6100 00 01 ${fingerprint}`, "none"],
    ["an infinite bound with a prefix", `61 00 01ff 01 ${fingerprint}`, "none"],
    ["one id", `61 0000 02 01 ${id}`, "none"],
    ["the same bound twice: an empty range", "61 05 00 00 01 00 00", "none"],
    ["the largest time", "61 90808080808080 00 00 00", "none"],
    ["a time of 2^53", "61 9080808080808001 00 00", "number-too-large"],
    ["times that add up to 2^53", "61 9080808080808000 00 00 02 00 00", "number-too-large"],
    ["a number of nine digits", "61 ffffffffffffffff7f 00 00", "number-too-large"],
    ["a number without end", `61 ${"ff".repeat(40)}`, "number-too-large"],
    ["a padded number", "61 8001 00 00", "number-padded"],
    ["half a number", "61 81", "truncated"],
    ["no prefix length", "61 01", "truncated"],
    ["half a prefix", "61 01 20 abcd", "truncated"],
    ["a prefix of 33 bytes", `61 01 21 ${"ab".repeat(33)} 00`, "prefix-too-long"],
    ["no mode", "61 01 00", "truncated"],
    ["mode 3", "61 01 00 03", "unknown-mode"],
    ["mode 2^53", "61 01 00 9080808080808000", "unknown-mode"],
    ["half a fingerprint", "61 00 00 01 abcd", "truncated"],
    ["one id missing", `61 00 00 02 02 ${id}`, "truncated"],
    ["2^53 ids", `61 00 00 02 9080808080808000 ${id}`, "truncated"],
    ["a prefix that descends", "61 05 01 02 00 01 01 01 00", "descending"],
    ["a prefix that ends before the one before it", "61 05 02 0201 00 01 01 02 00", "descending"],
    ["a range behind infinity", "61 00 00 00 05 00 00", "after-infinity"],
    ["the rest of a cut answer that had reached infinity", `61 00 00 02 00 00 00 01 ${fingerprint}`, "none"],
    ["an empty range that is cut short", "61 05 00 00 01 00 01 abcd", "truncated"],
    ["an odd digit", "6", "not-hex"],
    ["letters that are not hex", "61zz", "not-hex"],
  ])("%s", (_, spaced, flaw) => {
    const hex = spaced.replaceAll(" ", "");
    expect(flawOf(hex)).toBe(flaw);
  });

  it("an empty range says nothing, whatever it holds", () => {
    const bytes = Uint8Array.from(Buffer.from(`61050000010001${fingerprint}`, "hex"));
    const reader = new MessageReader(bytes);
    expect([reader.next()?.kind, reader.next()?.kind, reader.next()]).toEqual(["skip", "skip", undefined]);
  });

  it("bounds mean the same with and without trailing zero bytes", () => {
    expect(flawOf("6105020100 00 0101 01 00".replaceAll(" ", ""))).toBe("none");
  });

  it.each([0x60, 0x62, 0x00, 0xff])("version %i is answered with the version we speak", (version) => {
    expect(respond(setOf([]), Uint8Array.of(version, 1, 2, 3))).toEqual({ kind: "reply", message: Uint8Array.of(0x61) });
  });

  it("an empty message is a problem", () => {
    expect(respond(setOf([]), new Uint8Array(0))).toEqual({ kind: "problem", flaw: "empty" });
  });
});
