// Which file may import which, and who may read the clock. The arrows are drawn in docs/ARCHITECTURE.md; this keeps them true.
import { readdirSync, readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { dirname, join, posix, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { blank } from "./blank.mjs";

/** Imports point to an earlier line only. A new folder in src/ is declared here. */
const TIERS = [
  ["base"],
  ["nostr", "git", "egress"],
  ["grasp"],
  ["store", "policy"],
  ["settle", "purgatory", "hunt", "sync", "pool", "retention"],
  ["intake"],
  ["relay", "smart-http", "web", "admin"],
  ["app"],
  ["main"],
];
/** `ops` stands beside the tiers: it may speak of these, and every io/ may report through it. */
const OPS_MAY_IMPORT = ["base", "nostr", "git", "egress", "grasp"];
/** These put the parts together, so they see every part's io/. */
const ASSEMBLY = ["app", "main"];
/** Packages that only compute. Any other touches the world, or is native, and belongs in io/. */
const PURE_PACKAGES = ["@noble/curves", "@noble/hashes", "@scure/base", "smol-toml"];
/** A hash has no effect; these two vocabularies are made of hashes, and storage is keyed by them (grasp.md 7.1). */
const MAY_HASH = ["nostr", "git", "pool"];

const REASONS = {
  folder: "every folder of src/ has a place in the arrows: declare it in TIERS in scripts/boundaries.mjs",
  arrow: "imports point one way, so that a part can be understood, tested and replaced without what is built upon it",
  sibling: "siblings meet in the feed, in grasp/ or in a ports.ts that app/ plugs, so that neither depends on the other",
  ops: "every io/ may report through ops; deciding code returns what happened instead, and only app/ knows how reports are kept",
  pure: "a file outside io/ computes: the same arguments give the same answer, without sockets, disk or a process",
  outside: "a build holds src/ only; what is outside is missing from it",
  cycle: "files in a cycle can only be understood all at once, and load in an order nobody chose",
  url: "the compiler does not rewrite URLs, so the file is missing from a build: use workerUrl() of base/io/worker-url.ts",
  clock: "time comes in as `now` (in io/ from a Clock), so that tests and the simulator own it",
  chance: "chance comes in from io/, so that every run can be played again",
};

const BANS = [
  ["clock", /\bDate\s*\.\s*now\b|\bnew\s+Date\b(?!\s*\(\s*[^\s)])|(?<!new\s+)\bDate\s*\(|\bTemporal\s*\.\s*Now\b/g],
  ["clock", /\bperformance\s*\.\s*(?:now|timeOrigin)\b|\bprocess\s*\.\s*(?:hrtime|uptime)\b|\bAbortSignal\s*\.\s*timeout\b/g],
  ["clock", /\b(?:setTimeout|setInterval|setImmediate)\b/g],
  ["chance", /\bMath\s*\.\s*random\b|\b(?:randomUUID|randomBytes|randomInt|randomFill|randomFillSync|getRandomValues)\b/g],
];

// After blanking, an import's own string is found by where it begins.
const IMPORTS = [/\b(?:import|export)\b[\w\s{},*$"']*?\bfrom\s*(?=["'])/g, /\bimport\s*(?=["'])/g, /\b(?:import|require)\s*\(\s*(?=["'])/g];
const URLS = /\bnew\s+URL\s*\(\s*(?=["'`])/g;

const isTest = (file) => file.endsWith(".test.ts");
const isIo = (file) => file.split("/").includes("io");
const domainOf = (file) => (file.includes("/") ? file.slice(0, file.indexOf("/")) : file.replace(/\.ts$/, ""));
const tierOf = (domain) => TIERS.findIndex((tier) => tier.includes(domain));
const packageOf = (name) =>
  name
    .split("/")
    .slice(0, name.startsWith("@") ? 2 : 1)
    .join("/");
const isBuiltin = (name) => name.startsWith("node:") || builtinModules.includes(packageOf(name));

/** The rule that an import between two files of src/ breaks, if any. */
function brokenBy(from, to) {
  const [a, b] = [domainOf(from), domainOf(to)];
  if (a !== b) {
    if (b === "ops") return ASSEMBLY.includes(a) || (isIo(from) && !isIo(to)) ? undefined : "ops";
    if (a === "ops" && !OPS_MAY_IMPORT.includes(b)) return "arrow";
    if (a !== "ops" && tierOf(a) === tierOf(b)) return "sibling";
    if (a !== "ops" && tierOf(a) < tierOf(b)) return "arrow";
  }
  const mayTouch = isIo(from) || isTest(from) || ASSEMBLY.includes(a);
  return isIo(to) && !mayTouch ? "pure" : undefined;
}

/** The rule that importing a package breaks, if any. */
function brokenByPackage(from, name) {
  const domain = domainOf(from);
  if (isIo(from) || isTest(from) || ASSEMBLY.includes(domain)) return undefined;
  if (/^(?:node:)?crypto$/.test(name)) return MAY_HASH.includes(domain) ? undefined : "pure";
  return isBuiltin(name) || !PURE_PACKAGES.includes(packageOf(name)) ? "pure" : undefined;
}

function cycles(graph) {
  const found = [];
  const done = new Set();
  const visit = (file, path) => {
    const at = path.indexOf(file);
    if (at >= 0) return void found.push([...path.slice(at), file]);
    if (done.has(file)) return;
    for (const to of graph.get(file)?.keys() ?? []) visit(to, [...path, file]);
    done.add(file);
  };
  for (const file of graph.keys()) visit(file, []);
  return found;
}

/** Everything wrong in `files`, a map from path below src/ to its text; as { file, line, rule, what, why }. */
export function check(files) {
  const found = [];
  const graph = new Map();
  const unknown = new Set();
  for (const [file, source] of files) {
    const { code, strings } = blank(source);
    const report = (at, rule, what) => found.push({ file, line: code.slice(0, at).split("\n").length, rule, what, why: REASONS[rule] });
    const domain = domainOf(file);
    if (domain !== "ops" && tierOf(domain) < 0) {
      if (!unknown.has(domain)) report(0, "folder", `src/${domain} is not declared`);
      unknown.add(domain);
      continue;
    }
    const edges = new Map();
    graph.set(file, edges);
    for (const pattern of IMPORTS)
      for (const match of code.matchAll(pattern)) {
        const at = match.index + match[0].length;
        const name = strings.get(at) ?? "";
        const to = name.startsWith(".") ? posix.join(posix.dirname(file), name) : undefined;
        const isOutside = to?.startsWith("../") && !isTest(file) && domain !== "main";
        const isKnown = to !== undefined && !to.startsWith("../") && (domainOf(to) === "ops" || tierOf(domainOf(to)) >= 0);
        const rule = to === undefined ? brokenByPackage(file, name) : isOutside ? "outside" : isKnown ? brokenBy(file, to) : undefined;
        if (rule !== undefined) report(at, rule, `imports ${name}`);
        if (to !== undefined && !edges.has(to)) edges.set(to, at);
      }
    if (isTest(file)) continue;
    for (const match of code.matchAll(URLS)) {
      const name = strings.get(match.index + match[0].length) ?? "";
      if (/^\.{1,2}\/.*\.ts$/.test(name)) report(match.index, "url", `new URL("${name}", …)`);
    }
    if (isIo(file)) continue;
    for (const [rule, pattern] of BANS) for (const match of code.matchAll(pattern)) report(match.index, rule, match[0].trim());
  }
  for (const path of cycles(graph)) {
    const line = files.get(path[0]).slice(0, graph.get(path[0]).get(path[1])).split("\n").length;
    found.push({ file: path[0], line, rule: "cycle", what: path.join(" → "), why: REASONS.cycle });
  }
  return found;
}

/** All TypeScript below `dir`, as `check` wants it. */
export function readSources(dir) {
  const entries = readdirSync(dir, { recursive: true, withFileTypes: true }).filter((e) => e.isFile() && e.name.endsWith(".ts"));
  const paths = entries.map((e) => join(e.parentPath, e.name)).toSorted();
  return new Map(paths.map((path) => [relative(dir, path).replaceAll("\\", "/"), readFileSync(path, "utf8")]));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const files = readSources(join(dirname(fileURLToPath(import.meta.url)), "..", "src"));
  const found = check(files);
  for (const { file, line, rule, what, why } of found) console.log(`src/${file}:${line}: ${rule}: ${what}\n    ${why}`);
  console.log(found.length === 0 ? `${files.size} files keep to the arrows.` : `${found.length} problems.`);
  process.exitCode = found.length === 0 ? 0 : 1;
}
