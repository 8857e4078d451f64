// `npm test`, `npm run build` and their like: installs what is missing, then takes the steps of a job from jobs.mjs.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { findNode, follow, handDown, noNodeText } from "../bin/pinned-node.mjs";
import { countTests } from "./count-tests.mjs";
import { ensureInstalled } from "./install.mjs";
import { jobs, longer } from "./jobs.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const [name = "", ...given] = process.argv.slice(2);
const job = Object.hasOwn(jobs, name) ? jobs[name] : stop(`There is no job "${name}". There are: ${Object.keys(jobs).join(", ")}.`);

function stop(sentence) {
  process.stderr.write(`${sentence}\n`);
  process.exit(1);
}

const problem = await ensureInstalled(root, { dev: true, say: (text) => process.stderr.write(`${text}\n`) });
if (problem !== undefined) stop(problem);
const node = findNode(root) ?? stop(noNodeText);

// A signal ends the step that runs, and with it the job.
let stopped = false;
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => void (stopped = true));

const { stdio, env } = handDown();
// A log file is read without a terminal.
if (!process.stdout.isTTY && env.FORCE_COLOR === undefined) env.NO_COLOR = "1";
// First in line is the pinned Node, for tools and for tests that start `node`.
env.PATH = [dirname(node), join(root, "node_modules", ".bin"), process.env.PATH].join(delimiter);

/** Runs one command to its end; tests end with us even when we are killed, since they start servers. */
async function run([command, ...args], withLifeline) {
  const path = command === "node" ? node : command;
  const flags = withLifeline ? ["--import", join(root, "bin", "child.mjs")] : [];
  const child = spawn(path, [...flags, ...args], { cwd: root, env, stdio });
  return follow(child).catch((error) => (process.stderr.write(`${command}: ${error.message}\n`), 1));
}

/** A check is one test; a run of vitest counts its own. */
async function take(step, args) {
  if (step.vitest === undefined) {
    const code = await run([...step.command, ...args], step.command[0] === "node");
    return { passed: code === 0 ? 1 : 0, failed: code === 0 ? 0 : 1, skipped: 0, code };
  }
  const dir = mkdtempSync(join(tmpdir(), "holdfast-tests-"));
  try {
    const file = join(dir, "results.json");
    const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${file}`];
    const code = await run(["node", "node_modules/vitest/vitest.mjs", ...step.vitest, ...reporters, ...args], true);
    return { ...countTests(read(file), code), code };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

const read = (file) => {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
};

const sum = { passed: 0, failed: 0, skipped: 0 };
const failures = [];
let code = 0;
const steps = given.length > 0 && job.steps.some((step) => step.only) ? job.steps.filter((step) => step.only) : job.steps;
for (const step of steps) {
  const began = performance.now();
  if (job.summary) console.log(`\n── ${step.title} ──`);
  const result = await take(step, step.args ? (given.length > 0 ? given : (step.otherwise ?? [])) : []);
  for (const key of Object.keys(sum)) sum[key] += result[key];
  if (result.code !== 0 || result.failed > 0) failures.push(step.title);
  code ||= result.code || (result.failed > 0 ? 1 : 0);
  if (job.summary)
    console.log(`── ${step.title}: ${result.failed > 0 ? "FAILED" : "ok"}, ${((performance.now() - began) / 1000).toFixed(1)} s`);
  // A summary tells everything that is wrong; other jobs need each step for the next.
  if (stopped || (!job.summary && code !== 0)) break;
}

if (job.summary) {
  if (name === "test" && steps === job.steps) {
    console.log("\nLonger proofs, not part of this run:");
    for (const [command, what] of longer) console.log(`  ${command.padEnd(22)} ${what}`);
  }
  console.log("");
  if (stopped) console.log("Stopped before the end.");
  if (failures.length > 0) console.log(`Failed: ${failures.join(", ")}`);
  if (sum.skipped > 0) console.log(`${sum.skipped} skipped`);
  console.log(`${sum.passed} passed, ${sum.failed} failed`);
}
process.exitCode = code || (stopped ? 1 : 0);
