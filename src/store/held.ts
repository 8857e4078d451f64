import type { Instant, UnixSeconds } from "../base/time.ts";
import type { Oid } from "../git/oid.ts";
import type { RefName } from "../git/ref-name.ts";
import type { EventId, PublicKey, VerifiedEvent } from "../nostr/event.ts";
import type { Address, Version } from "../nostr/replaceable.ts";
import type { Awaitable } from "./awaitable.ts";
import type { Provenance } from "./provenance.ts";

/** What can be held: all of them wait for git data (grasp.md 6.1). */
export type HeldWhat = "announcement" | "state" | "pull-request";

/**
 * - `waiting`: in purgatory.
 * - `soft-expired`: an announcement whose time is over and that still counts for a day (grasp.md 6.2).
 * - `expired`: a state or PR whose time is over, kept so that it is not fetched again meanwhile, and can be held again (6.3).
 * - `superseded`: a state that a newer one replaced, kept in case the newer one is deleted (11.3).
 */
export type HeldStage = "waiting" | "soft-expired" | "expired" | "superseded";

/** In the feed an event is *held* while it is in one of these; leaving them is a *removal*. */
export const isLive = (stage: HeldStage): boolean => stage === "waiting" || stage === "soft-expired";

/** An event that is kept and not served. */
export interface HeldEvent {
  readonly event: VerifiedEvent;
  readonly text: string;
  readonly what: HeldWhat;
  readonly stage: HeldStage;
  /** Coordinates of the repositories that a PR waits for; of others, none. */
  readonly repositories: readonly string[];
  /** What "in all" is counted from (grasp.md 6.2); a replacement takes it over. */
  readonly heldAt: Instant;
  /** When its stage ends; absent: not by time. */
  readonly until: Instant | undefined;
  /** NIP-40. */
  readonly expiresAt: UnixSeconds | undefined;
  readonly provenance: Provenance;
}

/** grasp.md 6.7: an authorised push of a part of this waiting state moved this ref ahead of the authoritative one. */
export interface OverlayRecord {
  /** The coordinate of the repository that was pushed to. */
  readonly repository: string;
  readonly ref: RefName;
  /** `undefined`: the push deleted it. */
  readonly value: Oid | undefined;
  readonly state: EventId;
}

/** grasp.md 6.8: what a repository's refs are about to become in more than one transaction. `plan` is its writer's own JSON. */
export interface RefIntent {
  readonly repository: string;
  readonly plan: string;
}

/** grasp.md 7.9: a tip that was pushed before its event, in staging until then. */
export interface StagedTip {
  readonly repository: string;
  readonly id: EventId;
  readonly tip: Oid;
  readonly until: Instant;
  /** The address it came from, whose share it counts against. */
  readonly uploader: string;
}

/** What is kept and not served, for those who decide about it; nobody outside is ever shown any of it (grasp.md 3.5). Lists are newest first. */
export interface HeldReader {
  waits(id: EventId): Awaitable<HeldStage | undefined>;
  heldEvent(id: EventId): Awaitable<HeldEvent | undefined>;
  /** Announcements and states of this author with this identifier, in every stage. */
  heldFor(author: PublicKey, identifier: string): Awaitable<readonly HeldEvent[]>;
  /** Waiting and soft-expired announcements, or waiting states, with this identifier, whoever wrote them; at most `max`. */
  heldByIdentifier(what: "announcement" | "state", identifier: string, max: number): Awaitable<readonly HeldEvent[]>;
  /** Waiting and superseded states by these authors: what a settlement may choose from beside the served ones. Strangers' states cost it nothing. */
  statesOf(identifier: string, authors: readonly PublicKey[]): Awaitable<readonly HeldEvent[]>;
  /** Waiting PRs that wait for one of these repositories (coordinates). */
  pullRequestsFor(repositories: readonly string[]): Awaitable<readonly HeldEvent[]>;
  /** How many of this kind by this author wait. */
  waitingBy(author: PublicKey, what: HeldWhat): Awaitable<number>;
  /** Those of `ids` that are remembered as expired. */
  expiredIds(ids: readonly EventId[]): Awaitable<readonly EventId[]>;
  /** What a deletion request of this author names, in every stage: these ids, and versions at these addresses up to that time (grasp.md 11.1). */
  ownHeld(author: PublicKey, ids: readonly EventId[], addresses: readonly Address[], until: UnixSeconds): Awaitable<readonly Version[]>;
  /** Everything that is held, by ascending id, those after `after`. */
  heldPage(after: EventId | undefined, max: number): Awaitable<readonly HeldEvent[]>;
  /** Expired and superseded events whose `until` has come, oldest first, at most `max`: to be removed (grasp.md 6.3, 11.3). */
  outlived(now: Instant, max: number): Awaitable<readonly EventId[]>;
  /** Of one repository, by ref, then by state. */
  overlays(repository: string): Awaitable<readonly OverlayRecord[]>;
  /** Has an authorised push moved refs to what this state declares? Then it does not expire (grasp.md 6.7). */
  hasOverlay(state: EventId): Awaitable<boolean>;
  intents(): Awaitable<readonly RefIntent[]>;
  /** By deadline. */
  tips(): Awaitable<readonly StagedTip[]>;
  tipsOf(id: EventId): Awaitable<readonly StagedTip[]>;
  /** When this server last said that it is running: what lies between that and a start does not count (grasp.md 6.2). */
  aliveAt(): Awaitable<Instant | undefined>;
}
