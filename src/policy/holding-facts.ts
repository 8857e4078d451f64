import type { Announcement } from "../grasp/announcement.ts";
import { type Announcements, newestByAuthor } from "../grasp/maintainers.ts";
import { ANNOUNCEMENT, PR, PR_UPDATE, STATE } from "../nostr/kinds.ts";

/** grasp.md 6.1: what can wait. */
export const canWait = (kind: number): boolean => kind === ANNOUNCEMENT || kind === STATE || kind === PR || kind === PR_UPDATE;

export interface KnownAnnouncement {
  readonly announcement: Announcement;
  /** Otherwise it waits, or is soft-expired. */
  readonly served: boolean;
}

/** Why there is no room for one more (grasp.md 4.5, 6.1). */
export type Crowd = "states" | "invited" | "author" | "repository" | "full";

/** What a decision on an announcement, a state or a PR wants to know beside the rest, where these wait for git data. */
export interface HoldingFacts {
  /** It came from a client and not by our sync. */
  readonly direct: boolean;
  /** Of this very event, when it is kept and not served. */
  readonly stage: "waiting" | "soft-expired" | "expired" | "superseded" | undefined;
  /** Of an announcement or a state: every announcement with its identifier, served or in purgatory. */
  readonly announcements: readonly KnownAnnouncement[];
  /** Of a PR: coordinates of the repositories here that it names. */
  readonly repositories: readonly string[];
  readonly crowd: Crowd | undefined;
}

/** grasp.md 4.7: those that wait count as well as served ones. */
export const counting = ({ announcements }: Pick<HoldingFacts, "announcements">): Announcements =>
  newestByAuthor(announcements.map(({ announcement }) => announcement));
