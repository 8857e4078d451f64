// `npm start -- [arguments]`: the server, from its sources. Installs what is missing and continues in the pinned Node.
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { continueInPinned } from "../bin/pinned-node.mjs";
import { ensureInstalled } from "./install.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const problem = await ensureInstalled(root, { dev: false, say: (text) => process.stderr.write(`${text}\n`) });
if (problem !== undefined) {
  process.stderr.write(`${problem}\n`);
  process.exit(1);
}

// npm gives us no sign when it is killed outright, but then someone else becomes our parent.
const parent = process.ppid;
if (process.env.npm_lifecycle_event !== undefined)
  setInterval(() => process.ppid !== parent && process.kill(process.pid, "SIGTERM"), 500).unref();

// Started by this name the server serves, unless another command is asked for.
const given = process.argv.slice(2);
const isCommand = given[0] !== undefined && (!given[0].startsWith("-") || ["-h", "--help", "--version"].includes(given[0]));
const args = isCommand ? given : ["serve", ...given];

process.exitCode = await continueInPinned(root, join(root, "src", "main.ts"), args);
