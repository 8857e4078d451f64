import { isIP } from "node:net";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { inCidr, isLoopback, readCidr, readIp, showCidr, showIp } from "./ip.ts";

const canonical = (text: string): string | undefined => {
  const ip = readIp(text);
  return ip === undefined ? undefined : showIp(ip);
};

describe("addresses", () => {
  test.each([
    ["192.0.2.1", "192.0.2.1"],
    ["::ffff:192.0.2.1", "192.0.2.1"],
    ["::FFFF:c000:0201", "192.0.2.1"],
    ["::1", "::1"],
    ["::", "::"],
    ["2001:DB8:0:0:1:0:0:1", "2001:db8::1:0:0:1"],
    ["2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"],
    ["fe80::1%eth0", "fe80::1"],
    ["64:ff9b::192.0.2.33", "64:ff9b::c000:221"],
    ["1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"],
    ["192.0.2", undefined],
    ["192.0.2.01", undefined],
    ["192.0.2.256", undefined],
    ["1:2:3:4:5:6:7:8:9", undefined],
    ["1::2::3", undefined],
    ["1:2:3:4:5:6:7:8::", undefined],
    [":::", undefined],
    ["12345::", undefined],
    ["", undefined],
    ["unknown", undefined],
  ])("%s is %s", (text, expected) => expect(canonical(text)).toBe(expected));

  test("agrees with node on what is an address, and is stable", () => {
    const text = fc.oneof(fc.ipV4(), fc.ipV6(), fc.string({ unit: fc.constantFrom(..."0123456789abcdef:.".split("")), maxLength: 24 }));
    fc.assert(
      fc.property(text, (t) => {
        const shown = canonical(t);
        expect(shown !== undefined).toBe(isIP(t) !== 0);
        if (shown !== undefined) expect(canonical(shown)).toBe(shown);
      }),
      { seed: 3, numRuns: 2_000 },
    );
  });

  test("agrees with the URL parser on how IPv6 is written", () => {
    fc.assert(
      fc.property(fc.ipV6(), (t) => {
        const ip = readIp(t);
        if (ip?.bits === 128) expect(`[${showIp(ip)}]`).toBe(new URL(`http://[${t}]`).hostname);
      }),
      { seed: 4, numRuns: 1_000 },
    );
  });

  test.each([
    ["10.0.0.0/8", "10.255.0.1", true],
    ["10.0.0.0/8", "11.0.0.1", false],
    ["10.0.0.0/8", "::ffff:10.1.1.1", true],
    ["::ffff:10.0.0.0/104", "10.9.9.9", true],
    ["0.0.0.0/0", "8.8.8.8", true],
    ["0.0.0.0/0", "2001:db8::1", false],
    ["fd00::/8", "fdff::1", true],
    ["fd00::/8", "fe00::1", false],
    ["192.0.2.7", "192.0.2.7", true],
    ["192.0.2.7", "192.0.2.8", false],
  ])("%s holds %s: %s", (range, address, expected) => {
    const cidr = readCidr(range);
    const ip = readIp(address);
    if (cidr === undefined || ip === undefined) throw new Error("unreadable");
    expect(inCidr(ip, cidr)).toBe(expected);
  });

  test.each(["10.0.0.0/33", "::/129", "10.0.0.0/", "/8", "10.0.0.0/8/8", "::ffff:10.0.0.0/8", "x"])("%s is no range", (text) => {
    expect(readCidr(text)).toBeUndefined();
  });

  test("bits beyond the prefix are cleared", () => {
    const cidr = readCidr("10.1.2.3/8");
    expect(cidr && showCidr(cidr)).toBe("10.0.0.0/8");
  });

  test.each([
    ["127.9.9.9", true],
    ["::1", true],
    ["::ffff:127.0.0.1", true],
    ["128.0.0.1", false],
    ["::2", false],
  ])("loopback %s: %s", (text, expected) => {
    const ip = readIp(text);
    expect(ip && isLoopback(ip)).toBe(expected);
  });
});
