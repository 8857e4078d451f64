import type { NostrEvent } from "./event.ts";
import { GENERIC_REPOST, REPOST } from "./kinds.ts";
import { hasTag } from "./tags.ts";

/** NIP-70: only its author may publish it. */
export const isProtected = (event: Pick<NostrEvent, "tags">): boolean => hasTag(event, "-");

/** More than any event that we take (grasp.md 3.3: 192 KiB), so a repost beyond it is not read but refused. */
const EMBEDDED_CHARS_MAX = 1_048_576;

/** NIP-70: a repost must not carry a protected event along in its content. */
export function embedsProtected(event: Pick<NostrEvent, "kind" | "content">): boolean {
  if (event.kind !== REPOST && event.kind !== GENERIC_REPOST) return false;
  if (event.content === "") return false;
  if (event.content.length > EMBEDDED_CHARS_MAX) return true;
  let embedded: unknown;
  try {
    embedded = JSON.parse(event.content);
  } catch {
    return false;
  }
  if (typeof embedded !== "object" || embedded === null) return false;
  const { tags } = embedded as Record<string, unknown>;
  return Array.isArray(tags) && tags.some((tag) => Array.isArray(tag) && tag[0] === "-");
}
