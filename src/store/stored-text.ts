import { type UnixSeconds, unixSeconds } from "../base/time.ts";
import type { EventId } from "../nostr/event.ts";

/**
 * A stored text is what `eventText` made: `{"id":"…","pubkey":"…","created_at":…,"kind":…`. So the first fields stand where they always stand and can be
 * read without parsing the rest.
 */
const ID_AT = '{"id":"'.length;
const ID_END = ID_AT + 64;
export const PUBKEY_AT = ID_END + '","pubkey":"'.length;
const CREATED_AT = PUBKEY_AT + 64 + '","created_at":'.length;
/** 2^53 has 16 digits. */
const DIGITS_MAX = 16;

export const idOf = (text: string): EventId => text.slice(ID_AT, ID_END) as EventId;

export const createdAtOf = (text: string): UnixSeconds => unixSeconds(Number.parseInt(text.slice(CREATED_AT, CREATED_AT + DIGITS_MAX), 10));
