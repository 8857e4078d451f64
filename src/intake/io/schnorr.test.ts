import { schnorr } from "@noble/curves/secp256k1.js";
import { describe, expect, test } from "vitest";
import { fastestSchnorr, loadNative, loadPlain, loadWasm, passesVectors } from "./schnorr.ts";

describe("BIP-340 back ends", () => {
  test("each that loads passes the official vectors and agrees with the others on tampered signatures", async () => {
    const loaded = [await loadNative(), await loadWasm(), await loadPlain()].filter((v) => v !== undefined);
    expect(loaded.length).toBeGreaterThanOrEqual(2);
    const secret = new Uint8Array(32).fill(7);
    const pubkey = schnorr.getPublicKey(secret);
    for (let i = 0; i < 32; i++) {
      const message = new Uint8Array(32).fill(i);
      const sig = schnorr.sign(message, secret);
      const tampered = Uint8Array.from(sig);
      tampered[i * 2] = (tampered[i * 2] ?? 0) ^ 1;
      for (const verifier of loaded) {
        expect(verifier.verify(sig, message, pubkey), verifier.name).toBe(true);
        expect(verifier.verify(tampered, message, pubkey), verifier.name).toBe(false);
      }
    }
    for (const verifier of loaded) expect(passesVectors(verifier), verifier.name).toBe(true);
  });

  test("wrong lengths are refused, not read", async () => {
    for (const verifier of [await fastestSchnorr(), await loadWasm()]) {
      expect(verifier.verify(new Uint8Array(63), new Uint8Array(32), new Uint8Array(32))).toBe(false);
      expect(verifier.verify(new Uint8Array(64), new Uint8Array(31), new Uint8Array(32))).toBe(false);
      expect(verifier.verify(new Uint8Array(64), new Uint8Array(32), new Uint8Array(0))).toBe(false);
    }
  });

  test("a back end that says yes to everything fails the self-test", () => {
    expect(passesVectors({ name: "liar", verify: () => true })).toBe(false);
    expect(passesVectors({ name: "refuser", verify: () => false })).toBe(false);
  });
});
