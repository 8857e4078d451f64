import { describe, expect, test } from "vitest";
import { type ConfigResult, defaultConfig, loadConfig, withBoundPort } from "./config.ts";
import { readArguments } from "./config-arguments.ts";
import type { Environment } from "./config-sources.ts";

const load = (argv: readonly string[] = [], env: Environment = {}, text?: string): ConfigResult =>
  loadConfig({ arguments: readArguments(argv), env, file: text === undefined ? undefined : { path: "holdfast.toml", text } });

function good(result: ConfigResult) {
  if (result.kind === "bad") throw new Error(result.problems.join("\n"));
  return result.loaded;
}

const problems = (result: ConfigResult): readonly string[] => (result.kind === "bad" ? result.problems : []);

describe("sources (grasp.md 12.1)", () => {
  const env = { HOLDFAST_MAX_FILTERS: "30", NGIT_RELAY_NAME: "theirs", HOLDFAST_RELAY_NAME: "ours", NGIT_MAX_CONNECTIONS: "7" };
  const file = 'max-filters = 40\nmax-subscriptions = 77\nrelay-name = "file"\nalso-known-as = ["a.example", "b.example:8080"]\n';

  test("flags win over the environment, the environment over the file, the file over defaults", () => {
    const { config, sources } = good(load(["--max-filters=50"], env, file));
    expect(config.limits.maxFilters).toBe(50);
    expect(sources.get("maxFilters")).toEqual({ kind: "flag", name: "--max-filters" });
    expect(config.service.relayName).toBe("ours");
    expect(sources.get("relayName")).toEqual({ kind: "environment", name: "HOLDFAST_RELAY_NAME" });
    expect(config.limits.maxConnections).toBe(7);
    expect(sources.get("maxConnections")).toEqual({ kind: "environment", name: "NGIT_MAX_CONNECTIONS" });
    expect(config.limits.maxSubscriptions).toBe(77);
    expect(sources.get("maxSubscriptions")).toEqual({ kind: "file", path: "holdfast.toml" });
    expect(config.service.alsoKnownAs).toEqual(["a.example", "b.example:8080"]);
    expect(sources.get("maxResults")).toEqual({ kind: "default" });
  });

  test("a value that loses is still checked", () => {
    expect(problems(load(["--max-filters=50"], { HOLDFAST_MAX_FILTERS: "many" }))).toEqual([
      "`HOLDFAST_MAX_FILTERS` is `many`: expected a whole number of 1 or more, for example 20.",
    ]);
  });

  test("of two flags the last one wins, under whichever of its names", () => {
    expect(good(load(["--max-results=5", "--relay-filter-limit=6"])).config.limits.maxResults).toBe(6);
    expect(good(load(["--metrics-enabled", "--no-metrics-enabled"])).config.ops.metricsEnabled).toBe(false);
  });

  test("an empty variable is not set", () => {
    expect(good(load([], { HOLDFAST_MAX_FILTERS: "", NGIT_DOMAIN: "" })).config.limits.maxFilters).toBe(20);
  });
});

describe("derived defaults", () => {
  test("the domain follows the bind address, the name the domain", () => {
    const { config, sources } = good(load([], { HOLDFAST_BIND_ADDRESS: "0.0.0.0:8080" }));
    expect(config.service.domain).toBe("localhost:8080");
    expect(config.service.relayName).toBe("localhost:8080 grasp relay");
    expect(sources.get("domain")).toEqual({ kind: "derived", from: "`bind-address`" });
  });

  test("both data paths follow the data path, and each can be set by itself", () => {
    const { storage } = good(load([], { HOLDFAST_DATA_PATH: "/srv/h/", NGIT_GIT_DATA_PATH: "/big/git" })).config;
    expect(storage.relayDataPath).toBe("/srv/h/relay");
    expect(storage.gitDataPath).toBe("/big/git");
    expect(defaultConfig().storage).toMatchObject({ relayDataPath: "./data/relay", gitDataPath: "./data/git" });
  });

  test("port 0 becomes the real port where it was derived, and only there", () => {
    const derived = good(load(["--bind-address", "127.0.0.1:0"]));
    expect(withBoundPort(derived, 4711).service.domain).toBe("127.0.0.1:4711");
    expect(withBoundPort(derived, 4711).network.bindAddress).toEqual({ host: "127.0.0.1", port: 4711 });
    const named = good(load(["--bind-address", "127.0.0.1:0", "--domain", "git.example"]));
    expect(withBoundPort(named, 4711).service.domain).toBe("git.example");
  });

  test("grasp.md 3.3: defaults that peers rely on", () => {
    expect(defaultConfig().limits).toMatchObject({
      maxEventBytes: 192 * 1024,
      maxMessageBytes: 5 * 1024 * 1024,
      maxSubscriptions: 500,
      maxResults: 500,
      defaultResults: 500,
      maxFilters: 20,
      maxSubscriptionBytes: 5 * 1024 * 1024,
      maxNegentropySessions: 10,
      eventsPerMinute: 600,
      queriesPerMinute: 1_200,
      messagesPerMinute: 6_000,
    });
    expect(defaultConfig().timing).toMatchObject({ idlePingMs: 25_000, pongTimeoutMs: 20_000 });
  });

  test("grasp.md 11.2: how long deletion requests are kept", () => {
    const day = 86_400_000;
    expect(defaultConfig().deletion).toMatchObject({
      deletionRequestRetentionUnusedServedMs: 30 * day,
      deletionRequestRetentionUnusedUnservedMs: 180 * day,
      deletionRequestRetentionUsedServedMs: 270 * day,
      deletionRequestRetentionUsedUnservedMs: 90 * day,
      maxDeletionTargets: 2_048,
    });
  });
});

describe("problems, all at once", () => {
  test("every source's mistakes come together, in sentences", () => {
    const result = load(
      ["--max-conections=3", "--domain"],
      { HOLDFAST_MAX_CONNECTIONS: "abc", NGIT_DOMIAN: "x" },
      "max-filter = 3\nmax-results = {}\n",
    );
    expect(problems(result)).toEqual([
      "`--max-conections` is not a flag; did you mean `--max-connections`?",
      "`--domain` needs a value, as in `--domain=…`.",
      "`HOLDFAST_MAX_CONNECTIONS` is `abc`: expected a whole number of 1 or more, for example 10000.",
      "`NGIT_DOMIAN` is not a setting; did you mean `NGIT_DOMAIN`?",
      "`max-filter` in holdfast.toml is not a setting; did you mean `max-filters`?",
      "`max-results` in holdfast.toml is `{}`: expected a whole number of 1 or more.",
    ]);
  });

  test.each([
    [
      ["--max-results=10", "--default-results=20"],
      "`default-results` is 20 and `max-results` is 10: the first must not be larger than the second.",
    ],
    [
      ["--relay-data-path=./data/", "--git-data-path=data"],
      "`relay-data-path` and `git-data-path` are the same directory: a repository could take the place of the store.",
    ],
    [["--domain=a.example", "--also-known-as=a.example"], "`also-known-as` names the `domain` itself: leave it out there."],
  ])("settings that contradict one another: %j", (argv, sentence) => {
    expect(problems(load(argv))).toEqual([sentence]);
  });

  test("a file that is not TOML is named with its line", () => {
    expect(problems(load([], {}, "a = 1\nb = = 2\n"))[0]).toMatch(/^holdfast\.toml, line 2: /);
  });

  test("what a value hides is shown", () => {
    expect(problems(load([], { HOLDFAST_MAX_FILTERS: "1\u001b[2J" }))[0]).toContain("`1\\x1b[2J`");
  });

  test("privacy that cannot be given stops the start", () => {
    expect(problems(load([], { NGIT_PRIVATE_MODE: "true" }))[0]).toContain("private service");
    expect(problems(load(["--private-mode"]))[0]).toContain("private service");
    expect(problems(load([], { NGIT_PRIVATE_MODE: "false" }))).toEqual([]);
  });

  test("a secret is refused on the command line and not repeated", () => {
    const [problem] = problems(load(["--relay-owner-nsec=nsec1secret"]));
    expect(problem).toContain("HOLDFAST_NSEC");
    expect(problem).not.toContain("nsec1secret");
  });

  test("names that Kubernetes adds are nobody's mistake", () => {
    expect(
      problems(load([], { HOLDFAST_SERVICE_HOST: "10.0.0.1", HOLDFAST_PORT: "tcp://10.0.0.1:80", HOLDFAST_PORT_80_TCP_ADDR: "10.0.0.1" })),
    ).toEqual([]);
  });
});

describe("readings with a note", () => {
  test.each([
    [{ NGIT_DATABASE_BACKEND: "lmdb" }, "storage", "store", "disk", "no LMDB here"],
    [{ NGIT_LOG_LEVEL: "warn,ngit_grasp=debug" }, "ops", "logLevel", "warn", "read as `warn`"],
    [{ NGIT_LOG_LEVEL: "ngit_grasp=debug" }, "ops", "logLevel", "info", "read as `info`"],
  ] as const)("%j", (env, group, key, value, note) => {
    const { config, warnings } = good(load([], env));
    expect((config[group] as Record<string, unknown>)[key]).toBe(value);
    expect(warnings).toEqual([expect.stringContaining(note)]);
  });

  test("a setting without effect yet says so", () => {
    expect(good(load(["--maintainer-policy=recursive"])).warnings).toEqual([expect.stringContaining("has no effect in this version")]);
  });

  test("a proxy without trust is pointed out", () => {
    expect(good(load(["--domain=git.example"])).warnings[0]).toContain("trusted-proxies");
    expect(good(load(["--domain=git.example", "--trusted-proxies=127.0.0.1"])).warnings).toEqual([]);
  });
});
