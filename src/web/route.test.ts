import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type RouteInput, routeOf } from "./route.ts";

const key = "dGhlIHNhbXBsZSBub25jZQ==";
const upgrade = { connection: "Upgrade", upgrade: "websocket", "sec-websocket-version": "13", "sec-websocket-key": key };
const nostr = { accept: "application/nostr+json" };

type Headers = Record<string, string>;
const kind = (method: string, url: string, headers: Headers = {}, base = "/"): string => routeOf({ method, url, headers }, base).kind;

describe("routes (grasp.md 2.1)", () => {
  test.each<[string, string, Headers, string]>([
    ["OPTIONS", "/", {}, "preflight"],
    ["OPTIONS", "/any/where", upgrade, "preflight"],
    ["OPTIONS", "*", {}, "preflight"],
    ["GET", "/", upgrade, "relay"],
    ["GET", "/?x=1", upgrade, "relay"],
    ["GET", "/", { ...upgrade, connection: "keep-alive, Upgrade" }, "relay"],
    ["GET", "/", { ...upgrade, upgrade: "WebSocket" }, "relay"],
    ["GET", "/", { ...upgrade, ...nostr }, "relay"],
    ["GET", "/elsewhere", upgrade, "not-found"],
    ["GET", "/", { connection: "upgrade", upgrade: "h2c" }, "home"],
    ["GET", "/", { upgrade: "websocket" }, "home"],
    ["GET", "/", nostr, "info"],
    ["HEAD", "/", nostr, "info"],
    ["GET", "/", { accept: "text/html, Application/Nostr+JSON;q=0.9" }, "info"],
    ["GET", "/x", nostr, "not-found"],
    ["GET", "/", { accept: "text/html" }, "home"],
    ["HEAD", "/", {}, "home"],
    ["GET", "/.well-known/nostr.json?name=_", {}, "nip05"],
    ["GET", "/metrics", {}, "metrics"],
    ["GET", "/healthz", {}, "alive"],
    ["HEAD", "/readyz", {}, "ready"],
    ["GET", "/style.css", {}, "asset"],
    ["GET", "http://git.example/metrics", {}, "metrics"],
    ["GET", "http://git.example", {}, "home"],
    ["GET", "/npub1x/repo.git/info/refs?service=git-upload-pack", {}, "not-found"],
    ["GET", "//", {}, "not-found"],
    ["GET", "/constructor", {}, "not-found"],
    ["POST", "/nowhere", {}, "not-found"],
    ["POST", "/", {}, "not-allowed"],
    ["DELETE", "/metrics", {}, "not-allowed"],
    ["GET", "metrics", {}, "bad-request"],
    ["GET", "", {}, "bad-request"],
  ])("%s %s %j is %s", (method, url, headers, expected) => expect(kind(method, url, headers)).toBe(expected));

  test.each<[string, Headers, number]>([
    ["GET", { ...upgrade, "sec-websocket-key": "" }, 400],
    ["GET", { ...upgrade, "sec-websocket-key": "short" }, 400],
    ["GET", { ...upgrade, "sec-websocket-version": "8" }, 426],
    ["POST", upgrade, 400],
  ])("an upgrade that is none: %s %j", (method, headers, status) => {
    expect(routeOf({ method, url: "/", headers }, "/")).toMatchObject({ kind: "bad-upgrade", status });
  });

  test("an upgrade without a key is refused, not a crash", () => {
    const { "sec-websocket-key": _, ...headers } = upgrade;
    expect(routeOf({ method: "GET", url: "/", headers }, "/")).toMatchObject({ kind: "bad-upgrade", status: 400 });
  });

  test.each<[string, Headers, string]>([
    ["/git", upgrade, "relay"],
    ["/git/", upgrade, "relay"],
    ["/git", nostr, "info"],
    ["/git/metrics", {}, "metrics"],
    ["/git/.well-known/nostr.json", {}, "not-found"],
    ["/", upgrade, "not-found"],
    ["/metrics", {}, "not-found"],
    ["/gitx", {}, "not-found"],
    ["/.well-known/nostr.json", {}, "not-found"],
  ])("grasp.md 2.3: below the base path /git, %s %j is %s", (url, headers, expected) =>
    expect(kind("GET", url, headers, "/git")).toBe(expected),
  );

  test("total: any request is some route, and asking twice gives the same", () => {
    const input: fc.Arbitrary<RouteInput> = fc.record({
      method: fc.oneof(fc.constantFrom("GET", "HEAD", "POST", "OPTIONS"), fc.string()),
      url: fc.oneof(fc.webPath(), fc.string(), fc.webUrl()),
      headers: fc.dictionary(fc.constantFrom("accept", "connection", "upgrade", "sec-websocket-key", "sec-websocket-version"), fc.string()),
    });
    fc.assert(
      fc.property(input, fc.constantFrom("/", "/git", "/a/b"), (request, base) => {
        expect(routeOf(request, base)).toEqual(routeOf(request, base));
      }),
      { seed: 11, numRuns: 500 },
    );
  });
});
