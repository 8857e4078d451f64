import { type Announcement, namesUs } from "../grasp/announcement.ts";
import type { PublicKey } from "../nostr/event.ts";
import { type Reason, reason } from "../nostr/reason.ts";
import { covers } from "./block-policy.ts";
import type { Rules } from "./rules.ts";

/** What an announcement becomes here (grasp.md 5.3). */
export type AnnouncementPlace =
  | { readonly kind: "repository" }
  /** Stored, so that maintainer sets and sync know of it; nothing is hosted for it. */
  | { readonly kind: "without-repository" }
  | { readonly kind: "refused"; readonly reason: Reason };

export interface AnnouncementFacts {
  /** The newest of each author with this identifier, served and waiting. */
  readonly accepted: readonly AcceptedAnnouncement[];
  /** Something of this owner with this identifier was served here. */
  readonly wasServed: boolean;
}

export interface AcceptedAnnouncement {
  readonly announcement: Announcement;
  readonly hasRepository: boolean;
}

/** grasp.md 5.3: who lists ten thousand keys does not thereby store ten thousand announcements here. */
export const LISTED_WITHOUT_REPOSITORY_MAX = 100;

export function placeAnnouncement(announcement: Announcement, facts: AnnouncementFacts, rules: Rules): AnnouncementPlace {
  const { owner, identifier } = announcement;
  const isOurs = namesUs(announcement, rules.places);
  const isAllowed = rules.allowedRepositories?.some((rule) => covers(rule, owner, identifier)) ?? true;
  if (isOurs && isAllowed) return { kind: "repository" };
  if (facts.wasServed) return { kind: "without-repository" };
  const listers = facts.accepted.filter(({ announcement: other }) => other.owner !== owner && other.roles.listed.has(owner));
  if (listers.length > 0) return roomBelow(listers, owner, facts) ? { kind: "without-repository" } : refused(FULL);
  return refused(isOurs ? NOT_ALLOWED : NOT_OURS);
}

/** A replacement of what is stored takes no room, and one owner with room is enough. */
function roomBelow(listers: readonly AcceptedAnnouncement[], owner: PublicKey, { accepted }: AnnouncementFacts): boolean {
  const stored = new Set(accepted.filter(({ hasRepository }) => !hasRepository).map(({ announcement }) => announcement.owner));
  if (stored.has(owner)) return true;
  return listers.some(({ announcement }) => {
    let count = 0;
    for (const key of announcement.roles.listed) if (key !== announcement.owner && stored.has(key)) count += 1;
    return count < LISTED_WITHOUT_REPOSITORY_MAX;
  });
}

const refused = (why: Reason): AnnouncementPlace => ({ kind: "refused", reason: why });

const FULL = reason("restricted", "who lists you as a maintainer has as many here without a repository as this server keeps");
const NOT_ALLOWED = reason("restricted", "this repository is not on the allow list of this server");
const NOT_OURS = reason("invalid", "an announcement must name this server in a clone URL and in a relay URL");
