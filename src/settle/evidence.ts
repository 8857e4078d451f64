import type { UnixSeconds } from "../base/time.ts";
import type { ObjectFormat, Oid } from "../git/oid.ts";
import type { RefMap } from "../git/ref-map.ts";
import type { MaintainerSet } from "../grasp/maintainers.ts";
import type { OverlayRecord } from "../grasp/overlay.ts";
import type { PullRequest } from "../grasp/pull-request.ts";
import type { RepoState } from "../grasp/state.ts";
import type { EventId, PublicKey } from "../nostr/event.ts";
import { wins } from "../nostr/replaceable.ts";

/** What orders versions of an event: the newer wins, ties go to the lower id (grasp.md 3.2). */
export interface Dated {
  readonly id: EventId;
  readonly createdAt: UnixSeconds;
}

export interface AnnouncementEvidence extends Dated {
  readonly owner: PublicKey;
  /** Those that wait count as well as served ones (grasp.md 4.7). */
  readonly standing: "served" | "waiting" | "soft-expired";
}

export interface StateEvidence {
  readonly state: RepoState;
  /** `superseded`: its author has a newer one served; it is kept unserved so that a deletion can bring it back (grasp.md 11.3). */
  readonly standing: "served" | "waiting" | "superseded";
}

export interface PullRequestEvidence {
  readonly request: PullRequest;
  readonly standing: "served" | "waiting";
}

/** Whose states count for one owner's repository, and which announcements that rests on (grasp.md 4.5, 4.7). */
export type MaintainerView = Pick<MaintainerSet, "confirmed" | "restsOn">;

/** Is an object here with its whole closure (§1: *present*), and is it a commit? */
export type ObjectLookup = (oid: Oid) => "absent" | "commit" | "other";

export interface RepositoryEvidence {
  readonly owner: PublicKey;
  /** `waiting`: nothing of it was ever aligned, or it is held after a deletion; its announcement may be served without it (grasp.md 4.7). */
  readonly standing: "served" | "waiting";
  readonly refs: RefMap;
  /** `undefined`: not decided yet, since no state was satisfied here (grasp.md 6.4). */
  readonly format: ObjectFormat | undefined;
  readonly objects: ObjectLookup;
  readonly maintainers: MaintainerView;
  /** The state this repository was last aligned to. */
  readonly aligned: Dated | undefined;
}

/** Everything a settlement looks at: one project, or several; all of one identifier. The order of the lists means nothing. */
export interface Evidence {
  readonly identifier: string;
  readonly announcements: readonly AnnouncementEvidence[];
  /** Of confirmed keys, and every state that a repository is aligned to, whoever signed it, as long as it was not deleted. */
  readonly states: readonly StateEvidence[];
  readonly pullRequests: readonly PullRequestEvidence[];
  /** What authorised partial pushes have moved already (grasp.md 6.7). */
  readonly overlay: readonly OverlayRecord[];
  readonly repositories: readonly RepositoryEvidence[];
}

export const isNewer = (a: Dated, b: Dated): boolean => wins({ id: a.id, created_at: a.createdAt }, { id: b.id, created_at: b.createdAt });

/** For sorting: newest first, ties by lower id. */
export const newestFirst = (a: Dated, b: Dated): number => (a.id === b.id ? 0 : isNewer(a, b) ? -1 : 1);

/** The newest announcement of each owner, which is the one that counts (grasp.md 4.7). */
export function newestAnnouncements(evidence: Evidence): ReadonlyMap<PublicKey, AnnouncementEvidence> {
  const newest = new Map<PublicKey, AnnouncementEvidence>();
  for (const announcement of evidence.announcements) {
    const other = newest.get(announcement.owner);
    if (other === undefined || isNewer(announcement, other)) newest.set(announcement.owner, announcement);
  }
  return newest;
}

/** The objects a settlement will ask about: whoever gathers evidence looks them up beforehand, in one go. */
export function declaredOids(evidence: Pick<Evidence, "states" | "pullRequests">): ReadonlySet<Oid> {
  const oids = new Set<Oid>();
  for (const { state } of evidence.states) for (const oid of state.refs.values()) oids.add(oid);
  for (const { request } of evidence.pullRequests) if (request.tip !== undefined) oids.add(request.tip);
  return oids;
}
