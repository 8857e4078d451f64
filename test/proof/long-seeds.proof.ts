import { spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, expect, it } from "vitest";
import { type Figure, minutes, writeFigures } from "./figures.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const seed = Number(process.env["HOLDFAST_PROP_SEED"] ?? randomInt(2 ** 31));
/** Times as many runs as `npm test` does: some minutes on a small machine. */
const FACTOR = Number(process.env["HOLDFAST_PROP_RUNS"] ?? 60);
const TIMEOUT_MS = 60 * 60_000;

const PROPERTIES: readonly (readonly [what: string, file: string])[] = [
  ["the disk store", "test/contract/sqlite-store.test.ts"],
  ["the memory store", "test/contract/memory-store.test.ts"],
  ["the store's overlay", "src/store/memory-overlay.prop.test.ts"],
  ["the subscription index", "src/relay/subscription-index.prop.test.ts"],
];

/** Figures are for the page only when everything held. */
let hasFailed = false;

interface Outcome {
  readonly code: number | null;
  readonly output: string;
  readonly passed: number;
}

const folder = mkdtempSync(join(tmpdir(), "holdfast-seeds-"));
const figures: Figure[] = [
  ["seed", `\`${seed}\``],
  ["runs, as a multiple of those in `npm test`", FACTOR],
];

/** In a process of its own: the properties read their runs and their seed when they are loaded. */
async function runTests(file: string): Promise<Outcome> {
  const results = join(folder, "results.json");
  const args = [
    "node_modules/vitest/vitest.mjs",
    "run",
    file,
    "--reporter=json",
    `--outputFile.json=${results}`,
    `--testTimeout=${TIMEOUT_MS}`,
  ];
  const env = { ...process.env, HOLDFAST_PROP_RUNS: `${FACTOR}`, HOLDFAST_PROP_SEED: `${seed}` };
  const child = spawn(process.execPath, args, { cwd: ROOT, env, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (output += chunk.toString("utf8")));
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  const report = existsSync(results) ? readFileSync(results, "utf8") : "{}";
  rmSync(results, { force: true });
  const { numPassedTests = 0 } = JSON.parse(report) as { numPassedTests?: number };
  return { code, output: `${output}\n${code === 0 ? "" : report}`, passed: numPassedTests };
}

for (const [what, file] of PROPERTIES) {
  it(
    `${what}: ${FACTOR} times as many runs (HOLDFAST_PROP_SEED=${seed})`,
    async ({ skip }) => {
      console.log(`${what}: HOLDFAST_PROP_SEED=${seed} HOLDFAST_PROP_RUNS=${FACTOR} vitest run ${file}`);
      if (!existsSync(join(ROOT, file))) skip(`${file} is not there`);
      const began = performance.now();
      const { code, output, passed } = await runTests(file);
      expect(code, output.slice(-8_000)).toBe(0);
      expect(passed).toBeGreaterThan(0);
      figures.push([what, `${passed} properties and tests hold, ${minutes(began)}`]);
    },
    TIMEOUT_MS,
  );
}

afterEach(({ task }) => {
  if (task.result?.state === "fail") hasFailed = true;
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
  if (!hasFailed && figures.length > 2) writeFigures("long-seeds", figures);
});
