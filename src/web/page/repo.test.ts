import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { unixSeconds } from "../../base/time.ts";
import type { Oid } from "../../git/oid.ts";
import { EMPTY_REFS, type RefMap } from "../../git/ref-map.ts";
import type { RefName } from "../../git/ref-name.ts";
import type { Identifier } from "../../grasp/identifier.ts";
import type { PublicKey } from "../../nostr/event.ts";
import { encodeNpub } from "../../nostr/npub.ts";
import { page } from "../answer.ts";
import { publicUrls } from "../public-url.ts";
import { type RepoPageModel, repoPage } from "./repo.ts";
import { repoMissingPage } from "./repo-missing.ts";

const [alice, bob, carol] = ["aa", "bb", "cc"].map((byte) => byte.repeat(32)) as [PublicKey, PublicKey, PublicKey];
const oid = "0123456789".repeat(4) as Oid;
const refMap = (names: readonly string[], head = "refs/heads/main"): RefMap => ({
  refs: new Map(names.map((name) => [name as RefName, oid])),
  head: head as RefName,
});
const model = (change: Partial<RepoPageModel> = {}): RepoPageModel => ({
  repo: { owner: alice, identifier: "reef" as Identifier },
  urls: publicUrls("git.example", "/"),
  basePath: "/",
  name: "The Reef",
  description: "Corals & fish",
  web: ["https://reef.example/"],
  maintainers: [alice, bob],
  invited: [carol],
  content: {
    kind: "served",
    refs: refMap(["refs/heads/a", "refs/heads/main", "refs/tags/v1.9", "refs/tags/v1.10", `refs/nostr/${"e".repeat(64)}`]),
    signed: { by: bob, at: unixSeconds(1_700_000_000) },
  },
  ...change,
});
const text = (change: Partial<RepoPageModel> = {}): string => repoPage(model(change)).text;
/** What is read, without markup. */
const seen = (markup: string): string =>
  markup
    .replace(/<[^>]*>/g, " ")
    .replace(/\s+/g, " ")
    .trim();

describe("the page of a repository (grasp.md 7.1)", () => {
  test("served: how to clone it, its branches and tags, who signed", () => {
    const body = text();
    expect(body).toContain(`<code>git clone https://git.example/${encodeNpub(alice)}/reef.git</code>`);
    expect(body).toContain(`<code>git clone nostr://${encodeNpub(alice)}/git.example/reef</code>`);
    expect(body).toContain(`href="https://gitworkshop.dev/${encodeNpub(alice)}/git.example/reef"`);
    expect(seen(body)).toMatch(/Branches 2 main default 0123456789 a 0123456789 Tags 2 v1\.10 0123456789 v1\.9 0123456789/);
    expect(seen(body)).toContain("One pull request has a commit here.");
    expect(seen(body)).toContain("on 2023-11-14 22:13 UTC");
    expect(body).toContain("served here");
    expect(body).not.toContain("waiting for");
  });

  test("waiting for git data: how to push, nothing to clone", () => {
    const body = text({ content: { kind: "waiting" } });
    expect(body).toContain("waiting for git data");
    expect(body).toContain(`git push https://git.example/${encodeNpub(alice)}/reef.git --all`);
    expect(body).not.toMatch(/git clone|served here|Branches/);
  });

  test("who maintains it, and who is only invited (grasp.md 4.5)", () => {
    const short = (key: PublicKey): string => `${encodeNpub(key).slice(0, 10)}…${encodeNpub(key).slice(-6)}`;
    expect(seen(text())).toContain(`Maintainers ${short(alice)} owner ${short(bob)} ${short(carol)} invited Elsewhere`);
    expect(seen(text({ maintainers: [], invited: [] }))).toContain("Nobody may change this repository at present.");
  });

  test("the identifier is told when the name is another; without a name it is the name", () => {
    expect(seen(text())).toContain("The Reef reef · by");
    expect(text({ name: " " })).toContain("<h1><bdi>reef</bdi></h1>");
    expect(seen(text({ name: "Reef" }))).toMatch(/git\.example Reef by npub1/);
  });

  test("no branch, a day that no calendar has", () => {
    expect(seen(text({ content: { kind: "served", refs: EMPTY_REFS, signed: undefined } }))).toContain("There is no branch yet.");
    const signed = { by: bob, at: unixSeconds(Number.MAX_SAFE_INTEGER) };
    expect(seen(text({ content: { kind: "served", refs: EMPTY_REFS, signed } }))).toContain("on a day far ahead");
  });

  test("links that a stranger wrote lead to pages only", () => {
    const body = text({ web: ["javascript:alert(1)", "data:text/html,x", " JaVaScRiPt:x", "ftp://x", "http://ok.example/a"] });
    expect(body.match(/href="(?!https:\/\/gitworkshop|nostr:|\/|https:\/\/ngit)[^"]*"/g)).toEqual(['href="http://ok.example/a"']);
  });

  test("large announcements and many refs make no large page", () => {
    const names = Array.from({ length: 20_000 }, (_, i) => `refs/heads/branch-${i}`);
    const keys = Array.from({ length: 3_000 }, (_, i) => i.toString(16).padStart(64, "0") as PublicKey);
    const body = text({
      name: "n".repeat(50_000),
      description: "d".repeat(150_000),
      web: Array.from({ length: 5_000 }, (_, i) => `https://x.example/${"y".repeat(300)}${i}`),
      maintainers: keys,
      invited: keys,
      content: { kind: "served", refs: refMap([...names, "refs/heads/main"]), signed: undefined },
    });
    expect(body.length).toBeLessThan(120_000);
    expect(seen(body)).toContain("Branches 20001 main default");
    expect(seen(body)).toContain("Only 500 of them are shown.");
    expect(body).toContain("<summary>488 more</summary>");
  });

  /** The markup alone: tags with the names of their attributes. */
  const skeleton = (markup: string): readonly string[] => (markup.match(/<[^>]*>/g) ?? []).map((tag) => tag.replace(/"[^"]*"/g, '""'));

  test("whatever strangers write, the markup is the same and no script is in it", () => {
    const evil = fc.oneof(
      fc.string({ unit: "binary", minLength: 1, maxLength: 60 }),
      fc.constantFrom(`"><script>alert(1)</script>`, `' onmouseover='x`, "</title><img src=x>", "<!--", "&lt;", "\u202e<b>"),
    );
    const plainly = skeleton(text({ name: "x", description: "x", web: [] }));
    fc.assert(
      fc.property(evil, evil, evil, (name, description, identifier) => {
        const change = {
          name: `x${name}`,
          description: `x${description}`,
          web: [],
          repo: { owner: alice, identifier: `y${identifier}` as Identifier },
        };
        const body = text(change);
        if (change.name.trim().toLowerCase() !== change.repo.identifier.toLowerCase()) {
          expect(skeleton(body)).toEqual(plainly);
        }
        expect(body).not.toMatch(/<script|<img src=x|<b>/i);
      }),
      { seed: 7, numRuns: 300 },
    );
  });

  test("its answer allows no script and no frame", () => {
    const { headers } = page(200, repoPage(model()));
    expect(new Map(headers).get("Content-Security-Policy")).toMatch(
      /^default-src 'none'; style-src 'self'; img-src 'self'; .*frame-ancestors 'none'$/,
    );
    expect(text()).not.toMatch(/<script|style="|<style| on[a-z]+=/);
  });

  test("below a base path everything links below it", () => {
    const body = text({ basePath: "/git", urls: publicUrls("git.example", "/git") });
    expect(body).toContain('href="/git/style.css"');
    expect(body).toContain('<nav><a href="/git"><img src="/git/icon.svg"');
    expect(body).toContain(`git clone https://git.example/git/${encodeNpub(alice)}/reef.git`);
  });
});

test("no repository: says how to announce one, and repeats nothing", () => {
  const body = repoMissingPage({ basePath: "/", urls: publicUrls("git.example", "/") }).text;
  expect(body).toContain("ngit init --grasp-server wss://git.example");
  expect(body).not.toContain("npub1");
});
