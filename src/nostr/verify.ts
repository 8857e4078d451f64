import { hash } from "node:crypto";
import { canonicalText, type EventId, type NostrEvent, type VerifiedEvent, verbatimText } from "./event.ts";

/** NIP-01: sha256 of the canonical text, lower-case hex. */
export const eventId = (event: Omit<NostrEvent, "id" | "sig">): EventId => hash("sha256", canonicalText(event), "hex") as EventId;

/** BIP-340 verification; the back ends are told apart by name in logs. A key that is no point is `false`, never a throw. */
export interface SchnorrVerifier {
  readonly name: string;
  /** 64, 32 and 32 bytes. */
  verify(sig: Uint8Array, message: Uint8Array, pubkey: Uint8Array): boolean;
}

export const VERIFY_TEXTS = {
  id: "event id does not match its content",
  signature: "signature is not valid",
} as const;

/** The event with its proof, or the sentence for `invalid: …`. The id first: hashing is cheap, and a signature under a wrong id proves nothing. */
export function verifyEvent(event: NostrEvent, schnorr: SchnorrVerifier): VerifiedEvent | string {
  if (!isIdOf(event)) return VERIFY_TEXTS.id;
  const signed = schnorr.verify(Buffer.from(event.sig, "hex"), Buffer.from(event.id, "hex"), Buffer.from(event.pubkey, "hex"));
  return signed ? (event as VerifiedEvent) : VERIFY_TEXTS.signature;
}

/** Both readings of NIP-01 are signed in the wild, so both are taken; the second is tried only where they differ. */
function isIdOf(event: NostrEvent): boolean {
  const text = canonicalText(event);
  if (hash("sha256", text, "hex") === event.id) return true;
  return text.includes("\\u00") && hash("sha256", verbatimText(text), "hex") === event.id;
}
