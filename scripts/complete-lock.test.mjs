import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { missing, platformOf } from "./complete-lock.mjs";

test("npm ci will take package-lock.json: no platform is missing (else run node scripts/complete-lock.mjs)", () => {
  const lock = JSON.parse(readFileSync(join(import.meta.dirname, "..", "package-lock.json"), "utf8"));
  expect(Object.keys(missing(lock))).toEqual([]);
});

test.each([
  ["@biomejs/cli-darwin-arm64", { os: ["darwin"], cpu: ["arm64"] }],
  ["@x/binding-linux-arm-musleabihf", { os: ["linux"], cpu: ["arm"], libc: ["musl"] }],
  ["@x/binding-linux-x64-gnu", { os: ["linux"], cpu: ["x64"], libc: ["glibc"] }],
  ["@x/binding-wasm32-wasi", { cpu: ["wasm32"] }],
  ["fsevents", undefined],
])("%s runs on its platform only", (name, expected) => expect(platformOf(name)).toEqual(expected));

test("what a package names and the lock file lacks is added with the version that was named", () => {
  const tool = { version: "2.0.0", dev: true, optionalDependencies: { "@t/linux-x64": "2.0.0", "@t/win32-x64": "2.0.0" } };
  const lock = { packages: { "node_modules/tool": tool, "node_modules/@t/linux-x64": { version: "2.0.0" } } };
  expect(missing(lock)).toEqual({
    "node_modules/@t/win32-x64": { version: "2.0.0", cpu: ["x64"], dev: true, optional: true, os: ["win32"] },
  });
});
