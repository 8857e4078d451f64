import { describe, expect, test } from "vitest";
import { readArguments } from "./config-arguments.ts";

const values = (...argv: string[]) => readArguments(argv).values.map(({ row, value }) => [row.key, value]);

describe("flags", () => {
  test.each<[string[], [string, string][]]>([
    [["--domain=a.example"], [["domain", "a.example"]]],
    [["--domain", "a.example"], [["domain", "a.example"]]],
    [["--relay-name="], [["relayName", ""]]],
    [["--metrics-enabled"], [["metricsEnabled", "true"]]],
    [["--no-metrics-enabled"], [["metricsEnabled", "false"]]],
    [["--metrics-enabled=false"], [["metricsEnabled", "false"]]],
    [["--metrics-enabled", "serve"], [["metricsEnabled", "true"]]],
    [["--idle-ping=5s"], [["idlePingMs", "5s"]]],
    [["--relay-max-subscriptions=5"], [["maxSubscriptions", "5"]]],
  ])("%j", (argv, expected) => expect(values(...argv)).toEqual(expected));

  test("words keep their order, and after -- everything is a word", () => {
    const read = readArguments(["serve", "--json", "x", "--", "--domain"]);
    expect(read.words).toEqual(["serve", "x", "--domain"]);
    expect(read.json).toBe(true);
    expect(read.problems).toEqual([]);
  });

  test("the flags that are no settings", () => {
    expect(readArguments(["--config=f.toml", "--print-config", "--help", "--version"])).toMatchObject({
      config: "f.toml",
      printConfig: true,
      help: true,
      version: true,
    });
  });

  test("flags of ngit-grasp that mean nothing here are accepted with their value", () => {
    const read = readArguments(["--archive-all", "serve", "--archive-whitelist", "npub1x", "--sync-base-backoff-secs=5"]);
    expect(read.words).toEqual(["serve"]);
    expect(read.problems).toEqual([]);
    expect(read.warnings).toHaveLength(3);
    expect(read.warnings[0]).toBe("`--archive-all` is for archiving other servers' repositories, which is not part of this version.");
  });

  test.each([
    [["--print-config=1"], "`--print-config` takes no value."],
    [["--no-metrics-enabled=1"], "`--no-metrics-enabled` takes no value."],
    [["--no-domain"], "`--no-domain` is not a flag; did you mean `--domain`?"],
    [["--domain", "--json"], "`--domain` needs a value, as in `--domain=…`."],
    [["-x"], "`-x` is not a flag; did you mean `-h`?"],
    [["--zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz"], "`--zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz` is not a flag."],
  ])("%j is a problem", (argv, problem) => expect(readArguments(argv).problems).toEqual([problem]));
});
