#!/usr/bin/env node
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";

// Everything else is imported after this check, because an older Node could not read it.
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major > 22 || (major === 22 && minor >= 12)) {
  if (process.env["HOLDFAST_LIFELINE_FD"] !== undefined) await import("../bin/child.mjs");
  const { run } = await import("./app/cli.ts");
  process.exitCode = await run(process.argv.slice(2));
} else {
  const { continueInPinned } = await import("../bin/pinned-node.mjs");
  const self = fileURLToPath(import.meta.url);
  process.exitCode = await continueInPinned(dirname(self), self, process.argv.slice(2));
}
