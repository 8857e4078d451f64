// `node scripts/complete-lock.mjs`, after the dependencies changed: `npm ci` refuses a lock file without the optional packages of
// other platforms, and npm leaves them out when the registry it asked does not carry them. Their exact versions are known from the
// packages that name them, and nobody on this platform downloads them, so they can be written down.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const SYSTEMS = ["aix", "android", "darwin", "freebsd", "linux", "netbsd", "openbsd", "openharmony", "sunos", "win32"];
const PROCESSORS = ["arm", "arm64", "ia32", "loong64", "mips64el", "ppc64", "riscv64", "s390x", "wasm32", "x64"];
const LIBCS = { gnu: "glibc", gnueabihf: "glibc", musl: "musl", musleabihf: "musl" };

/** `@scope/binding-linux-arm64-musl` → where it runs, as npm writes it. */
export function platformOf(name) {
  const words = name.split(/[/-]/);
  const os = words.find((word) => SYSTEMS.includes(word));
  const cpu = words.find((word) => PROCESSORS.includes(word));
  const libc = LIBCS[words.find((word) => Object.hasOwn(LIBCS, word)) ?? ""];
  return cpu === undefined ? undefined : { cpu: [cpu], ...(os && { os: [os] }), ...(libc && os === "linux" && { libc: [libc] }) };
}

/** The optional packages that are named by others and missing: path in the lock file → entry. */
export function missing(lock) {
  const found = {};
  for (const parent of Object.values(lock.packages))
    for (const [name, version] of Object.entries(parent.optionalDependencies ?? {})) {
      const path = `node_modules/${name}`;
      const platform = platformOf(name);
      if (lock.packages[path] !== undefined || platform === undefined || !/^\d+\.\d+\.\d+/.test(version)) continue;
      const { os, cpu, libc } = platform;
      found[path] = { version, cpu, ...(parent.dev && { dev: true }), ...(libc && { libc }), optional: true, ...(os && { os }) };
    }
  return found;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const file = join(dirname(fileURLToPath(import.meta.url)), "..", "package-lock.json");
  const lock = JSON.parse(readFileSync(file, "utf8"));
  const found = missing(lock);
  const packages = Object.fromEntries(Object.entries({ ...lock.packages, ...found }).toSorted(([a], [b]) => a.localeCompare(b, "en")));
  writeFileSync(file, `${JSON.stringify({ ...lock, packages }, undefined, 2)}\n`);
  console.log(`${Object.keys(found).length} packages of other platforms added to package-lock.json.`);
}
