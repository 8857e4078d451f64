import { readFile } from "node:fs/promises";
import { type ConfigResult, loadConfig } from "../config.ts";
import { type Arguments, readArguments } from "../config-arguments.ts";
import type { Environment } from "../config-sources.ts";

export interface ReadConfig {
  readonly arguments: Arguments;
  readonly result: ConfigResult;
}

/** A configuration is a page or two; a larger file is a wrong path. */
const FILE_BYTES_MAX = 1024 * 1024;

/** The arguments, the environment and the file they name, as one configuration or as a list of what is wrong. */
export async function readConfig(argv: readonly string[], env: Environment): Promise<ReadConfig> {
  const args = readArguments(argv);
  const path = args.config ?? (env["HOLDFAST_CONFIG"] === "" ? undefined : env["HOLDFAST_CONFIG"]);
  if (path === undefined) return { arguments: args, result: loadConfig({ arguments: args, env, file: undefined }) };

  const text = await readText(path);
  const file = typeof text === "string" ? { path, text } : undefined;
  const result = loadConfig({ arguments: args, env, file });
  if (typeof text === "string") return { arguments: args, result };
  const problems = result.kind === "bad" ? result.problems : [];
  const warnings = result.kind === "bad" ? result.warnings : result.loaded.warnings;
  return { arguments: args, result: { kind: "bad", problems: [`The configuration file ${path} ${text.problem}.`, ...problems], warnings } };
}

async function readText(path: string): Promise<string | { readonly problem: string }> {
  try {
    const bytes = await readFile(path);
    if (bytes.length > FILE_BYTES_MAX) return { problem: "is larger than 1 MiB" };
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return { problem: "is not UTF-8 text" };
    return { problem: `cannot be read (${(error as NodeJS.ErrnoException).code ?? "unknown"})` };
  }
}
