import type { LoadedConfig } from "./config.ts";
import type { Environment, Source } from "./config-sources.ts";
import { SECRET_NAMES } from "./settings/other-names.ts";
import { type Row, rows } from "./settings/table.ts";

function sourceText(source: Source): string {
  switch (source.kind) {
    case "flag":
      return `flag ${source.name}`;
    case "environment":
      return source.name;
    case "file":
      return source.path;
    case "derived":
      return `default, from ${source.from.replaceAll("`", "")}`;
    case "default":
      return "default";
  }
}

/** As TOML, so that the printed configuration is itself a configuration file. */
function tomlValue({ setting: { type } }: Row, value: unknown): string | undefined {
  if (type.showItems !== undefined)
    return `[${type
      .showItems(value)
      .map((item) => JSON.stringify(item))
      .join(", ")}]`;
  const shown = type.show(value);
  if (shown === undefined) return undefined;
  return typeof value === "boolean" || /^(0|[1-9]\d*)$/.test(shown) ? shown : JSON.stringify(shown);
}

const valueOf = (loaded: LoadedConfig, row: Row): unknown =>
  (loaded.config as unknown as Readonly<Record<string, Readonly<Record<string, unknown>>>>)[row.group]?.[row.key];

/** Which variable holds the server's key, never what is in it. */
const secretSource = (env: Environment): string => {
  const set = SECRET_NAMES.find((name) => env[name] !== undefined);
  return set === undefined ? "not in the environment" : `set by ${set}, never shown`;
};

/** `--print-config`: a line per setting with its value and source. */
export function printConfig(loaded: LoadedConfig, env: Environment): string {
  const lines = rows.map((row) => {
    const source = sourceText(loaded.sources.get(row.key) ?? { kind: "default" });
    const value = tomlValue(row, valueOf(loaded, row));
    return value === undefined ? `# ${row.name} is not set` : `${`${row.name} = ${value}`.padEnd(64)} # ${source}`;
  });
  return `${lines.join("\n")}\n# nsec: ${secretSource(env)}\n`;
}

/** `--print-config --json`: the same with everything the manual knows, for machines. */
export function printConfigJson(loaded: LoadedConfig, env: Environment): string {
  const list = rows.map((row) => {
    const { type } = row.setting;
    const shown = (value: unknown): unknown =>
      typeof value === "number" || typeof value === "boolean" ? value : (type.showItems?.(value) ?? type.show(value) ?? null);
    const fallback = row.setting.default;
    return {
      key: `${row.group}.${row.key}`,
      name: row.name,
      flag: `--${row.name}`,
      environment: [row.env, ...row.ngit],
      value: shown(valueOf(loaded, row)),
      written: type.show(valueOf(loaded, row)) ?? null,
      source: loaded.sources.get(row.key),
      default: "derive" in fallback ? { from: fallback.from.replaceAll("`", "") } : { value: shown(fallback.value) },
      meaning: row.setting.meaning,
      reason: row.setting.reason,
    };
  });
  return `${JSON.stringify({ settings: list, secret: secretSource(env), warnings: loaded.warnings }, null, 2)}\n`;
}
