import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { expect, test } from "vitest";
import { isBinding, ROOT, readLater, readRequirements, scanProofs } from "./requirements.ts";
import { renderTable } from "./table.ts";

const requirements = readRequirements();
const later = readLater();
const proofs = scanProofs();
const known = new Map(requirements.map((row) => [row.id, row]));
const PAGE = join(ROOT, "docs/CONFORMANCE.md");
/** The NIPs are not part of this repository; where a copy lies beside it, no line of it may be forgotten. */
const NIPS = resolve(ROOT, process.env["HOLDFAST_NIPS_DIR"] ?? "../shared/nips");
const COVERED_NIPS = ["01", "09", "11", "13", "40", "42", "45", "62", "70", "77"];
const BINDING_WORDS = /\b(must|should|are expected|not expected)\b/i;

test("every requirement has one row and an id of the agreed form", () => {
  expect(known.size).toBe(requirements.length);
  const odd = requirements.map((row) => row.id).filter((id) => !/^(NIP-\d\d:L\d+-[a-z0-9-]+|GRASP:\d+\.\d+\/[a-z0-9-]+)$/.test(id));
  expect(odd).toEqual([]);
});

test("every MUST, SHOULD and CLAUSE has a test or is deferred by a decision", () => {
  const proven = new Set(proofs.map((proof) => proof.id));
  const deferred = new Set(later.map((row) => row.id));
  const open = requirements.filter((row) => isBinding(row.level) && !proven.has(row.id) && !deferred.has(row.id)).map((row) => row.id);
  expect(open).toEqual([]);
});

test("every id that a test names is a requirement", () => {
  expect(proofs.filter((proof) => !known.has(proof.id)).map((proof) => `${proof.file}: ${proof.id}`)).toEqual([]);
});

test("nothing is deferred that is unknown, proven or without a decision record", () => {
  const proven = new Set(proofs.map((proof) => proof.id));
  expect(later.filter((row) => !known.has(row.id) || proven.has(row.id)).map((row) => row.id)).toEqual([]);
  expect(later.filter((row) => !existsSync(join(ROOT, row.decision))).map((row) => row.id)).toEqual([]);
});

test.skipIf(!existsSync(NIPS))("no line of a NIP that says must or should is forgotten", () => {
  const forgotten: string[] = [];
  for (const nip of COVERED_NIPS) {
    const lines = readFileSync(join(NIPS, `${nip}.md`), "utf8").split("\n");
    lines.forEach((line, index) => {
      const prefix = `NIP-${nip}:L${index + 1}-`;
      if (BINDING_WORDS.test(line) && !requirements.some((row) => row.id.startsWith(prefix))) forgotten.push(prefix);
    });
  }
  expect(forgotten).toEqual([]);
});

test("each covered NIP has a folder of tests", () => {
  const folders = readdirSync(join(ROOT, "test/conformance"), { withFileTypes: true }).filter((entry) => entry.isDirectory());
  expect(folders.map((entry) => entry.name)).toEqual(expect.arrayContaining(COVERED_NIPS.map((nip) => `nip-${nip}`)));
});

test("docs/CONFORMANCE.md is what the sources say (UPDATE_DOCS=1 writes it)", () => {
  const page = renderTable(requirements, later, proofs);
  if (process.env["UPDATE_DOCS"] === "1") {
    mkdirSync(dirname(PAGE), { recursive: true });
    writeFileSync(PAGE, page);
  }
  expect(existsSync(PAGE) ? readFileSync(PAGE, "utf8") : "").toBe(page);
});
