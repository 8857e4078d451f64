import { expect, test } from "vitest";
import { type EventParts, fakeEvent } from "../../test/kit/arbitrary/fake-event.ts";
import { unixSeconds } from "../base/time.ts";
import { checkAuth } from "./auth.ts";
import type { RelayUrl } from "./relay-url.ts";

const expected = {
  challenge: "abc",
  relayUrls: ["wss://ours.example", "ws://ours.example:7777/base"] as RelayUrl[],
  now: unixSeconds(10_000),
};
const answer = (relay: string, challenge: string, more: EventParts = {}) =>
  fakeEvent({
    kind: 22_242,
    created_at: 10_000,
    tags: [
      ["relay", relay],
      ["challenge", challenge],
    ],
    ...more,
  });

test.each(["wss://ours.example/", "WSS://OURS.example:443", "ws://ours.example:7777/base/"])("NIP-42: taken for %s", (relay) => {
  expect(checkAuth(answer(relay, "abc"), expected)).toBeUndefined();
});

test.each([
  ["kind", answer("wss://ours.example", "abc", { kind: 1 })],
  ["another challenge", answer("wss://ours.example", "abd")],
  ["no challenge", answer("wss://ours.example", "abc", { tags: [["relay", "wss://ours.example"]] })],
  ["another relay", answer("wss://evil.example", "abc")],
  ["our name as a part", answer("wss://ours.example.evil.example", "abc")],
  ["no relay", answer("wss://ours.example", "abc", { tags: [["challenge", "abc"]] })],
  ["too old", answer("wss://ours.example", "abc", { created_at: 9_399 })],
  ["too new", answer("wss://ours.example", "abc", { created_at: 10_601 })],
])("NIP-42: refused with a sentence: %s", (_, event) => {
  expect(checkAuth(event, expected)).toEqual(expect.any(String));
});

test("NIP-42: ten minutes either way, or what is set", () => {
  for (const created_at of [9_400, 10_600])
    expect(checkAuth(answer("wss://ours.example", "abc", { created_at }), expected)).toBeUndefined();
  const early = answer("wss://ours.example", "abc", { created_at: 9_879 });
  expect(checkAuth(early, { ...expected, windowSeconds: 120 })).toEqual(expect.any(String));
});
