import { namesUs, readAnnouncement } from "../grasp/announcement.ts";
import type { NostrEvent } from "../nostr/event.ts";
import { REASONS, type Reason, reason } from "../nostr/reason.ts";
import { covers } from "./block-policy.ts";
import type { Facts } from "./facts.ts";
import type { Rules } from "./rules.ts";

/**
 * grasp.md 5.3, as far as it goes without git: names us and is allowed; or is by a key that an accepted announcement lists, or by an owner who is served
 * here (and may say with it that it has moved away, 5.4).
 */
export function judgeAnnouncement(event: NostrEvent, facts: Facts, rules: Rules): Reason | undefined {
  const announcement = readAnnouncement(event);
  if (typeof announcement === "string") return reason("invalid", announcement);
  const { owner, identifier } = announcement;
  const isOurs = namesUs(announcement, rules.places);
  const isAllowed = rules.allowedRepositories?.some((rule) => covers(rule, owner, identifier)) ?? true;
  if (isOurs && isAllowed) return undefined;
  if (facts.incumbent !== undefined || facts.announcements.some((other) => lists(other, event))) return undefined;
  return isOurs
    ? reason("restricted", "this repository is not on the allow list of this server")
    : reason("invalid", "an announcement must name this server in a clone URL and in a relay URL");
}

/** grasp.md 6.4, as far as it goes without git: an announcement with this identifier exists, and the author owns it or is listed in it. */
export function judgeState(event: NostrEvent, facts: Facts): Reason | undefined {
  if (facts.announcements.length === 0) return REASONS.noAnnouncement;
  const authorised = facts.announcements.some((other) => other.pubkey === event.pubkey || lists(other, event));
  return authorised ? undefined : REASONS.notAuthorized;
}

function lists(other: NostrEvent, event: NostrEvent): boolean {
  const announcement = readAnnouncement(other);
  return typeof announcement !== "string" && announcement.maintainers.includes(event.pubkey);
}
