// Makes sure that node_modules is what package-lock.json says, once, however many commands start at the same time.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { appendFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** A first install on a slow line takes minutes; after this something is wrong that a person must see. */
const WAIT_MS = 15 * 60_000;

const read = (path) => {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
};

const lockHash = (root) =>
  createHash("sha256")
    .update(readFileSync(join(root, "package-lock.json")))
    .digest("hex");
const stampFile = (root) => join(root, "node_modules", ".holdfast-lock");

/** Did npm itself, run by hand or in an image, install exactly the lock file? Its own note in node_modules tells. */
function installedByHand(root, dev) {
  const note = read(join(root, "node_modules", ".package-lock.json"));
  if (note === undefined) return false;
  const present = JSON.parse(note).packages;
  const wanted = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")).packages;
  const same = Object.entries(present).every(([path, { version }]) => wanted[path]?.version === version);
  const needed = Object.entries(wanted).filter(([path, p]) => path !== "" && !p.optional && !p.devOptional && (dev || !p.dev));
  return same && needed.every(([path]) => present[path] !== undefined);
}

export function isInstalled(root, { dev }) {
  const hash = lockHash(root);
  if (read(stampFile(root))?.trim() === hash) return true;
  if (!installedByHand(root, dev)) return false;
  if (dev) stamp(root, hash);
  return true;
}

function stamp(root, hash) {
  try {
    writeFileSync(stampFile(root), `${hash}\n`);
  } catch {
    // A read-only install is fine: it is compared again next time.
  }
}

/** Names a process for good: a number alone is given to another process later. */
function processName(pid) {
  const stat = read(`/proc/${pid}/stat`);
  return `${pid}-${stat === undefined ? 0 : (stat.slice(stat.lastIndexOf(")")).split(" ")[20] ?? 0)}`;
}

/** An owner is one process or more, by line: npm goes on installing when the command that started it was killed. */
const isAlive = (owner) => owner.split("\n").some(isRunning);

function isRunning(name) {
  const pid = Number(name.split("-")[0]);
  try {
    process.kill(pid, 0);
  } catch (error) {
    return error.code === "EPERM";
  }
  return processName(pid) === name;
}

const renamed = (from, to) => {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    if (["ENOTEMPTY", "EEXIST", "ENOENT"].includes(error.code)) return false;
    throw error;
  }
};

/**
 * Runs `work` while holding a lock directory. It is made elsewhere and renamed into place with its owner's name inside,
 * so it never exists without one; renaming onto a directory with something in it fails, so one process wins. `work` is
 * given a function that names a process it started as a second owner.
 */
export async function withLock(dir, work, { say = () => undefined, waitMs = WAIT_MS, isOwnerAlive = isAlive } = {}) {
  const me = processName(process.pid);
  const lock = join(dir, "install.lock");
  const mine = join(dir, `install.mine-${me}-${Math.random().toString(36).slice(2)}`);
  mkdirSync(mine, { recursive: true });
  writeFileSync(join(mine, "owner"), me);
  try {
    for (let waited = 0; !renamed(mine, lock); waited += 100) {
      const owner = read(join(lock, "owner"));
      // The grave bears the dead owner's name: whoever comes second finds it taken, and cannot carry off the next owner's lock.
      if (owner !== undefined && !isOwnerAlive(owner)) renamed(lock, join(dir, `install.dead-${owner.split("\n")[0]}`));
      else if (waited === 0)
        say(`Another command (process ${owner?.split("-")[0] ?? "unknown"}) is installing the packages; waiting for it.`);
      else if (waited >= waitMs) throw new Error(`Still waiting for the install lock ${lock}. If nothing is being installed, remove it.`);
      await sleep(100);
    }
    try {
      return await work((pid) => appendFileSync(join(lock, "owner"), `\n${processName(pid)}`));
    } finally {
      rmSync(lock, { recursive: true, force: true });
    }
  } finally {
    rmSync(mine, { recursive: true, force: true });
  }
}

/** After this, node_modules is there and right; `dev` asks for the tools as well. Returns a sentence if it could not be done. */
export async function ensureInstalled(root, { dev, say }) {
  if (isInstalled(root, { dev })) return undefined;
  return withLock(
    join(root, ".holdfast"),
    async (alsoOwnedBy) => {
      if (isInstalled(root, { dev })) return undefined;
      say(
        existsSync(join(root, "node_modules"))
          ? "The packages changed; installing them (npm ci)."
          : "Installing the packages (npm ci), only this once.",
      );
      const args = [
        "ci",
        "--ignore-scripts",
        "--no-audit",
        "--no-fund",
        "--loglevel=error",
        "--include=optional",
        ...(dev ? ["--include=dev"] : []),
      ];
      const npm = spawn("npm", args, { cwd: root, stdio: ["ignore", 2, 2] });
      if (npm.pid !== undefined) alsoOwnedBy(npm.pid);
      const [status, error] = await new Promise((resolve) => {
        npm.once("error", (failure) => resolve([1, failure]));
        npm.once("exit", (code) => resolve([code, undefined]));
      });
      if (error !== undefined) return `npm could not be started (${error.message}). It comes with Node; is it on the PATH?`;
      if (status !== 0) return "npm ci failed, see above. Is the package registry reachable?";
      if (installedByHand(root, true)) stamp(root, lockHash(root));
      return undefined;
    },
    { say },
  );
}
