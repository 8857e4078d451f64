import type { UnixSeconds } from "../base/time.ts";
import { type EventId, isPublicKey, type NostrEvent, type PublicKey } from "../nostr/event.ts";
import { encodeNpub } from "../nostr/npub.ts";
import { tagLists } from "../nostr/tags.ts";
import { type Identifier, readIdentifier } from "./identifier.ts";
import { isOurRelay, type Place, pathAt } from "./place.ts";
import { type Roles, readRoles } from "./roles.ts";

/** A kind 30617, read (grasp.md 5.1). */
export interface Announcement {
  readonly owner: PublicKey;
  readonly identifier: Identifier;
  readonly clone: readonly string[];
  readonly relays: readonly string[];
  /** The plain tag, whether it counts or not; who is listed is said by `roles`. */
  readonly maintainers: readonly PublicKey[];
  readonly roles: Roles;
  readonly id: EventId;
  readonly createdAt: UnixSeconds;
}

/** The announcement, or a sentence that says what is wrong with it. */
export function readAnnouncement(event: NostrEvent): Announcement | string {
  // One without a value is a tag too, and the address of the event is made of the first: what is read here and what is replaced must be one repository.
  const ds = event.tags.filter(([name]) => name === "d");
  if (ds.length !== 1) return "an announcement has exactly one d tag";
  const identifier = readIdentifier(ds[0]?.[1] ?? "");
  if (identifier === undefined) {
    return "the d tag must be 1 to 100 bytes without slashes, backslashes or control characters, and neither . nor ..";
  }
  return {
    owner: event.pubkey,
    identifier,
    clone: tagLists(event, "clone"),
    relays: tagLists(event, "relays"),
    maintainers: tagLists(event, "maintainers").filter(isPublicKey),
    roles: readRoles(event),
    id: event.id,
    createdAt: event.created_at,
  };
}

/** grasp.md 5.2: some clone URL is our place of this very repository, and some relay URL is ours. */
export function namesUs(announcement: Announcement, places: readonly Place[]): boolean {
  const path = `/${encodeNpub(announcement.owner)}/${announcement.identifier}.git`;
  const cloned = announcement.clone.some((text) => {
    const url = URL.parse(text.trim());
    if (url === null || (url.protocol !== "http:" && url.protocol !== "https:")) return false;
    const found = pathAt(places, url);
    return found !== undefined && decodedPath(found) === path;
  });
  return cloned && announcement.relays.some((relay) => isOurRelay(places, relay));
}

function decodedPath(path: string): string | undefined {
  try {
    return decodeURIComponent(path).replace(/\/$/, "");
  } catch {
    return undefined;
  }
}
