import { describe, expect, test } from "vitest";
import type { Identifier } from "../grasp/identifier.ts";
import type { PublicKey } from "../nostr/event.ts";
import { escapeHtml, html } from "./html.ts";
import { type InfoFacts, relayInfo } from "./info.ts";
import { publicUrls } from "./public-url.ts";
import { respond, type Site } from "./respond.ts";

const facts: InfoFacts = {
  urls: publicUrls("git.example", "/"),
  name: "<b>Reef & Co</b>",
  description: 'a "test" <script>alert(1)</script>',
  contact: "javascript:alert(1)",
  icon: undefined,
  serverKey: "ab".repeat(32) as PublicKey,
  software: "https://holdfast.example",
  version: "1.2.3",
  acceptance: "grasp",
  allowList: false,
  blockList: false,
  minPowDifficulty: 0,
  ignoresDeletion: false,
  grasps: [],
  limits: { maxMessageBytes: 5_242_880, maxSubscriptions: 500, maxResults: 500, defaultResults: 400, maxSubscriptionIdLength: 250 },
};
const site = (change: Partial<Site> = {}): Site => ({
  urls: facts.urls,
  basePath: "/",
  info: relayInfo(facts),
  git: false,
  notReady: () => undefined,
  metrics: async () => "ngit_x 1\n",
  ...change,
});

describe("NIP-11 (grasp.md 2.4)", () => {
  test("true figures", () => {
    expect(JSON.parse(JSON.stringify(relayInfo(facts)))).toEqual({
      name: facts.name,
      description: facts.description,
      contact: facts.contact,
      icon: "https://git.example/icon.svg",
      pubkey: facts.serverKey,
      self: facts.serverKey,
      software: "https://holdfast.example",
      version: "1.2.3",
      supported_nips: [1, 9, 11, 13, 40, 42, 45, 62, 70, 77],
      supported_grasps: [],
      repo_acceptance_criteria: "Repositories whose announcements name this server, and events that refer to them, are accepted.",
      limitation: {
        max_message_length: 5_242_880,
        max_subscriptions: 500,
        max_limit: 500,
        default_limit: 400,
        max_subid_length: 250,
        min_pow_difficulty: 0,
        auth_required: false,
        payment_required: false,
        restricted_writes: true,
      },
    });
  });

  test("who ignores deletions promises none", () => {
    const info = relayInfo({ ...facts, ignoresDeletion: true, minPowDifficulty: 12 });
    expect(info.supported_nips).toEqual([1, 11, 13, 40, 42, 45, 70, 77]);
    expect(info.limitation.min_pow_difficulty).toBe(12);
    expect(info.repo_acceptance_criteria).toMatch(/12 bits.*not followed\.$/);
  });

  test("open and curated", () => {
    expect(relayInfo({ ...facts, acceptance: "open" })).toMatchObject({ limitation: { restricted_writes: false }, curation: undefined });
    expect(relayInfo({ ...facts, allowList: true }).curation).toContain("listed");
  });
});

describe("answers (grasp.md 2.1)", () => {
  test("nostr.json names the server's key", async () => {
    expect((await respond({ kind: "nip05" }, site())).body).toBe(`{"names":{"_":"${facts.serverKey}"}}`);
  });

  test("ready, or the reason why not (GRASP:2.1/readyz-reason)", async () => {
    expect((await respond({ kind: "ready" }, site())).status).toBe(200);
    expect(await respond({ kind: "ready" }, site({ notReady: () => "the store is opening" }))).toMatchObject({
      status: 503,
      body: "not ready: the store is opening\n",
    });
  });

  test("grasp.md 7.1: info/refs without a service is forbidden in a sentence; without git nothing is there", async () => {
    const repo = { owner: facts.serverKey, identifier: "x" as Identifier };
    const dumb = await respond({ kind: "git-dumb", repo }, site({ git: true }));
    expect(dumb.status).toBe(403);
    expect(dumb.body).toMatch(/^Only git's smart protocol .*\.\n$/);
    for (const kind of ["git-dumb", "repo-page", "git-fetch", "git-push"] as const) {
      expect((await respond({ kind, repo }, site())).status).toBe(404);
    }
    expect((await respond({ kind: "repo-page", repo }, site({ git: true }))).body).toContain("No repository here");
    expect((await respond({ kind: "git-refs", repo, service: "upload-pack" }, site())).status).toBe(404);
  });

  test("metrics, when they are on", async () => {
    expect(await respond({ kind: "metrics" }, site())).toMatchObject({ status: 200, body: "ngit_x 1\n" });
    expect(await respond({ kind: "metrics" }, site({ metrics: undefined }))).toMatchObject({ status: 404, body: "Metrics disabled\n" });
  });

  test("a preflight may be remembered for a day", async () => {
    expect(await respond({ kind: "preflight" }, site())).toEqual({ status: 204, headers: [["Access-Control-Max-Age", "86400"]], body: "" });
  });

  test("the home page escapes what it was told and links to no script", async () => {
    const { body, headers } = await respond({ kind: "home" }, site());
    expect(body).toContain("&lt;b&gt;Reef &amp; Co&lt;/b&gt;");
    expect(body).not.toMatch(/<script|href="javascript:|<b>/);
    expect(body).toContain("wss://git.example");
    expect(body).not.toContain("git clone");
    expect(new Map(headers).get("Content-Security-Policy")).toMatch(/default-src 'none'.*frame-ancestors 'none'/);
    const withGit = (await respond({ kind: "home" }, site({ git: true }))).body;
    expect(withGit).toContain("git clone https://git.example/&lt;npub&gt;");
    expect(withGit).toContain("<code>ngit init --grasp-server wss://git.example</code>");
  });

  test("pages below a base path link below it", async () => {
    const { body } = await respond({ kind: "not-found" }, site({ basePath: "/git" }));
    expect(body).toContain('href="/git/style.css"');
    expect(body).toContain('<a href="/git">');
  });
});

test("addresses for people", () => {
  expect(publicUrls("git.example", "/git")).toEqual({ home: "https://git.example/git/", relay: "wss://git.example/git" });
  for (const domain of ["127.0.0.1:7334", "localhost:7334", "[::1]:7334", "x.onion"])
    expect(publicUrls(domain, "/").relay).toBe(`ws://${domain}`);
});

test("html escapes everything that is not html", () => {
  const evil = `<a href='x' on="y">&`;
  expect(escapeHtml(evil)).toBe("&lt;a href=&#39;x&#39; on=&quot;y&quot;&gt;&amp;");
  expect(html`<p title="${evil}">${[evil, html`<i>${1}</i>`, undefined, false]}</p>`.text).toBe(
    `<p title="${escapeHtml(evil)}">${escapeHtml(evil)}<i>1</i></p>`,
  );
});
