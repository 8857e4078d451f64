import { isPublicKey, type PublicKey } from "../../nostr/event.ts";
import { decodeNpub, decodeNsec, type SecretKey, secretKey } from "../../nostr/npub.ts";

/** A key as an npub or as 64 hex digits. */
export const readKey = (text: string): PublicKey | undefined => (isPublicKey(text) ? text : decodeNpub(text));

/** A secret as an nsec or as 64 hex digits. */
export function readSecret(text: string): SecretKey | undefined {
  return /^[0-9a-fA-F]{64}$/.test(text) ? secretKey(Uint8Array.from(Buffer.from(text, "hex"))) : decodeNsec(text);
}
