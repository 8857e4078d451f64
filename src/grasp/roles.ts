import { isPublicKey, type NostrEvent, type PublicKey, type Tag } from "../nostr/event.ts";
import { tagLists } from "../nostr/tags.ts";

/** Who an announcement gives authority to, as its author says it (grasp.md 4.2, 4.3). */
export interface Roles {
  /** Keys with an active `M`. */
  readonly leads: ReadonlySet<PublicKey>;
  /** Keys with an active `M` or `m`: who is listed. Moderators (`o`) are not. */
  readonly listed: ReadonlySet<PublicKey>;
  /** The author has not left. What others say of it does not matter here. */
  readonly authorActive: boolean;
}

const isRole = (tag: Tag): boolean => tag[0] === "M" || tag[0] === "m" || tag[0] === "o";

export function readRoles(event: Pick<NostrEvent, "pubkey" | "tags">): Roles {
  const tags = event.tags.filter(isRole);
  // grasp.md 4.2: any role tag, even a malformed one, switches the plain tag off; without any, each of its keys is an active `m`.
  if (tags.length === 0) {
    return { leads: new Set(), listed: new Set(tagLists(event, "maintainers").filter(isPublicKey)), authorActive: true };
  }
  const leads = new Set<PublicKey>();
  const listed = new Set<PublicKey>();
  let authorNamed = false;
  for (const [role, key = "", ...boundaries] of tags) {
    if (!isPublicKey(key)) continue;
    if (key === event.pubkey) authorNamed = true;
    if (role === "o" || !isActive(boundaries)) continue;
    listed.add(key);
    if (role === "M") leads.add(key);
  }
  return { leads, listed, authorActive: !authorNamed || listed.has(event.pubkey) };
}

/** Boundaries start and end a role in turn: it lasts when there are none, or when the last one is a start. `defer` may stand for the last end. */
export function isActive(boundaries: readonly string[]): boolean {
  const isStarted = boundaries.length === 0 || boundaries.length % 2 === 1;
  return isStarted && boundaries.every(isTime);
}

const DIGITS = /^[0-9]{1,20}$/;
const U64_MAX = 0xffff_ffff_ffff_ffffn;

/** An unsigned integer, as wide as other servers read it: what is malformed there must not be active here. */
const isTime = (text: string): boolean => DIGITS.test(text) && BigInt(text) <= U64_MAX;
