import { closest } from "./settings/closest.ts";
import { otherNames, PRIVATE_MODE, SECRET_NAMES } from "./settings/other-names.ts";
import { type Row, rows } from "./settings/table.ts";

/** A setting as the command line gives it. `name` is the flag as it was written. */
export interface FlagValue {
  readonly row: Row;
  readonly name: string;
  readonly value: string;
}

export interface Arguments {
  readonly values: readonly FlagValue[];
  /** What is no flag: the command and its own words, in order. */
  readonly words: readonly string[];
  readonly config: string | undefined;
  readonly printConfig: boolean;
  readonly json: boolean;
  readonly help: boolean;
  readonly version: boolean;
  readonly warnings: readonly string[];
  readonly problems: readonly string[];
}

type Known =
  | { readonly kind: "setting"; readonly row: Row }
  | { readonly kind: "own"; readonly own: "printConfig" | "json" | "help" | "version" }
  | { readonly kind: "config" }
  | { readonly kind: "ignored"; readonly isSwitch: boolean; readonly why: string }
  | { readonly kind: "secret" }
  | { readonly kind: "private" };

const flagOf = (ngit: string): string =>
  `--${ngit
    .replace(/^NGIT_/, "")
    .toLowerCase()
    .replaceAll("_", "-")}`;

/** Our names stand after the ones of ngit-grasp, so that they win where both are the same. */
const known = new Map<string, Known>([
  ...otherNames.map(({ name, isSwitch, why }): [string, Known] => [flagOf(name), { kind: "ignored", isSwitch, why }]),
  ...SECRET_NAMES.flatMap((name): [string, Known][] => [
    [flagOf(name), { kind: "secret" }],
    ["--nsec", { kind: "secret" }],
  ]),
  [flagOf(PRIVATE_MODE), { kind: "private" }],
  ...rows.flatMap((row) => row.ngit.map((name): [string, Known] => [flagOf(name), { kind: "setting", row }])),
  ...rows.map((row): [string, Known] => [`--${row.name}`, { kind: "setting", row }]),
  ["--config", { kind: "config" }],
  ["--print-config", { kind: "own", own: "printConfig" }],
  ["--json", { kind: "own", own: "json" }],
  ["--help", { kind: "own", own: "help" }],
  ["-h", { kind: "own", own: "help" }],
  ["--version", { kind: "own", own: "version" }],
]);

/** The switch behind `--no-x`. */
function negated(flag: string): Known | undefined {
  const found = flag.startsWith("--no-") ? known.get(`--${flag.slice(5)}`) : undefined;
  return found?.kind === "setting" && found.row.setting.type.isSwitch === true ? found : undefined;
}

/** The flags the settings have, and what else stood on the line. Flags may stand anywhere; after `--` all are words. */
export function readArguments(argv: readonly string[]): Arguments {
  const values: FlagValue[] = [];
  const words: string[] = [];
  const warnings: string[] = [];
  const problems: string[] = [];
  const own = { printConfig: false, json: false, help: false, version: false };
  let config: string | undefined;

  for (let i = 0; i < argv.length; i++) {
    const argument = argv[i] ?? "";
    if (argument === "--") {
      words.push(...argv.slice(i + 1));
      break;
    }
    if (!argument.startsWith("-") || argument === "-") {
      words.push(argument);
      continue;
    }
    const equals = argument.indexOf("=");
    const flag = equals < 0 ? argument : argument.slice(0, equals);
    const attached = equals < 0 ? undefined : argument.slice(equals + 1);
    const next = (): string | undefined => {
      if (attached !== undefined) return attached;
      const following = argv[i + 1];
      if (following === undefined || following.startsWith("--")) {
        problems.push(`\`${flag}\` needs a value, as in \`${flag}=…\`.`);
        return undefined;
      }
      i++;
      return following;
    };

    const found = known.get(flag);
    const off = found === undefined ? negated(flag) : undefined;
    if (off?.kind === "setting") {
      if (attached !== undefined) problems.push(`\`${flag}\` takes no value.`);
      else values.push({ row: off.row, name: flag, value: "false" });
    } else if (found === undefined) {
      const near = closest(flag, known.keys());
      problems.push(`\`${flag}\` is not a flag${near === undefined ? "" : `; did you mean \`${near}\`?`}${near === undefined ? "." : ""}`);
    } else if (found.kind === "setting") {
      const value = found.row.setting.type.isSwitch === true ? (attached ?? "true") : next();
      if (value !== undefined) values.push({ row: found.row, name: flag, value });
    } else if (found.kind === "config") {
      config = next() ?? config;
    } else if (found.kind === "own") {
      if (attached === undefined) own[found.own] = true;
      else problems.push(`\`${flag}\` takes no value.`);
    } else if (found.kind === "secret") {
      problems.push(
        `\`${flag}\`: a secret on the command line can be read by everybody on the machine; set \`${SECRET_NAMES[0]}\` instead.`,
      );
    } else if (found.kind === "private") {
      if (attached !== "false") problems.push(privateProblem(flag));
    } else {
      if (!found.isSwitch) next();
      warnings.push(`\`${flag}\` ${found.why}.`);
    }
  }
  return { values, words, config, ...own, warnings, problems };
}

export const privateProblem = (name: string): string =>
  `\`${name}\` asks for a private service, which this version does not offer: it would show everything to everybody.`;
