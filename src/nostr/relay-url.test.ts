import fc from "fast-check";
import { expect, test } from "vitest";
import { runs } from "../../test/kit/arbitrary/runs.ts";
import { normaliseRelayUrl } from "./relay-url.ts";

test.each([
  ["wss://relay.example", "wss://relay.example"],
  ["wss://relay.example/", "wss://relay.example"],
  ["WSS://Relay.EXAMPLE:443//", "wss://relay.example"],
  ["ws://relay.example:80", "ws://relay.example"],
  ["ws://relay.example:443", "ws://relay.example:443"],
  ["wss://relay.example:80/", "wss://relay.example:80"],
  ["wss://relay.example./", "wss://relay.example"],
  [" wss://relay.example\n", "wss://relay.example"],
  ["wss://relay.example/Base/Path/", "wss://relay.example/Base/Path"],
  ["wss://relay.example/a/../b", "wss://relay.example/b"],
  ["wss://relay.example/?x=1#frag", "wss://relay.example?x=1"],
  ["wss://bücher.example", "wss://xn--bcher-kva.example"],
  ["wss://BÜCHER.example", "wss://xn--bcher-kva.example"],
  ["ws://127.1:7777", "ws://127.0.0.1:7777"],
  ["ws://[::0001]:7777/", "ws://[::1]:7777"],
])("grasp.md 5.2: parsed, not compared as text: %s", (text, expected) => {
  expect(normaliseRelayUrl(text)).toBe(expected);
});

test.each([
  "",
  "relay.example",
  "//relay.example",
  "http://relay.example",
  "https://relay.example",
  "javascript:alert(1)",
  "file:///etc/passwd",
  "wss://",
  "wss://.",
  "wss://a..b",
  "wss://.example",
  "wss://user@relay.example",
  "wss://user:secret@relay.example",
  "wss://good.example\\@evil.example",
  "wss://relay\t.example",
  "wss://relay.example/a b",
  "wss://relay.example/\u0000",
  "wss://relay.example:99999",
  `wss://relay.example/${"a".repeat(1_100)}`,
])("no relay: %s", (text) => {
  expect(normaliseRelayUrl(text)).toBeUndefined();
});

test("normal form is normal", () => {
  const part = fc.stringMatching(/^[a-zA-Z0-9.ü%:/?#@-]{0,12}$/);
  const text = fc.oneof(
    fc.string(),
    fc
      .tuple(fc.constantFrom("ws://", "WSS://", "wss:/", "ws:"), part, fc.constantFrom("", "example", ".", ".."), part)
      .map((parts) => parts.join("")),
    fc.webUrl({ withQueryParameters: true, withFragments: true }).map((url) => url.replace(/^http/, "ws")),
  );
  let normal = 0;
  fc.assert(
    fc.property(text, (given) => {
      const once = normaliseRelayUrl(given);
      if (once === undefined) return;
      normal += 1;
      expect(normaliseRelayUrl(once)).toBe(once);
    }),
    runs(1_000),
  );
  expect(normal).toBeGreaterThan(100);
});
