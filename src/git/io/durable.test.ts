import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { makeDirectory, removeEmptyDirectory, removeFile, replaceFile, unlessMissing, writeNew } from "./durable.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "holdfast-durable-"));
});
afterEach(() => rmSync(directory, { recursive: true }));
const at = (...parts: readonly string[]): string => join(directory, ...parts);

it("of two writers of a new file one wins, and the other leaves it alone", async () => {
  const outcomes = await Promise.allSettled([writeNew(at("f"), "a"), writeNew(at("f"), "b")]);
  expect(outcomes.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  expect(["a", "b"]).toContain(readFileSync(at("f"), "utf8"));
  await expect(writeNew(at("f"), "c")).rejects.toMatchObject({ code: "EEXIST" });
});

it("what could not be written whole does not stay", async () => {
  await expect(writeNew(at("f"), { not: "text" } as unknown as string)).rejects.toThrow();
  expect(readdirSync(directory)).toEqual([]);
});

it("replaces whole, and a lock that it made goes when it fails", async () => {
  writeFileSync(at("f"), "old");
  await replaceFile(at("f"), "new", at("f.lock"));
  expect(readFileSync(at("f"), "utf8")).toBe("new");
  mkdirSync(at("d"));
  await expect(replaceFile(at("d"), "new", at("d.lock"))).rejects.toThrow();
  writeFileSync(at("f.lock"), "somebody else's");
  await expect(replaceFile(at("f"), "newer", at("f.lock"))).rejects.toMatchObject({ code: "EEXIST" });
  expect(readdirSync(directory)).toEqual(["d", "f", "f.lock"]);
});

it("makes what is missing of a directory, and removes only empty ones", async () => {
  await makeDirectory(at("a/b/c"));
  await makeDirectory(at("a/b/c"));
  expect(await removeEmptyDirectory(at("a"))).toBe(false);
  expect(await removeEmptyDirectory(at("a/b/c"))).toBe(true);
  expect(await removeEmptyDirectory(at("a/b/c"))).toBe(true);
});

it("an absent file is no failure, any other is", async () => {
  expect(await removeFile(at("nothing"))).toBe(false);
  expect(await unlessMissing(Promise.reject(Object.assign(new Error(), { code: "ENOENT" })))).toBeUndefined();
  await expect(unlessMissing(Promise.reject(Object.assign(new Error("no"), { code: "EACCES" })))).rejects.toThrow("no");
});
