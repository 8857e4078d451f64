import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Identifier, readIdentifier } from "../grasp/identifier.ts";
import { readRepoPath } from "../grasp/repo-id.ts";
import type { PublicKey } from "../nostr/event.ts";
import { encodeNpub } from "../nostr/npub.ts";
import { publicUrls } from "./public-url.ts";
import { repoLinks } from "./repo-links.ts";

const owner = "ab".repeat(32) as PublicKey;
const npub = encodeNpub(owner);
const named = (identifier: string) => ({ owner, identifier: identifier as Identifier });

describe("addresses of a repository", () => {
  test("on the public network", () => {
    const links = repoLinks(named("my repo"), publicUrls("git.example", "/"));
    expect(links.clone).toBe(`https://git.example/${npub}/my%20repo.git`);
    expect(links.nostr).toBe(`nostr://${npub}/git.example/my%20repo`);
    expect(links.gitworkshop).toBe(`https://gitworkshop.dev/${npub}/git.example/my%20repo`);
    expect(links.app).toMatch(/^nostr:naddr1[a-z0-9]+$/);
  });

  test("NIP-34: without TLS the relay names its scheme; a base path stays", () => {
    expect(repoLinks(named("x"), publicUrls("127.0.0.1:7334", "/")).nostr).toBe(`nostr://${npub}/ws%3A%2F%2F127.0.0.1%3A7334/x`);
    const below = repoLinks(named("x"), publicUrls("git.example", "/git"));
    expect(below.clone).toBe(`https://git.example/git/${npub}/x.git`);
    expect(below.nostr).toBe(`nostr://${npub}/git.example%2Fgit/x`);
  });

  test("whatever the identifier, a shell sees one harmless word, and the path leads back to the repository", () => {
    const identifier = fc
      .oneof(fc.constantFrom("x';reboot;'", "$(reboot)", "`x`", "a!b*(c)"), fc.string({ unit: "binary", minLength: 1, maxLength: 40 }))
      .filter((text) => readIdentifier(text) !== undefined);
    fc.assert(
      fc.property(identifier, (text) => {
        const { clone, nostr } = repoLinks(named(text), publicUrls("git.example", "/"));
        expect(clone).toMatch(/^https:\/\/git\.example\/[A-Za-z0-9._~%/-]+$/);
        expect(nostr).toMatch(/^nostr:\/\/[A-Za-z0-9._~%/-]+$/);
        expect(readRepoPath(clone.slice("https://git.example".length))?.repo).toEqual(named(text));
      }),
      { seed: 34, numRuns: 300 },
    );
  });
});
