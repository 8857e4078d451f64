import type { Brand } from "../base/brand.ts";
import { type UnixSeconds, unixSeconds } from "../base/time.ts";

/** 64 lower-case hex digits. */
export type EventId = Brand<string, "EventId">;
/** 64 lower-case hex digits, x-only. */
export type PublicKey = Brand<string, "PublicKey">;
export type Tag = readonly string[];

/** An event whose shape was checked; its id and signature may not have been. */
export interface NostrEvent {
  readonly id: EventId;
  readonly pubkey: PublicKey;
  readonly created_at: UnixSeconds;
  readonly kind: number;
  readonly tags: readonly Tag[];
  readonly content: string;
  readonly sig: string;
}

/** An event whose id and signature were checked too. Only `nostr/verify.ts` and our own store make these. */
export type VerifiedEvent = Brand<NostrEvent, "VerifiedEvent">;

/** A loop, because every id, key and signature that comes in passes here, and it takes a third of a regular expression's time. */
function isHex(text: string, length: number): boolean {
  if (text.length !== length) return false;
  for (let i = 0; i < length; i++) {
    const c = text.charCodeAt(i);
    if (c < 0x30 || c > 0x66 || (c > 0x39 && c < 0x61)) return false;
  }
  return true;
}

export const isEventId = (text: string): text is EventId => isHex(text, 64);
export const isPublicKey = (text: string): text is PublicKey => isHex(text, 64);

/** NIP-01 kinds are 16 bits. */
export const KIND_MAX = 65_535;

/** The event, or a sentence that says what is wrong with its shape. Unknown fields are left out. */
export function readEvent(value: unknown): NostrEvent | string {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return "an event is a JSON object";
  const { id, pubkey, created_at, kind, tags, content, sig } = value as Record<string, unknown>;
  if (typeof id !== "string" || !isHex(id, 64)) return "id must be 64 lower-case hex digits";
  if (typeof pubkey !== "string" || !isHex(pubkey, 64)) return "pubkey must be 64 lower-case hex digits";
  if (typeof created_at !== "number" || !Number.isSafeInteger(created_at) || created_at < 0) {
    return "created_at must be a whole number of seconds from 0 to 2^53-1";
  }
  if (typeof kind !== "number" || !Number.isInteger(kind) || kind < 0 || kind > KIND_MAX) {
    return "kind must be a whole number from 0 to 65535";
  }
  if (typeof content !== "string") return "content must be a string";
  if (typeof sig !== "string" || !isHex(sig, 128)) return "sig must be 128 lower-case hex digits";
  if (!isTagList(tags)) return "tags must be a list of non-empty lists of strings";
  return { id: id as EventId, pubkey: pubkey as PublicKey, created_at: unixSeconds(created_at), kind, tags, content, sig };
}

function isTagList(value: unknown): value is string[][] {
  if (!Array.isArray(value)) return false;
  for (const tag of value) {
    if (!Array.isArray(tag) || tag.length === 0) return false;
    for (const item of tag) if (typeof item !== "string") return false;
  }
  return true;
}

/** The bytes that NIP-01 hashes for the id, as text. */
export function canonicalText(event: Omit<NostrEvent, "id" | "sig">): string {
  return `[0,"${event.pubkey}",${event.created_at},${event.kind},${JSON.stringify(event.tags)},${JSON.stringify(event.content)}]`;
}

/**
 * NIP-01 escapes seven characters and wants all others verbatim, control characters too; nearly everybody's JSON library escapes those as well.
 * This is the literal reading of `canonicalText`'s result. Backslashes are escaped in both, so no text has two meanings.
 */
export const verbatimText = (canonical: string): string =>
  canonical.replace(/\\(?:u00([01][0-9a-f])|.)/g, (escape, code: string | undefined) =>
    code === undefined ? escape : String.fromCharCode(Number.parseInt(code, 16)),
  );

/** The event as we store and serve it: known fields only, no white space, keys in the order of NIP-01. */
export function eventText(event: NostrEvent): string {
  return `{"id":"${event.id}","pubkey":"${event.pubkey}","created_at":${event.created_at},"kind":${event.kind},"tags":${JSON.stringify(event.tags)},"content":${JSON.stringify(event.content)},"sig":"${event.sig}"}`;
}
