import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const HERE = fileURLToPath(new URL("./", import.meta.url));
export const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** MUST and SHOULD as the NIP says it; CLAUSE binds without such a word; CLIENT and NOTE bind no relay and need no test. */
export type Level = "MUST" | "SHOULD" | "CLAUSE" | "CLIENT" | "NOTE";
const LEVELS: ReadonlySet<string> = new Set(["MUST", "SHOULD", "CLAUSE", "CLIENT", "NOTE"]);

export interface Requirement {
  readonly id: string;
  readonly level: Level;
  readonly text: string;
}

/** A requirement whose test comes with a later part, and the record that says so. */
export interface Deferred {
  readonly id: string;
  readonly reason: string;
  readonly decision: string;
}

export interface Proof {
  readonly id: string;
  /** Path below the root of the repository. */
  readonly file: string;
  readonly title: string;
}

function rows(file: string): readonly (readonly [string, string, string])[] {
  const [, ...lines] = readFileSync(join(HERE, file), "utf8").trimEnd().split("\n");
  return lines.map((line) => {
    const [a, b, c, ...rest] = line.split("\t");
    if (!a || !b || !c || rest.length > 0) throw new Error(`${file}: not three columns: ${line}`);
    return [a, b, c];
  });
}

export function readRequirements(): readonly Requirement[] {
  return rows("requirements.tsv").map(([id, level, text]) => {
    if (!LEVELS.has(level)) throw new Error(`${id}: unknown level ${level}`);
    return { id, level: level as Level, text };
  });
}

export const readLater = (): readonly Deferred[] => rows("later.tsv").map(([id, reason, decision]) => ({ id, reason, decision }));

export const isBinding = (level: Level): boolean => level === "MUST" || level === "SHOULD" || level === "CLAUSE";

/** Both arguments must be plain literals: that is what makes the table readable without running anything. */
const PROVES = /\bproves\(\s*"([^"]+)",\s*(?:"((?:[^"\\]|\\.)*)"|`([^`]*)`)/g;

/** What no client of a socket can see is shown by tests elsewhere, which name the id they prove. */
function readElsewhere(): readonly Proof[] {
  return rows("elsewhere.tsv").map(([id, file, title]) => {
    if (!readFileSync(join(ROOT, file), "utf8").includes(id)) throw new Error(`elsewhere.tsv: ${file} does not name ${id}`);
    return { id, file, title };
  });
}

/** Every `proves("ids", "title"` in the test sources, and the tests that stand elsewhere. */
export function scanProofs(): readonly Proof[] {
  const found: Proof[] = [...readElsewhere()];
  const files = readdirSync(HERE, { recursive: true, encoding: "utf8" }).filter(
    (file) => file.endsWith(".test.ts") && file !== "table.test.ts",
  );
  for (const file of files.toSorted()) {
    const source = readFileSync(join(HERE, file), "utf8");
    const calls = source.match(/\bproves\(/g)?.length ?? 0;
    const matches = [...source.matchAll(PROVES)];
    if (matches.length !== calls) throw new Error(`${file}: ${calls} calls of proves, ${matches.length} with literal ids and title`);
    for (const [, ids, quoted, templated] of matches) {
      for (const id of (ids ?? "").split(" "))
        found.push({ id, file: `test/conformance/${file.replaceAll("\\", "/")}`, title: quoted ?? templated ?? "" });
    }
  }
  return found;
}
