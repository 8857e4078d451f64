import { join } from "node:path";
import { expect, test } from "vitest";
import { blank } from "./blank.mjs";
import { check, readSources } from "./boundaries.mjs";

const rules = (files) => check(new Map(Object.entries(files))).map(({ file, line, rule }) => `${file}:${line} ${rule}`);

test.each([
  // arrows
  ["nostr/a.ts", 'import { b } from "../base/b.ts";', []],
  ["base/a.ts", 'import { b } from "../nostr/b.ts";', ["arrow"]],
  ["base/a.ts", 'import type { B } from "../nostr/b.ts";', ["arrow"]],
  ["base/a.ts", 'type B = import("../nostr/b.ts").B;', ["arrow"]],
  ["base/a.ts", 'export { b } from "../nostr/b.ts";', ["arrow"]],
  ["base/a.ts", 'export * from "../nostr/b.ts";', ["arrow"]],
  ["base/a.ts", 'import "../nostr/b.ts";', ["arrow"]],
  ["base/io/a.ts", 'const b = await import("../../nostr/b.ts");', ["arrow"]],
  ["policy/a.ts", 'import { b } from "../store/b.ts";', ["sibling"]],
  ["hunt/io/a.ts", 'import { b } from "../../sync/b.ts";', ["sibling"]],
  ["web/io/a.ts", 'import { b } from "../../relay/io/b.ts";', ["sibling"]],
  ["web/page/a.ts", 'import { b } from "../html.ts";', []],
  ["app/a.ts", 'import { b } from "../main.ts";', ["arrow"]],
  ["main.ts", 'import { b } from "./app/b.ts"; await import("../bin/child.mjs");', []],
  ["app/a.ts", 'import { b } from "../../bin/b.mjs";', ["outside"]],
  ["grasp/a.test.ts", 'import { b } from "../../test/kit/b.ts";', []],
  // purity
  ["store/a.ts", 'import { b } from "./io/b.ts";', ["pure"]],
  ["store/a.ts", 'import type { B } from "../git/io/b.ts";', ["pure"]],
  ["store/a.test.ts", 'import { b } from "./io/b.ts"; import fs from "node:fs";', []],
  ["store/io/a.ts", 'import { b } from "../../git/io/b.ts"; import Database from "better-sqlite3";', []],
  ["app/build.ts", 'import { b } from "../git/io/b.ts"; import { join } from "node:path";', []],
  ["nostr/a.ts", 'import { hash } from "node:crypto";', []],
  ["pool/a.ts", 'import { hash } from "node:crypto";', []],
  ["policy/a.ts", 'import { hash } from "node:crypto";', ["pure"]],
  ["nostr/a.ts", 'import { readFileSync } from "node:fs";', ["pure"]],
  ["nostr/a.ts", 'import { readFileSync } from "fs";', ["pure"]],
  ["relay/a.ts", 'import type { WebSocket } from "ws";', ["pure"]],
  ["nostr/a.ts", 'import koffi from "koffi";', ["pure"]],
  ["nostr/a.ts", 'import { schnorr } from "@noble/curves/secp256k1.js";', []],
  // ops
  ["relay/io/a.ts", 'import type { Report } from "../../ops/report.ts";', []],
  ["base/io/a.ts", 'import type { Report } from "../../ops/report.ts";', []],
  ["relay/a.ts", 'import type { Report } from "../ops/report.ts";', ["ops"]],
  ["relay/io/a.ts", 'import { logger } from "../../ops/io/logger.ts";', ["ops"]],
  ["app/a.ts", 'import { logger } from "../ops/io/logger.ts";', []],
  ["ops/a.ts", 'import type { Fault } from "../base/fault.ts";', []],
  ["ops/a.ts", 'import type { Session } from "../sync/session.ts";', ["arrow"]],
  ["ops/a.ts", 'import { clock } from "../base/io/clock.ts";', ["pure"]],
  ["ops/a.test.ts", 'import { clock } from "../base/io/clock.ts";', []],
  // clock and chance
  ["base/a.ts", "const t = Date.now();", ["clock"]],
  ["base/a.ts", "const t = new Date();", ["clock"]],
  ["base/a.ts", "const t = new Date;", ["clock"]],
  ["base/a.ts", "const t = Date();", ["clock"]],
  ["base/a.ts", "const t = new Date(seconds * 1000);", []],
  ["base/a.ts", "const t = performance.now();", ["clock"]],
  ["base/a.ts", "setTimeout(f, 1); queueMicrotask(f);", ["clock"]],
  ["base/a.ts", "const s = AbortSignal.timeout(5);", ["clock"]],
  ["base/a.ts", "const r = Math.random();", ["chance"]],
  ["nostr/a.ts", 'import { randomBytes } from "node:crypto";', ["chance"]],
  ["app/a.ts", "setInterval(f, 1);", ["clock"]],
  ["base/io/a.ts", "const t = Date.now() + Math.random(); setTimeout(f, t);", []],
  ["base/a.test.ts", "const t = Date.now();", []],
  ["base/a.ts", '// Date.now()\n/* Math.random() */ const a = "setTimeout"; const r = /Date.now/;', []],
  ["base/a.ts", "const a = `Date.now() ${Date.now()}`;", ["clock"]],
  // the rest
  ["intake/io/a.ts", 'new Worker(new URL("./b.ts", import.meta.url));', ["url"]],
  ["utils/a.ts", "export const a = 1;", ["folder"]],
])("in %s: %s", (file, source, expected) => {
  expect(rules({ [file]: source })).toEqual(expected.map((rule) => `${file}:1 ${rule}`));
});

test("a problem is reported at its line, with a reason", () => {
  const [found] = check(new Map([["base/a.ts", '/* two\nlines */\nimport {\n  b,\n} from "../grasp/b.ts";\n']]));
  expect(found).toMatchObject({ file: "base/a.ts", line: 5, rule: "arrow", what: "imports ../grasp/b.ts" });
  expect(found.why).toMatch(/imports point one way/);
});

test("files may not import each other in a circle, not even for types", () => {
  const files = {
    "base/a.ts": 'import type { B } from "./b.ts";',
    "base/b.ts": 'import { C } from "./c.ts";',
    "base/c.ts": '\nimport { A } from "./a.ts";',
  };
  expect(rules(files)).toEqual(["base/a.ts:1 cycle"]);
  expect(rules({ ...files, "base/c.ts": "" })).toEqual([]);
});

test.each([
  ["a / b; // c", "a / b;     "],
  ["x = /[/'\"]/g.test(y)", "x =         .test(y)"],
  ["return /'/;", "return    ;"],
  ["a = 'it\\'s' + \"//\"", "a = '     ' + \"  \""],
  ["`a${b + `c${d}` + {e: 1}.e}f`", "` ${b + ` ${d}` + {e: 1}.e} `"],
  ["f(1) / 2 / g['k']", "f(1) / 2 / g[' ']"],
  ["/* a\nb */c", "    \n    c"],
])("only code is left of %s", (source, expected) => {
  expect(blank(source).code).toBe(expected);
});

test("blanking keeps every offset in all of our own sources", () => {
  const files = readSources(join(import.meta.dirname, "..", "src"));
  expect(files.size).toBeGreaterThan(0);
  for (const [file, source] of files) {
    const { code } = blank(source);
    expect(code.length, file).toBe(source.length);
    expect(code.split("\n").length, file).toBe(source.split("\n").length);
  }
});
