import { lstat, mkdir, mkdtemp, readdir, readlink, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Identifier, readIdentifier } from "../../grasp/identifier.ts";
import type { PublicKey } from "../../nostr/event.ts";
import { repositoryKey, repositoryPath } from "../layout.ts";
import { readableName } from "../readable-name.ts";
import { makeReadableName, removeReadableName } from "./readable-names.ts";

const owner = "ab".repeat(32) as PublicKey;
const named = (identifier: string) => ({ owner, identifier: identifier as Identifier });

let outer: string;
let root: string;
beforeEach(async () => {
  outer = await realpath(await mkdtemp(join(tmpdir(), "holdfast-names-")));
  root = join(outer, "git");
  await mkdir(root);
});
afterEach(() => rm(outer, { recursive: true, force: true }));

describe("symlinks for people (grasp.md 7.1)", () => {
  test("made, found again, mended, removed; the directory goes with its last name", async () => {
    const [a, b] = [readableName(named("a")), readableName(named("b"))];
    await mkdir(join(root, repositoryPath(repositoryKey(named("a")))), { recursive: true });
    expect(await makeReadableName(root, a)).toBe("made");
    expect(await makeReadableName(root, a)).toBe("there");
    expect(await realpath(join(root, a.link))).toBe(join(root, repositoryPath(repositoryKey(named("a")))));
    await symlink("../elsewhere", join(root, b.link));
    expect(await makeReadableName(root, b)).toBe("made");
    expect(await readlink(join(root, b.link))).toBe(b.target);
    expect(await readdir(join(root, a.directory))).toEqual(["a.git", "b.git"]);
    await removeReadableName(root, b);
    expect(await readdir(join(root, a.directory))).toEqual(["a.git"]);
    await removeReadableName(root, a);
    await removeReadableName(root, a);
    expect(await readdir(root)).toEqual(["repositories"]);
  });

  test("what is no link, or another's, stays", async () => {
    const name = readableName(named("kept"));
    await mkdir(join(root, name.link), { recursive: true });
    await writeFile(join(root, name.link, "note"), "an operator's own");
    expect(await makeReadableName(root, name)).toBe("taken");
    await removeReadableName(root, name);
    expect(await readdir(join(root, name.link))).toEqual(["note"]);
    const foreign = readableName(named("foreign"));
    await symlink("../elsewhere", join(root, foreign.link));
    await removeReadableName(root, foreign);
    expect(await readlink(join(root, foreign.link))).toBe("../elsewhere");
  });

  test("made and removed by many at once: at the end it is there, and nothing else", async () => {
    const [steady, fleeting] = [readableName(named("steady")), readableName(named("fleeting"))];
    await Promise.all(
      Array.from({ length: 40 }, async (_, i) => {
        if (i % 2 === 0) await makeReadableName(root, fleeting);
        else await removeReadableName(root, fleeting);
      }),
    );
    await Promise.all(Array.from({ length: 10 }, () => makeReadableName(root, steady)));
    await removeReadableName(root, fleeting);
    expect(await readdir(join(root, steady.directory))).toEqual(["steady.git"]);
  });

  test("nothing that a stranger wrote reaches the disk unencoded, nor anything outside", async () => {
    const nasty = [
      "..",
      ".",
      ".git",
      "...",
      "-rf",
      "~",
      "*",
      "$(x)",
      "`x`",
      "a\u0301",
      "á",
      "\u202e",
      "con",
      "aux.",
      " ",
      "%2e%2e%2f",
      "é".repeat(50),
      "a:b",
      "\ud83d\ude80",
    ];
    const identifiers = fc.oneof(fc.constantFrom(...nasty), fc.string({ unit: "binary", minLength: 1, maxLength: 50 }));
    const sample = fc.sample(identifiers, { seed: 710, numRuns: 300 }).filter((text) => readIdentifier(text) !== undefined);
    const names = new Map(sample.map((text) => [text, readableName(named(text))]));
    for (const [text, name] of names) {
      await mkdir(join(root, repositoryPath(repositoryKey(named(text)))), { recursive: true });
      expect(await makeReadableName(root, name)).toBe("made");
    }
    for (const [text, name] of names) {
      expect((await lstat(join(root, name.link))).isSymbolicLink()).toBe(true);
      expect(await realpath(join(root, name.link))).toBe(join(root, repositoryPath(repositoryKey(named(text)))));
    }
    expect(await readdir(outer)).toEqual(["git"]);
    for (const entry of await readdir(root, { recursive: true })) {
      for (const part of entry.split("/")) expect(part).toMatch(/^(?![.-])[A-Za-z0-9._%~-]{1,204}$/);
    }
    expect(await readdir(join(root, readableName(named("x")).directory))).toHaveLength(names.size);
    for (const name of names.values()) await removeReadableName(root, name);
    expect(await readdir(root)).toEqual(["repositories"]);
  });
});
