import { expect, test } from "vitest";
import type { PublicKey } from "../nostr/event.ts";
import { ROUTES } from "../ops/metric-names.ts";
import { relayInfo } from "../web/info.ts";
import { type RouteKind, routeOf } from "../web/route.ts";
import { loadConfig } from "./config.ts";
import { readArguments } from "./config-arguments.ts";
import { infoFacts } from "./config-web.ts";

test("grasp.md 2.4: the information document tells the configured figures", () => {
  const argv = [
    "--domain=git.example",
    "--base-path=/g",
    "--max-results=70",
    "--max-subscriptions=9",
    "--repository-whitelist=a,b",
    "--max-message-bytes=1MiB",
  ];
  const result = loadConfig({ arguments: readArguments(argv), env: {}, file: undefined });
  if (result.kind === "bad") throw new Error(result.problems.join());
  const info = relayInfo(infoFacts(result.loaded.config, "cd".repeat(32) as PublicKey, { version: "1.0.0", grasps: [] }));
  expect(info).toMatchObject({
    name: "git.example grasp relay",
    icon: "https://git.example/g/icon.svg",
    pubkey: "cd".repeat(32),
    limitation: {
      max_limit: 70,
      default_limit: 70,
      max_subscriptions: 9,
      max_message_length: 1_048_576,
      max_subid_length: 250,
      restricted_writes: true,
    },
  });
  expect(info.curation).toBeDefined();
  expect(info.software, "NIP-11: a URL").toBe("https://git.example/g/");
});

test("every route of the front has its label in the metrics", () => {
  // Does not compile when a route is without one, or a label without a route.
  const labels: readonly RouteKind[] = ROUTES;
  const label = (kind: RouteKind): (typeof ROUTES)[number] => kind;
  for (const url of ["/", "/x", "/metrics", "/healthz", "/readyz", "/style.css", "y", "/.well-known/nostr.json"]) {
    expect(labels).toContain(label(routeOf({ method: "GET", url, headers: {} }, "/").kind));
  }
});
