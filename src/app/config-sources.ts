import { parse, TomlError } from "smol-toml";
import { printable } from "../ops/printable.ts";
import type { Arguments } from "./config-arguments.ts";
import { privateProblem } from "./config-arguments.ts";
import { closest } from "./settings/closest.ts";
import { ELSEWHERE_NAMES, otherNames, PRIVATE_MODE, SECRET_NAMES, SERVICE_LINK } from "./settings/other-names.ts";
import type { Read } from "./settings/setting.ts";
import { type Row, rows } from "./settings/table.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** Where a value came from. */
export type Source =
  | { readonly kind: "flag"; readonly name: string }
  | { readonly kind: "environment"; readonly name: string }
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "derived"; readonly from: string }
  | { readonly kind: "default" };

export interface Given {
  readonly value: unknown;
  readonly source: Source;
}

export interface Sources {
  readonly arguments: Arguments;
  readonly env: Environment;
  readonly file: { readonly path: string; readonly text: string } | undefined;
}

export interface Merged {
  /** By key; what nobody set is absent. */
  readonly given: ReadonlyMap<string, Given>;
  readonly warnings: readonly string[];
  readonly problems: readonly string[];
}

const SHOWN_MAX = 80;

const otherByName = new Map(otherNames.map((other) => [other.name, other]));
const knownVariables = new Set<string>([
  ...rows.flatMap((row) => [row.env, ...row.ngit]),
  ...otherByName.keys(),
  ...SECRET_NAMES,
  ...ELSEWHERE_NAMES,
  PRIVATE_MODE,
]);
const rowByName = new Map(rows.map((row) => [row.name, row]));

/** Flags > environment (`HOLDFAST_*` before `NGIT_*`) > file (grasp.md 12.1). What loses is still read, so that its mistakes are reported too. */
export function mergeSources({ arguments: args, env, file }: Sources): Merged {
  const given = new Map<string, Given>();
  const warnings = [...args.warnings];
  const problems = [...args.problems];

  const take = (row: Row, where: string, shown: string, read: Read<unknown>, source: Source): void => {
    if (!read.ok) {
      problems.push(`${where} is \`${printable(shown, SHOWN_MAX)}\`: expected ${read.expected}.`);
      return;
    }
    if (read.note !== undefined) warnings.push(`${where} is \`${printable(shown, SHOWN_MAX)}\`: ${read.note}.`);
    if (!given.has(row.key)) given.set(row.key, { value: read.value, source });
  };

  // The last flag of a kind wins, as on every command line.
  for (const { row, name, value } of args.values.toReversed()) {
    take(row, `\`${name}\``, value, row.setting.type.read(value), { kind: "flag", name });
  }
  for (const row of rows) {
    for (const name of [row.env, ...row.ngit]) {
      const value = env[name];
      // An empty variable is how compose files leave something unset.
      if (value !== undefined && value !== "") take(row, `\`${name}\``, value, row.setting.type.read(value), { kind: "environment", name });
    }
  }
  noteOtherVariables(env, warnings, problems);
  if (file !== undefined) readFileInto(file, take, problems);
  return { given, warnings, problems };
}

/** Variables of the test suites may be set where a server is started by one. */
const OF_TESTS = /^HOLDFAST_(TEST|PROP)_/;

function noteOtherVariables(env: Environment, warnings: string[], problems: string[]): void {
  for (const name of Object.keys(env).toSorted()) {
    if (!/^(HOLDFAST|NGIT)_/.test(name)) continue;
    const other = otherByName.get(name);
    if (other !== undefined && env[name] !== "") warnings.push(`\`${name}\` ${other.why}.`);
    if (name === PRIVATE_MODE && !/^(|0|no|off|false)$/i.test(env[name] ?? "")) problems.push(privateProblem(name));
    if (knownVariables.has(name) || SERVICE_LINK.test(name) || OF_TESTS.test(name)) continue;
    const near = closest(name, knownVariables);
    const shown = `\`${printable(name, SHOWN_MAX)}\``;
    // Clients of the same family have variables of their own that begin so; only what looks like a slip stops the start.
    if (near === undefined && name.startsWith("NGIT_")) warnings.push(`${shown} is not a setting of this server and is ignored.`);
    else problems.push(`${shown} is not a setting${near === undefined ? "." : `; did you mean \`${near}\`?`}`);
  }
}

type Take = (row: Row, where: string, shown: string, read: Read<unknown>, source: Source) => void;

function readFileInto({ path, text }: { readonly path: string; readonly text: string }, take: Take, problems: string[]): void {
  let table: Record<string, unknown>;
  try {
    table = parse(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    problems.push(`${path}, line ${error.line}: ${printable(error.message.split("\n")[0] ?? "not TOML", 200)}.`);
    return;
  }
  for (const [name, value] of Object.entries(table)) {
    const row = rowByName.get(name);
    if (row === undefined) {
      const near = closest(name, rowByName.keys());
      problems.push(
        `\`${printable(name, SHOWN_MAX)}\` in ${path} is not a setting${near === undefined ? "." : `; did you mean \`${near}\`?`}`,
      );
      continue;
    }
    take(row, `\`${name}\` in ${path}`, show(value), readToml(row, value), { kind: "file", path });
  }
}

const show = (value: unknown): string =>
  typeof value === "string" ? value : (JSON.stringify(value, (_, v) => (typeof v === "bigint" ? `${v}` : v)) ?? "");

function readToml(row: Row, value: unknown): Read<unknown> {
  const type = row.setting.type;
  if (typeof value === "string") return type.read(value);
  if (typeof value === "number" || typeof value === "boolean") return type.read(String(value));
  if (Array.isArray(value) && type.readItems !== undefined && value.every((item) => typeof item === "string")) return type.readItems(value);
  return { ok: false, expected: type.describe };
}
