import type { EventId } from "../nostr/event.ts";

/** Shorter messages cost nothing to parse, whatever they hold (64 KiB of small objects with a key each already take 20 ms). */
const LOOK_FROM_LENGTH = 1_024;
/** `["REQ", sub, {"#e": [ … ]}]` is three deep; an event's tags are four. */
const DEPTH_MAX = 8;
/** A REQ of 20 filters with every single-letter tag has 20 objects and some 1,200 keys. */
const OBJECTS_MAX = 256;
const KEYS_MAX = 4_096;

/**
 * A look at a long message before it is parsed: deep nesting and hundreds of thousands of keys make a parser hundreds of times slower than the same
 * length of honest text, and everybody else would wait. Strings are skipped, so that their content is not counted.
 */
export function isPlausible(text: string): boolean {
  if (text.length < LOOK_FROM_LENGTH) return true;
  let depth = 0;
  let objects = 0;
  let keys = 0;
  for (let i = 0; i < text.length; i++) {
    switch (text.charCodeAt(i)) {
      case 0x22: // "
        i = endOfString(text, i + 1);
        break;
      case 0x5b: // [
        if (++depth > DEPTH_MAX) return false;
        break;
      case 0x7b: // {
        if (++depth > DEPTH_MAX || ++objects > OBJECTS_MAX) return false;
        break;
      case 0x5d: // ]
      case 0x7d: // }
        depth--;
        break;
      case 0x3a: // :
        if (++keys > KEYS_MAX) return false;
        break;
    }
  }
  return true;
}

/** The place of the closing quote, or the end of the text. */
function endOfString(text: string, from: number): number {
  for (let end = text.indexOf('"', from); end >= 0; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === 0x5c) slashes++;
    if (slashes % 2 === 0) return end;
  }
  return text.length;
}

/**
 * How many tags of an unread EVENT may end in an index: each is a write of its own. Names of one letter count, and whatever is not plainly longer;
 * the many refs of a repository state are.
 */
export function countIndexedTags(frame: string): number {
  if (frame.length < LOOK_FROM_LENGTH) return 0;
  let tags = 0;
  for (let i = 0; i < frame.length; i++) {
    const character = frame.charCodeAt(i);
    if (character === 0x22) i = endOfString(frame, i + 1);
    else if (character === 0x5b && !hasLongName(frame, i + 1)) tags++;
  }
  return tags;
}

/** `"ab…`: a string whose first two characters stand for themselves. */
function hasLongName(frame: string, at: number): boolean {
  return frame.charCodeAt(at) === 0x22 && frame.charCodeAt(at + 1) !== 0x5c && frame.charCodeAt(at + 2) !== 0x22;
}

const EVENT_ID = /"id"\s*:\s*"([0-9a-f]{64})"/;

/** The id an unread EVENT message seems to have: good enough to address a refusal. Quotes inside strings are escaped, so only a key can match. */
export function peekEventId(frame: string): EventId | undefined {
  return EVENT_ID.exec(frame)?.[1] as EventId | undefined;
}
