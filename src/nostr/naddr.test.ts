import { bech32 } from "@scure/base";
import { expect, test } from "vitest";
import type { PublicKey } from "./event.ts";
import { encodeNaddr } from "./naddr.ts";

const pubkey = "7e7e9c42a91bfef19fa929e5fda1b72e0ebc1a4c1141673e2794234d86addf4e" as PublicKey;

test("NIP-19: identifier, relays, author and kind, one after the other", () => {
  const text = encodeNaddr({ kind: 30617, pubkey, d: "hé" }, ["wss://a.example", `wss://${"x".repeat(250)}`]) ?? "";
  const { prefix, words } = bech32.decode(text as `${string}1${string}`, 5_000);
  const bytes = bech32.fromWords(words);
  expect(prefix).toBe("naddr");
  const relay = Buffer.from("wss://a.example").toString("hex");
  expect(Buffer.from(bytes).toString("hex")).toBe(["000368c3a9", `010f${relay}`, `0220${pubkey}`, "030400007799"].join(""));
});

test("a name that does not fit has none", () => {
  expect(encodeNaddr({ kind: 30617, pubkey, d: "x".repeat(256) }, [])).toBeUndefined();
});
