import { createHash } from "node:crypto";
import { unixSeconds } from "../../../src/base/time.ts";
import type { EventId, PublicKey, Tag, VerifiedEvent } from "../../../src/nostr/event.ts";
import type { Address } from "../../../src/nostr/replaceable.ts";

const hex64 = (label: string): string => createHash("sha256").update(label).digest("hex");

/**
 * The id of a label, always the same. Numbers come in fours (0 to 3, 4 to 7, …) that differ only in their last digits: two ids that begin alike cost a
 * stranger seconds, so an index that looks only at the beginning of an id has to be found out.
 */
export function fakeId(label: number | string): EventId {
  if (typeof label === "string") return hex64(`event ${label}`) as EventId;
  const group = hex64(`event ${Math.floor(label / 4)}`);
  // Neither grows with the number, so that order by id is not order of making.
  return (group.slice(0, 60) + hex64(`last ${label}`).slice(0, 3) + ((label * 7) % 16).toString(16)) as EventId;
}

export const fakeKey = (label: number | string): PublicKey => hex64(`key ${label}`) as PublicKey;

export interface EventParts {
  readonly id?: EventId;
  readonly pubkey?: PublicKey;
  readonly created_at?: number;
  readonly kind?: number;
  readonly tags?: readonly Tag[];
  readonly content?: string;
}

const FAKE_SIG = "5".repeat(128);

/** An event that nobody signed: stores trust their caller that it was verified. Without an `id` it gets the one that follows from its other parts. */
export function fakeEvent(parts: EventParts = {}): VerifiedEvent {
  const { pubkey = fakeKey("alice"), kind = 1, tags = [], content = "" } = parts;
  const created_at = unixSeconds(parts.created_at ?? 100);
  const id = parts.id ?? fakeId(JSON.stringify([pubkey, created_at, kind, tags, content]));
  return { id, pubkey, created_at, kind, tags, content, sig: FAKE_SIG } as unknown as VerifiedEvent;
}

/** NIP-01: `<kind>:<pubkey>:<d>`. */
export const coordinate = (address: Address): string => `${address.kind}:${address.pubkey}:${address.d}`;
