import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Identifier, readIdentifier } from "../grasp/identifier.ts";
import type { PublicKey } from "../nostr/event.ts";
import { encodeNpub } from "../nostr/npub.ts";
import { repositoryKey } from "./layout.ts";
import { readableIdentifier, readableName } from "./readable-name.ts";

const owner = "ab".repeat(32) as PublicKey;

describe("names for people (grasp.md 7.1)", () => {
  test.each([
    ["holdfast", "holdfast"],
    ["My_Repo-2.0", "My_Repo-2.0"],
    ["a b", "a%20b"],
    [".hidden", "%2Ehidden"],
    ["-rf", "%2Drf"],
    ["...", "%2E.."],
    ["a.git", "a.git"],
    ["100%", "100%25"],
    ["%2E", "%252E"],
    ["~root", "%7Eroot"],
    ["a~0123456789abcdef", "a%7E0123456789abcdef"],
    ["ø🚀", "%C3%B8%F0%9F%9A%80"],
    ["a:b*c?d|e\"f<g>'h", "a%3Ab%2Ac%3Fd%7Ce%22f%3Cg%3E%27h"],
    ["$(reboot)`x`;&", "%24%28reboot%29%60x%60%3B%26"],
    ["\u202etxt.exe", "%E2%80%AEtxt.exe"],
    ["a".repeat(100), "a".repeat(100)],
  ])("%j is called %s", (identifier, expected) => expect(readableIdentifier(identifier)).toBe(expected));

  test("at most 200 bytes; longer ones are cut between bytes and end in ~ and 16 digits of their hash", () => {
    // 66 letters of one byte and 17 of two, of which each takes six characters: 168.
    expect(readableIdentifier("a".repeat(66) + "é".repeat(17))).toHaveLength(168);
    const whole = "a".repeat(2) + "é".repeat(33);
    expect(readableIdentifier(whole)).toHaveLength(200);
    const long = readableIdentifier("é".repeat(50));
    expect(long).toMatch(/^(%C3%A9){30}(%C3)?~[0-9a-f]{16}$/);
    expect(long.length).toBeLessThanOrEqual(200);
    expect(long).not.toBe(readableIdentifier(`${"é".repeat(49)}è`));
  });

  test("beside the owner's others, leading into the storage", () => {
    const identifier = "my repo" as Identifier;
    const key = repositoryKey({ owner, identifier });
    expect(readableName({ owner, identifier })).toEqual({
      directory: encodeNpub(owner),
      link: `${encodeNpub(owner)}/my%20repo.git`,
      target: `../repositories/${key.slice(0, 2)}/${key.slice(2)}.git`,
    });
    const prs = repositoryKey({ owner, identifier }, "contributed");
    expect(readableName({ owner, identifier }, "contributed")).toEqual({
      directory: `prs/${owner}`,
      link: `prs/${owner}/my%20repo.git`,
      target: `../../repositories/${prs.slice(0, 2)}/${prs.slice(2)}.git`,
    });
  });

  const identifier = fc
    .oneof(fc.string({ unit: "binary", maxLength: 60 }), fc.string({ unit: fc.constantFrom(".", "-", "%", "~", "2", "E", "é", " ", "a") }))
    .filter((text) => readIdentifier(text) !== undefined);

  test("one harmless file name for every identifier", () => {
    fc.assert(
      fc.property(identifier, (text) => {
        const name = readableIdentifier(text);
        expect(name).toMatch(/^(?![.-])[A-Za-z0-9._%~-]{1,200}$/);
        if (!name.includes("~")) expect(decodeURIComponent(name)).toBe(text);
      }),
      { seed: 711, numRuns: 1000 },
    );
  });

  test("two identifiers never have one name", () => {
    fc.assert(
      fc.property(identifier, identifier, (a, b) => {
        expect(readableIdentifier(a) === readableIdentifier(b)).toBe(a === b);
      }),
      { seed: 712, numRuns: 1000 },
    );
  });
});
