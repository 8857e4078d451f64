import { expect, test } from "vitest";
import { asksToVanish } from "./vanish.ts";

const isOurs = (relay: string) => relay === "wss://ours.example";

test.each<[string, number, readonly (readonly string[])[], boolean]>([
  [
    "by our name",
    62,
    [
      ["relay", "wss://other.example"],
      ["relay", "wss://ours.example"],
    ],
    true,
  ],
  ["everywhere", 62, [["relay", "ALL_RELAYS"]], true],
  ["in lower case it is no word", 62, [["relay", "all_relays"]], false],
  ["elsewhere", 62, [["relay", "wss://other.example"]], false],
  ["nowhere", 62, [["relay"]], false],
  ["another kind", 1, [["relay", "ALL_RELAYS"]], false],
  ["another tag", 62, [["r", "ALL_RELAYS"]], false],
])("NIP-62: %s", (_, kind, tags, expected) => {
  expect(asksToVanish({ kind, tags }, isOurs)).toBe(expected);
});
