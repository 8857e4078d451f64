// dist/ from src/: compiled beside it and swapped in at the end, so that nobody ever sees half a build.
import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, readdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
// A neighbour of dist/, since source maps hold relative paths.
const next = join(root, `.dist-${process.pid}`);
const old = join(root, `.dist-${process.pid}-old`);
const dist = join(root, "dist");

/** What the server reads while it runs; notes for people stay behind. */
const isAsset = (path) => !/\.(ts|mts|md)$/.test(path);

function swap() {
  // Two builds may end at once: whoever finds dist/ back in place moves it away again.
  for (let attempt = 0; attempt < 5; attempt++) {
    if (existsSync(dist)) renameSync(dist, `${old}-${attempt}`);
    try {
      return renameSync(next, dist);
    } catch (error) {
      if (error.code !== "ENOTEMPTY" && error.code !== "EEXIST") throw error;
    }
  }
  throw new Error("dist/ is being rebuilt by someone else over and over");
}

try {
  const { status } = spawnSync("tsc", ["-p", "tsconfig.build.json", "--outDir", next], { cwd: root, stdio: "inherit" });
  if (status !== 0) process.exitCode = 1;
  else {
    for (const entry of readdirSync(join(root, "src"), { recursive: true, withFileTypes: true })) {
      const from = join(entry.parentPath, entry.name);
      if (entry.isFile() && isAsset(from)) cpSync(from, join(next, from.slice(join(root, "src").length)));
    }
    chmodSync(join(next, "main.js"), 0o755);
    swap();
  }
} finally {
  for (const name of readdirSync(root))
    if (name.startsWith(`.dist-${process.pid}`)) rmSync(join(root, name), { recursive: true, force: true });
}
