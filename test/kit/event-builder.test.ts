import { schnorr } from "@noble/curves/secp256k1.js";
import { expect, test } from "vitest";
import { difficulty, idOf, mine, sign, tied, type WireEvent } from "./event-builder.ts";
import { alice, bob, fromHex } from "./keys.ts";

/** NIP-13's example, made by other people's software. (NIP-70's is no use here: its id is not its hash.) */
const PRINTED: readonly WireEvent[] = [
  {
    id: "000006d8c378af1779d2feebc7603a125d99eca0ccf1085959b307f64e5dd358",
    pubkey: "a48380f4cfcc1ad5378294fcac36439770f9c878dd880ffa94bb74ea54a6f243",
    created_at: 1651794653,
    kind: 1,
    tags: [["nonce", "776797", "20"]],
    content: "It's just me mining my own business",
    sig: "284622fc0a3f4f1303455d5175f7ba962a3300d136085b9566801bc2e0699de0c7e31e44c81fb40ad9049173742e904713c3594a1da0fc5d2382a25c11aba977",
  },
];

const holds = (event: WireEvent): boolean => schnorr.verify(fromHex(event.sig), fromHex(event.id), fromHex(event.pubkey));

test("ids of printed events come out as printed, and their signatures hold", () => {
  for (const event of PRINTED) {
    expect(idOf(event)).toBe(event.id);
    expect(holds(event)).toBe(true);
  }
  expect(difficulty(PRINTED[0]?.id ?? "")).toBe(21);
});

test("what the kit signs holds, is the same in every run, and is not another's", () => {
  const event = sign(alice, { content: "x", created_at: 1 });
  expect(holds(event)).toBe(true);
  expect(sign(alice, { content: "x", created_at: 1 })).toEqual(event);
  expect(holds({ ...event, pubkey: bob.pubkey })).toBe(false);
});

test("mined events have the difficulty asked for, ties are ordered by id", () => {
  const mined = mine(alice, { created_at: 1 }, (bits) => bits >= 8, 8);
  expect(difficulty(mined.id)).toBeGreaterThanOrEqual(8);
  expect(holds(mined)).toBe(true);
  const [lower, higher] = tied(alice, { created_at: 1 });
  expect(lower.id < higher.id).toBe(true);
});
