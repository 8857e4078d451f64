import type { Brand } from "../base/brand.ts";
import type { UnixSeconds } from "../base/time.ts";
import type { Oid } from "../git/oid.ts";
import type { EventId, PublicKey } from "../nostr/event.ts";

/** The name of an identifier and one confirmed maintainer set (grasp.md §1); whoever computes sets gives it, nobody looks into it. */
export type ProjectKey = Brand<string, "ProjectKey">;

interface Common {
  readonly id: EventId;
  readonly author: PublicKey;
  readonly createdAt: UnixSeconds;
  /** What is settled and hunted together with it. More than one where a state counts for several sets, or a PR names several repositories. */
  readonly projects: readonly ProjectKey[];
}

export interface WaitingAnnouncement extends Common {
  readonly what: "announcement";
  /** Its coordinate: owner and identifier. */
  readonly repository: string;
}

export interface WaitingState extends Common {
  readonly what: "state";
  /** Its author is listed and not confirmed: held longer, never hunted (grasp.md 4.5). */
  readonly invited: boolean;
  /** It has overlay records: it does not expire by time (grasp.md 6.7). */
  readonly overlaid: boolean;
}

export interface WaitingPullRequest extends Common {
  readonly what: "pull-request";
  /** Coordinates of the repositories here that it names. */
  readonly repositories: readonly string[];
}

/** An event that was accepted and waits for git data (grasp.md 6.1). */
export type Waiting = WaitingAnnouncement | WaitingState | WaitingPullRequest;

/** Git data at `refs/nostr/<id>` whose event has not come (grasp.md 7.9). */
export interface WaitingTip {
  readonly repository: string;
  readonly id: EventId;
  readonly tip: Oid;
}

export const tipKey = ({ repository, id, tip }: WaitingTip): string => `${id} ${tip} ${repository}`;

/** grasp.md 4.5: what only invited keys want is not looked for; an announcement has no objects of its own. */
export const isHunted = (waiting: Waiting): boolean => waiting.what === "pull-request" || (waiting.what === "state" && !waiting.invited);
