import { expect, test } from "vitest";
import { type LoadedConfig, loadConfig } from "./config.ts";
import { readArguments } from "./config-arguments.ts";
import { printConfig, printConfigJson } from "./config-print.ts";
import type { Environment } from "./config-sources.ts";

function load(argv: readonly string[], env: Environment, text?: string): LoadedConfig {
  const result = loadConfig({ arguments: readArguments(argv), env, file: text === undefined ? undefined : { path: "f.toml", text } });
  if (result.kind === "bad") throw new Error(result.problems.join("\n"));
  return result.loaded;
}

const secret = `${"0".repeat(63)}7`;
const env = { HOLDFAST_NSEC: secret, NGIT_MAX_CONNECTIONS: "12", HOLDFAST_RELAY_NAME: 'a "quoted" \\ name' };
const argv = ["--idle-ping=5s", "--trusted-proxies=10.0.0.0/8,::1", "--no-metrics-enabled"];

test("each line has value and source, and the secret is never shown", () => {
  const text = printConfig(load(argv, env), env);
  expect(text).toMatch(/^max-connections = 12 +# NGIT_MAX_CONNECTIONS$/m);
  expect(text).toMatch(/^idle-ping = "5s" +# flag --idle-ping$/m);
  expect(text).toMatch(/^domain = "127\.0\.0\.1:7334" +# default, from bind-address$/m);
  expect(text).toMatch(/^# relay-contact is not set$/m);
  expect(text).toMatch(/^# nsec: set by HOLDFAST_NSEC, never shown$/m);
  expect(text + printConfigJson(load(argv, env), env)).not.toContain(secret);
});

test("what is printed is a configuration file for the same configuration", () => {
  const loaded = load(argv, env);
  expect(load([], {}, printConfig(loaded, env)).config).toEqual(loaded.config);
});

test("the JSON form has every setting with value, source and names", () => {
  const { settings } = JSON.parse(printConfigJson(load(argv, env), env)) as { settings: { name: string }[] };
  expect(settings.find((s) => s.name === "max-connections")).toMatchObject({
    key: "limits.maxConnections",
    flag: "--max-connections",
    environment: ["HOLDFAST_MAX_CONNECTIONS", "NGIT_MAX_CONNECTIONS"],
    value: 12,
    source: { kind: "environment", name: "NGIT_MAX_CONNECTIONS" },
    default: { value: 10_000 },
  });
  expect(settings.find((s) => s.name === "trusted-proxies")).toMatchObject({ value: ["10.0.0.0/8", "::1/128"] });
});
