import { expect, test } from "vitest";
import { fakeKey } from "../../test/kit/arbitrary/fake-event.ts";
import { encodeNpub } from "../nostr/npub.ts";
import { type Config, loadConfig } from "./config.ts";
import { readArguments } from "./config-arguments.ts";
import { placesOf, relayLimitsOf, relayUrlsOf, retentionsOf, rulesOf, verifyWorkersOf } from "./rules.ts";

function configOf(...argv: string[]): Config {
  const result = loadConfig({ arguments: readArguments(argv), env: {}, file: undefined });
  if (result.kind === "bad") throw new Error(result.problems.join("\n"));
  return result.loaded.config;
}

const DAY = 86_400_000;
const KIB = 1_024;

test("grasp.md 3.3: nobody is given less than peers rely on", () => {
  expect(relayLimitsOf(configOf("--domain=git.example"))).toMatchObject({
    subscriptions: 500,
    subscriptionBytes: 5 * KIB * KIB,
    filtersPerRequest: 20,
    resultsMax: 500,
    resultsDefault: 500,
    messageBytes: 5 * KIB * KIB,
    eventBytes: 192 * KIB,
    negentropySessions: 10,
    eventsPerMinute: 600,
    queriesPerMinute: 1_200,
    messagesPerMinute: 6_000,
    pingAfterMs: 25_000,
    pongWithinMs: 20_000,
  });
});

test("every limit of a connection is its own setting", () => {
  const flags = {
    "max-subscriptions": "subscriptions",
    "max-filters": "filtersPerRequest",
    "max-filter-values": "valuesPerRequest",
    "max-results": "resultsMax",
    "max-negentropy-sessions": "negentropySessions",
    "max-negentropy-items": "negentropyItems",
    "events-per-minute": "eventsPerMinute",
    "queries-per-minute": "queriesPerMinute",
    "messages-per-minute": "messagesPerMinute",
    "auths-per-minute": "authsPerMinute",
    "max-unanswered-events": "unansweredEvents",
  } as const;
  const names = Object.keys(flags) as (keyof typeof flags)[];
  const limits = relayLimitsOf(configOf("--domain=git.example", ...names.map((flag, n) => `--${flag}=${n + 101}`)));
  expect(names.map((flag) => limits[flags[flag]])).toEqual(names.map((_, n) => n + 101));
});

test("grasp.md 11.2: how long requests are remembered", () => {
  expect(retentionsOf(configOf("--domain=git.example"))).toEqual({
    unusedServedMs: 30 * DAY,
    unusedGateMs: 180 * DAY,
    usedServedMs: 270 * DAY,
    usedGateMs: 90 * DAY,
  });
});

test("grasp.md 5.2: every name is a place, with its port and the base path", () => {
  const config = configOf("--domain=Git.example:7000", "--base-path=/g", "--also-known-as=old.example");
  expect(placesOf(config)).toEqual([
    { hostname: "git.example", port: 7_000, basePath: "/g" },
    { hostname: "old.example", port: undefined, basePath: "/g" },
  ]);
  expect(relayUrlsOf(config)).toEqual(["ws://git.example:7000/g", "wss://git.example:7000/g", "ws://old.example/g", "wss://old.example/g"]);
  expect(placesOf(configOf("--domain=git.example:443"))).toEqual([{ hostname: "git.example", port: 443, basePath: "" }]);
  expect(placesOf(configOf("--domain=[::1]:7000"))).toEqual([{ hostname: "[::1]", port: 7_000, basePath: "" }]);
});

test("the rules: lists, and no list at all", () => {
  const alice = fakeKey("alice");
  expect(rulesOf(configOf("--domain=git.example"))).toMatchObject({
    acceptance: "grasp",
    blockedAuthors: [],
    blockedRepositories: [],
    allowedRepositories: undefined,
    minPow: 0,
    eventBytesMax: 192 * KIB,
    deletionTargetsMax: 2_048,
    ignoreDeletions: false,
    purgatory: false,
    maintainerPolicy: "reciprocal",
  });
  const npub = encodeNpub(alice);
  const config = configOf(
    "--domain=git.example",
    "--acceptance=open",
    `--event-blacklist=${npub}`,
    `--repository-blacklist=${npub}/bad`,
    `--repository-whitelist=${npub},name`,
    "--min-pow-difficulty=7",
    "--maintainer-policy=owner-only",
  );
  expect(rulesOf(config)).toMatchObject({
    acceptance: "open",
    blockedAuthors: [alice],
    blockedRepositories: [{ kind: "repository", owner: alice, identifier: "bad" }],
    allowedRepositories: [
      { kind: "owner", owner: alice },
      { kind: "identifier", identifier: "name" },
    ],
    minPow: 7,
    maintainerPolicy: "owner-only",
  });
});

test("rules can be handed to a thread as they are", () => {
  const rules = rulesOf(configOf("--domain=git.example", "--repository-whitelist=name"));
  expect(structuredClone(rules)).toEqual(rules);
});

test("at least one thread checks signatures", () => {
  expect(verifyWorkersOf(configOf("--domain=git.example"))).toBeGreaterThanOrEqual(1);
  expect(verifyWorkersOf(configOf("--domain=git.example", "--verify-workers=3"))).toBe(3);
});
