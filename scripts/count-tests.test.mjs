import { expect, test } from "vitest";
import { countTests } from "./count-tests.mjs";

const file = (status, ...results) => ({ status, assertionResults: results.map((result) => ({ status: result })) });
const report = (...testResults) => JSON.stringify({ testResults });

test.each([
  ["no report", undefined, 1, { passed: 0, failed: 1, skipped: 0 }],
  ["half a report", "{", 0, { passed: 0, failed: 1, skipped: 0 }],
  ["tests of every kind", report(file("failed", "passed", "failed", "todo", "pending")), 1, { passed: 1, failed: 1, skipped: 2 }],
  ["a file that does not load", report(file("failed"), file("passed", "passed")), 1, { passed: 1, failed: 1, skipped: 0 }],
  ["an error outside of tests", report(file("passed", "passed")), 1, { passed: 1, failed: 1, skipped: 0 }],
  ["all well", report(file("passed", "passed", "passed")), 0, { passed: 2, failed: 0, skipped: 0 }],
])("%s", (_name, text, code, expected) => {
  expect(countTests(text, code)).toEqual(expected);
});
