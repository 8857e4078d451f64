import { adviseConfig, checkConfig } from "./config-check.ts";
import { type Given, mergeSources, type Source, type Sources } from "./config-sources.ts";
import type { Settled } from "./settings/setting.ts";
import { type Config, rows } from "./settings/table.ts";

export type { Config } from "./settings/table.ts";

export interface LoadedConfig {
  readonly config: Config;
  /** By key. */
  readonly sources: ReadonlyMap<string, Source>;
  readonly warnings: readonly string[];
  /** What was set, by key; defaults are not in it. */
  readonly given: ReadonlyMap<string, Given>;
}

export type ConfigResult =
  | { readonly kind: "ok"; readonly loaded: LoadedConfig }
  | { readonly kind: "bad"; readonly problems: readonly string[]; readonly warnings: readonly string[] };

/** grasp.md 12.1: validated with every error at once. */
export function loadConfig(from: Sources): ConfigResult {
  const { given, warnings, problems } = mergeSources(from);
  const { config, sources } = fillIn(given);
  const all = [...problems, ...checkConfig(config)];
  if (all.length > 0) return { kind: "bad", problems: all, warnings };
  const advice = adviseConfig(config, (key) => given.has(key));
  return { kind: "ok", loaded: { config, sources, warnings: [...warnings, ...advice], given } };
}

/** With port 0 the real port is known once we listen: what is derived from the bind address is derived again. */
export function withBoundPort(loaded: LoadedConfig, port: number): Config {
  const bindAddress = { host: loaded.config.network.bindAddress.host, port };
  const source = loaded.sources.get("bindAddress") ?? { kind: "default" };
  return fillIn(new Map([...loaded.given, ["bindAddress", { value: bindAddress, source }]])).config;
}

function fillIn(given: ReadonlyMap<string, Given>): { readonly config: Config; readonly sources: ReadonlyMap<string, Source> } {
  const flat: Record<string, unknown> = {};
  const groups: Record<string, Record<string, unknown>> = {};
  const sources = new Map<string, Source>();
  for (const { group, key, setting } of rows) {
    const set = given.get(key);
    const fallback = setting.default;
    if (set !== undefined) {
      flat[key] = set.value;
      sources.set(key, set.source);
    } else if ("derive" in fallback) {
      // Sound because the table is in order: a test derives every default.
      flat[key] = fallback.derive(flat as unknown as Settled);
      sources.set(key, { kind: "derived", from: fallback.from });
    } else {
      flat[key] = fallback.value;
      sources.set(key, { kind: "default" });
    }
    groups[group] = { ...groups[group], [key]: flat[key] };
  }
  return { config: groups as unknown as Config, sources };
}

/** The configuration nobody changed: for tests and for the manual. */
export const defaultConfig = (): Config => fillIn(new Map()).config;
