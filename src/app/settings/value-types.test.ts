import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { PublicKey } from "../../nostr/event.ts";
import { encodeNpub } from "../../nostr/npub.ts";
import { logLevel, publicKey, repositoryRule, workers } from "./choice-types.ts";
import { basePath, bindAddress, cidr, domain, link } from "./place-types.ts";
import { bytes, duration, listOf, onOff, whole } from "./value-types.ts";

const alice = "a".repeat(64) as PublicKey;
const npub = encodeNpub(alice);
const BAD = Symbol("bad");
const value = (read: { ok: boolean; value?: unknown }): unknown => (read.ok ? read.value : BAD);

const size = bytes({ min: 1, max: 2 ** 40, example: 1024 });
const time = duration({ min: 0, max: 1e12, example: 1000 });

describe("reading values", () => {
  test.each([
    [whole({ min: 1, max: 10, example: 3 }), "7", 7],
    [whole({ min: 1, max: 2_000, example: 3 }), "1_000", 1_000],
    [whole({ min: 1, max: 10, example: 3 }), "0", BAD],
    [whole({ min: 1, max: 10, example: 3 }), "11", BAD],
    [whole({ min: 1, max: 10, example: 3 }), "1e1", BAD],
    [whole({ min: 1, max: 10, example: 3 }), "-1", BAD],
    [size, "192KiB", 196_608],
    [size, "5 mib", 5_242_880],
    [size, "196608", 196_608],
    [size, "5MB", BAD],
    [size, "0", BAD],
    [time, "25s", 25_000],
    [time, "2592000", 2_592_000_000],
    [time, "500ms", 500],
    [time, "30d", 2_592_000_000],
    [time, "0", 0],
    [time, "1y", BAD],
    [onOff, "YES", true],
    [onOff, "0", false],
    [onOff, "maybe", BAD],
    [bindAddress, "127.0.0.1:7334", { host: "127.0.0.1", port: 7334 }],
    [bindAddress, "[::]:0", { host: "::", port: 0 }],
    [bindAddress, "localhost:80", { host: "localhost", port: 80 }],
    [bindAddress, ":80", BAD],
    [bindAddress, "127.0.0.1", BAD],
    [bindAddress, "127.0.0.256:80", BAD],
    [bindAddress, "127.0.0.1:65536", BAD],
    [bindAddress, "::1:80", BAD],
    [domain, "Git.Example.ORG", "git.example.org"],
    [domain, "git.example:443", "git.example:443"],
    [domain, "[::1]:7334", "[::1]:7334"],
    [domain, "https://git.example", BAD],
    [domain, "git.example/x", BAD],
    [domain, "a b", BAD],
    [domain, "git.example:99999", BAD],
    [basePath, "/", "/"],
    [basePath, "/git/", "/git"],
    [basePath, "/a/b", "/a/b"],
    [basePath, "git", BAD],
    [basePath, "/a/../b", BAD],
    [basePath, "/a//b", BAD],
    [link, "https://a.example/i.png", "https://a.example/i.png"],
    [link, "javascript:alert(1)", BAD],
    [workers, "auto", "auto"],
    [workers, "2", 2],
    [workers, "0", BAD],
    [logLevel, "DEBUG", "debug"],
    [logLevel, "off", "silent"],
    [logLevel, "loud", BAD],
    [publicKey, npub, alice],
    [publicKey, alice, alice],
    [publicKey, "alice", BAD],
    [repositoryRule, npub, { kind: "owner", owner: alice }],
    [repositoryRule, `${npub}/a/b`, { kind: "repository", owner: alice, identifier: "a/b" }],
    [repositoryRule, "my-repo", { kind: "identifier", identifier: "my-repo" }],
    [repositoryRule, `${npub.slice(0, -1)}x`, BAD],
    [repositoryRule, `${npub}/`, BAD],
    [repositoryRule, alice, BAD],
    [cidr, "10.1.2.3/8", { ip: { bits: 32, value: 0x0a00_0000n }, prefix: 8 }],
    [cidr, "10.0.0.0/33", BAD],
  ])("%#: %o reads %j", (type, text, expected) => expect(value(type.read(text))).toEqual(expected));

  test("a list names its bad item", () => {
    const list = listOf(whole({ min: 1, max: 9, example: 3 }), 3);
    expect(list.read(" 1, 2 ,,3")).toMatchObject({ ok: true, value: [1, 2, 3] });
    expect(list.read("1,x")).toMatchObject({ ok: false, expected: expect.stringContaining("`x` is not") });
    expect(list.read("1,2,3,4")).toEqual({ ok: false, expected: "at most 3 items" });
  });

  test("sizes and times are shown exactly", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2 ** 40 }), (n) => {
        expect(size.read(size.show(n) ?? "")).toMatchObject({ value: n });
        expect(time.read(time.show(n) ?? "")).toMatchObject({ ok: n <= 1e12 });
        if (n <= 1e12) expect(time.read(time.show(n) ?? "")).toMatchObject({ value: n });
      }),
      { seed: 7, numRuns: 300 },
    );
  });
});
