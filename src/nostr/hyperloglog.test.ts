import { describe, expect, test } from "vitest";
import { fakeKey } from "../../test/kit/arbitrary/fake-event.ts";
import type { PublicKey } from "./event.ts";
import type { Filter } from "./filter.ts";
import { HyperLogLog, hllOffset } from "./hyperloglog.ts";

const filter = (...values: [string, readonly string[]][]): Filter => ({ tags: new Map(values) });
/** 64 digits with `digit` at place 32. */
const hexWith = (digit: string) => `${"0".repeat(32)}${digit}${"0".repeat(31)}`;

describe("NIP-45: HyperLogLog", () => {
  test.each<[string, Filter, number | undefined]>([
    ["no tag condition", filter(), undefined],
    ["an empty list", filter(["e", []]), undefined],
    ["an id", filter(["e", [hexWith("a"), hexWith("1")]]), 18],
    ["the first condition", filter(["p", [hexWith("f")]], ["e", [hexWith("0")]]), 23],
    ["an address", filter(["a", [`30617:${hexWith("3")}:x`]]), 11],
    // sha256("abc") is ba7816bf8f01cfea414140de5dae2223b00361a3…: its place 32 holds a b.
    ["any other text is hashed", filter(["t", ["abc"]]), 19],
  ])("offset: %s", (_, given, expected) => {
    expect(hllOffset(given)).toBe(expected);
  });

  test("a register is named by one byte of the key and holds the zeros after it plus one", () => {
    const hll = new HyperLogLog(8);
    const key = (register: string, rest: string) => `${"ff".repeat(8)}${register}${rest.padEnd(46, "f")}` as PublicKey;
    hll.add(key("05", "00001"));
    hll.add(key("05", "8"));
    hll.add(key("00", "8000"));
    hll.add(key("ff", "0".repeat(46)));
    const registers = Buffer.from(hll.toHex(), "hex");
    expect(registers).toHaveLength(256);
    expect([registers[5], registers[0], registers[255]]).toEqual([20, 1, 185]);
    expect(registers.filter((value) => value > 0)).toHaveLength(3);
  });

  test("order and repetition change nothing", () => {
    const keys = Array.from({ length: 300 }, (_, n) => fakeKey(n));
    const [once, again] = [new HyperLogLog(12), new HyperLogLog(12)];
    for (const key of keys) once.add(key);
    for (const key of [...keys, ...keys].toReversed()) again.add(key);
    expect(again.toHex()).toBe(once.toHex());
    expect(once.toHex()).not.toBe(new HyperLogLog(12).toHex());
  });
});
