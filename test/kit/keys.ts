import { createHash } from "node:crypto";
import { schnorr } from "@noble/curves/secp256k1.js";

/** Somebody with a key. The same name always gives the same key, so a failed test can be repeated exactly. */
export interface Actor {
  readonly name: string;
  readonly secret: Uint8Array;
  /** 64 lower-case hex digits, x-only. */
  readonly pubkey: string;
}

export const toHex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");
export const fromHex = (hex: string): Uint8Array => new Uint8Array(Buffer.from(hex, "hex"));

export function actor(name: string): Actor {
  // A hash is above the curve's order once in 2^128; the library would throw, never sign wrongly.
  const secret = new Uint8Array(createHash("sha256").update(`holdfast test actor ${name}`).digest());
  return { name, secret, pubkey: toHex(schnorr.getPublicKey(secret)) };
}

export const alice = actor("alice");
export const bob = actor("bob");
export const carol = actor("carol");
/** Attackers are actors too. */
export const mallory = actor("mallory");

/** No randomness goes into a test's signatures: the same event is the same bytes in every run. */
const FIXED_AUX = new Uint8Array(32);

export const signHash = (who: Actor, hash: Uint8Array): string => toHex(schnorr.sign(hash, who.secret, FIXED_AUX));
