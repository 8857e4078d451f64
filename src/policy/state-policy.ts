import type { Announcements, MaintainerPolicy } from "../grasp/maintainers.ts";
import { standingOf } from "../grasp/standing.ts";
import type { PublicKey } from "../nostr/event.ts";
import { REASONS, type Reason } from "../nostr/reason.ts";

/** What becomes of a state for its author's sake (grasp.md 6.4). It is always held first (6.5). */
export type StateVerdict =
  /** It may be hunted for, and authorises pushes. */
  | { readonly kind: "confirmed" }
  /** Held 7 days, never hunted, and authorises nothing until its author is confirmed (4.5). */
  | { readonly kind: "invited" }
  | { readonly kind: "refused"; readonly reason: Reason };

/** The announcements are those with the state's identifier, served and waiting (4.7). */
export function judgeStateAuthor(author: PublicKey, announcements: Announcements, policy: MaintainerPolicy): StateVerdict {
  if (announcements.size === 0) return { kind: "refused", reason: REASONS.noAnnouncement };
  const standing = standingOf(announcements, author, policy);
  return standing === "stranger" ? { kind: "refused", reason: REASONS.notAuthorized } : { kind: standing };
}
