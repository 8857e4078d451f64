import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { PublicKey } from "../nostr/event.ts";
import { encodeNpub } from "../nostr/npub.ts";
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

  const owner = "ab".repeat(32) as PublicKey;
  const npub = encodeNpub(owner);
  const upload = "service=git-upload-pack";

  test.each<[string, string, string]>([
    ["GET", "x.git", "repo-page"],
    ["HEAD", "x.git/", "repo-page"],
    ["GET", "x.git?tab=1", "repo-page"],
    ["POST", "x.git", "not-allowed"],
    ["GET", `x.git/info/refs?${upload}`, "git-refs"],
    ["HEAD", "x.git/info/refs?service=git-receive-pack", "git-refs"],
    ["GET", `x.git//info/refs?${upload}`, "git-refs"],
    ["GET", `x.git/info/refs?a=b&${upload}#c`, "git-refs"],
    ["POST", `x.git/info/refs?${upload}`, "not-allowed"],
    ["PUT", "x.git/info/refs", "not-allowed"],
    ["GET", "x.git/info/refs", "git-dumb"],
    ["GET", "x.git/info/refs?", "git-dumb"],
    ["GET", "x.git/info/refs?service=", "git-dumb"],
    ["GET", "x.git/info/refs?service=git-upload-archive", "git-dumb"],
    ["GET", `x.git/info/refs?${upload}&service=git-receive-pack`, "git-dumb"],
    ["GET", `x.git/info/refs#${upload}`, "git-dumb"],
    ["POST", "x.git/git-upload-pack", "git-fetch"],
    ["POST", "x.git//git-upload-pack", "git-fetch"],
    ["POST", "x.git/git-receive-pack", "git-push"],
    ["GET", "x.git/git-upload-pack", "not-allowed"],
    ["HEAD", "x.git/git-receive-pack", "not-allowed"],
    ["OPTIONS", "x.git/git-receive-pack", "preflight"],
    ["POST", "x.git/git-upload-pack/", "not-found"],
    ["POST", "x.git/upload-pack", "not-found"],
    ["GET", "x.git/info/refs/", "not-found"],
    ["GET", "x.git///info/refs", "not-found"],
    ["GET", "x.git/info%2Frefs", "not-found"],
    ["GET", "x.git/HEAD", "not-found"],
    ["GET", "x.git/objects/info/packs", "not-found"],
    ["GET", "x.git/../y.git", "not-found"],
    ["GET", "x", "not-found"],
    ["GET", "x/info/refs", "not-found"],
    ["GET", ".git", "not-found"],
    ["GET", "%2e%2e.git", "not-found"],
    ["GET", "a%2Fb.git", "not-found"],
    ["GET", "a%5Cb.git", "not-found"],
    ["GET", "a%00.git", "not-found"],
    ["GET", "%zz.git", "not-found"],
    ["GET", "%ff.git", "not-found"],
    ["GET", `${"x".repeat(101)}.git`, "not-found"],
  ])("grasp.md 7.1: %s /<npub>/%s is %s", (method, rest, expected) => {
    expect(kind(method, `/${npub}/${rest}`)).toBe(expected);
    expect(kind(method, `/git/${npub}/${rest}`, {}, "/git")).toBe(expected);
    expect(kind(method, `https://git.example/${npub}/${rest}`)).toBe(expected);
    expect(kind(method, `/${npub}/${rest}`, {}, "/git")).toBe(method === "OPTIONS" ? "preflight" : "not-found");
  });

  test.each<[string, string]>([
    ["x", "x"],
    ["my%20repo", "my repo"],
    ["a+b", "a+b"],
    ["x.git", "x.git"],
    ["%F0%9F%9A%80", "🚀"],
    ["%2525", "%25"],
    ["%252e%252e%252f", "%2e%2e%2f"],
    ["a%3Fb%23c", "a?b#c"],
    ["caf%C3%A9", "café"],
    ["x%2Egit", "x.git"],
  ])("grasp.md 7.1: %j is decoded once, to %j", (encoded, identifier) => {
    const url = `/${npub}/${encoded}.git/info/refs?${upload}`;
    expect(routeOf({ method: "GET", url, headers: {} }, "/")).toEqual({
      kind: "git-refs",
      repo: { owner, identifier },
      service: "upload-pack",
    });
  });

  test("which methods a refusal names", () => {
    const allow = (method: string, rest: string): unknown => routeOf({ method, url: `/${npub}/x.git${rest}`, headers: {} }, "/");
    expect(allow("POST", "/info/refs")).toEqual({ kind: "not-allowed", allow: "GET, HEAD, OPTIONS" });
    expect(allow("GET", "/git-receive-pack")).toEqual({ kind: "not-allowed", allow: "POST, OPTIONS" });
  });

  test("an npub that is none, or spelt otherwise, names nothing", () => {
    for (const who of [npub.toUpperCase(), `${npub.slice(0, -1)}q`, owner, `%6E${npub.slice(1)}`, "npub1x"]) {
      expect(kind("GET", `/${who}/x.git`)).toBe("not-found");
    }
  });

  test("total: any request is some route, and asking twice gives the same", () => {
    const input: fc.Arbitrary<RouteInput> = fc.record({
      method: fc.oneof(fc.constantFrom("GET", "HEAD", "POST", "OPTIONS"), fc.string()),
      url: fc.oneof(
        fc.webPath(),
        fc.string(),
        fc.webUrl(),
        fc.tuple(fc.string({ unit: "binary" }), fc.webPath()).map(([name, rest]) => `/${npub}/${name}.git${rest}`),
      ),
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
