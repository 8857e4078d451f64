import { expect, test } from "vitest";
import { formatOf, type Oid, readOid, zeroOid } from "./oid.ts";

test.each(["a".repeat(40), "0123456789".repeat(4), `${"0".repeat(39)}1`])("%s is a SHA-1 id", (text) => {
  expect(readOid(text)).toBe(text);
  expect(formatOf(text as Oid)).toBe("sha1");
});

test("64 digits are a SHA-256 id", () => {
  const text = "f0".repeat(32);
  expect(readOid(text)).toBe(text);
  expect(formatOf(text as Oid)).toBe("sha256");
});

test.each([
  ["nothing", ""],
  ["too short", "a".repeat(39)],
  ["between the formats", "a".repeat(41)],
  ["too long", "a".repeat(65)],
  ["upper case, which would be a second spelling", "A".repeat(40)],
  ["not hex", "g".repeat(40)],
  ["a line end behind it", `${"a".repeat(40)}\n`],
  ["a space before it", ` ${"a".repeat(39)}`],
  ["an option", `--${"a".repeat(38)}`],
  ["two lines", `${"a".repeat(40)}\n${"a".repeat(40)}`],
  ["digits of another script", "٠".repeat(40)],
])("grasp.md 6.4, 7.4: %s is no id", (_, text) => {
  expect(readOid(text)).toBeUndefined();
});

test.each(["sha1", "sha256"] as const)("grasp.md 7.6: all zeros is no object in %s", (format) => {
  expect(zeroOid(format)).toMatch(/^0+$/);
  expect(readOid(zeroOid(format))).toBeUndefined();
});

test("zero is as long as an id of its format", () => {
  expect(zeroOid("sha1")).toHaveLength(40);
  expect(zeroOid("sha256")).toHaveLength(64);
});
