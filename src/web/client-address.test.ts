import { describe, expect, test } from "vitest";
import { clientAddress } from "./client-address.ts";
import { type Cidr, readCidr } from "./ip.ts";

const trusted = ["10.0.0.0/8", "fd00::/8"].map((text) => readCidr(text) as Cidr);
const ipOf = (peer: string, headers: Record<string, string>): string => clientAddress(peer, headers, trusted).ip;

describe("who sent it (grasp.md 2.3)", () => {
  test.each<[string, string, Record<string, string>, string]>([
    ["no proxy", "192.0.2.1", {}, "192.0.2.1"],
    ["mapped", "::ffff:192.0.2.1", {}, "192.0.2.1"],
    ["a stranger's headers do not count", "192.0.2.1", { "x-forwarded-for": "198.51.100.1" }, "192.0.2.1"],
    ["a proxy's do", "10.0.0.1", { "x-forwarded-for": "198.51.100.1" }, "198.51.100.1"],
    ["from the right to the first untrusted", "10.0.0.1", { "x-forwarded-for": "203.0.113.9, 198.51.100.1, 10.0.0.2" }, "198.51.100.1"],
    ["what the client wrote itself is not reached", "10.0.0.1", { "x-forwarded-for": "garbage, 198.51.100.1" }, "198.51.100.1"],
    ["malformed: the peer", "10.0.0.1", { "x-forwarded-for": "198.51.100.1, garbage" }, "10.0.0.1"],
    [
      "malformed does not fall through to another header",
      "10.0.0.1",
      { "x-forwarded-for": "garbage", "x-real-ip": "198.51.100.1" },
      "10.0.0.1",
    ],
    ["all trusted: the farthest", "10.0.0.1", { "x-forwarded-for": "10.0.0.3, 10.0.0.2" }, "10.0.0.3"],
    ["with a port", "10.0.0.1", { "x-forwarded-for": "198.51.100.1:4711" }, "198.51.100.1"],
    ["IPv6 in brackets", "fd00::1", { "x-forwarded-for": "[2001:db8::1]:4711" }, "2001:db8::1"],
    ["Forwarded", "10.0.0.1", { forwarded: 'for="[2001:db8::1]:4711";proto=https, For=10.0.0.2' }, "2001:db8::1"],
    ["Forwarded with commas in quotes", "10.0.0.1", { forwarded: 'host="a,b";for=198.51.100.1' }, "198.51.100.1"],
    ["Forwarded without an address", "10.0.0.1", { forwarded: "for=_hidden" }, "10.0.0.1"],
    ["X-Forwarded-For before Forwarded", "10.0.0.1", { forwarded: "for=203.0.113.1", "x-forwarded-for": "198.51.100.1" }, "198.51.100.1"],
    ["X-Real-IP", "10.0.0.1", { "x-real-ip": "198.51.100.1" }, "198.51.100.1"],
    ["no header", "10.0.0.1", {}, "10.0.0.1"],
    ["no peer", "", {}, "unknown"],
  ])("%s", (_, peer, headers, expected) => expect(ipOf(peer, headers)).toBe(expected));

  test.each([
    ["192.0.2.1", "192.0.2.1"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["127.0.0.1", undefined],
    ["::1", undefined],
    ["10.0.0.1", undefined],
  ])("limits for %s count by %s", (peer, key) => expect(clientAddress(peer, {}, trusted).limitKey).toBe(key));
});
