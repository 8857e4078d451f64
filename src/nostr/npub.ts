import { bech32 } from "@scure/base";
import type { Brand } from "../base/brand.ts";
import type { PublicKey } from "./event.ts";

/** 32 bytes, a number from 1 to the group order minus 1. */
export type SecretKey = Brand<Uint8Array, "SecretKey">;

export const encodeNpub = (pubkey: PublicKey): string => bech32.encodeFromBytes("npub", Buffer.from(pubkey, "hex"));

export function decodeNpub(text: string): PublicKey | undefined {
  const bytes = decode("npub", text);
  return bytes === undefined ? undefined : (Buffer.from(bytes).toString("hex") as PublicKey);
}

export const encodeNsec = (secret: SecretKey): string => bech32.encodeFromBytes("nsec", secret);

export function decodeNsec(text: string): SecretKey | undefined {
  const bytes = decode("nsec", text);
  return bytes === undefined ? undefined : secretKey(bytes);
}

/** The order of secp256k1: BIP-340 has no key at or above it, nor 0. */
const GROUP_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

/** grasp.md 2.5: a broken secret must be seen when it is read, not when it first signs. */
export function secretKey(bytes: Uint8Array): SecretKey | undefined {
  if (bytes.length !== 32) return undefined;
  const scalar = BigInt(`0x${Buffer.from(bytes).toString("hex")}`);
  return scalar > 0n && scalar < GROUP_ORDER ? (bytes as SecretKey) : undefined;
}

/** Every such text has 63 characters: four of prefix, a `1`, 52 of data and 6 of checksum. */
const TEXT_LENGTH = 63;

/** One key has one text: it must come out again letter by letter, or two paths would name one repository. */
function decode(prefix: "npub" | "nsec", text: string): Uint8Array | undefined {
  if (text.length !== TEXT_LENGTH || !text.startsWith(`${prefix}1`)) return undefined;
  const decoded = bech32.decodeUnsafe(text);
  if (decoded === undefined || decoded.prefix !== prefix) return undefined;
  const bytes = bech32.fromWordsUnsafe(decoded.words);
  if (!(bytes instanceof Uint8Array) || bytes.length !== 32) return undefined;
  return bech32.encodeFromBytes(prefix, bytes) === text ? bytes : undefined;
}
