import type { Wake } from "../base/machine.ts";
import type { Instant } from "../base/time.ts";
import type { EventId } from "../nostr/event.ts";
import type { HeldStage } from "../store/held.ts";
import type { ProjectKey, Waiting, WaitingAnnouncement, WaitingTip } from "./waiting.ts";

/** One event that waits, and until when. */
export interface Entry<W extends Waiting = Waiting> {
  readonly waiting: W;
  /** When it, or the announcement that it replaced, came first. */
  readonly heldAt: Instant;
  readonly until: Instant;
  /** A fetch for it ended a moment ago: what it brought is settled first. */
  readonly settleUntil: Instant | undefined;
}

export interface Fetch {
  readonly projects: readonly ProjectKey[];
  /** After this its end must have been lost. */
  readonly lostAt: Instant;
}

/** Since the last start: which projects had a hunting round, and when the others are no longer waited for (grasp.md 6.2). */
export interface FirstRounds {
  readonly until: Instant;
  readonly hunted: ReadonlySet<ProjectKey>;
}

/** All that waits. An event stands in one of the first three at most. */
export interface Ledger {
  readonly waiting: ReadonlyMap<EventId, Entry>;
  readonly soft: ReadonlyMap<EventId, Entry<WaitingAnnouncement>>;
  /** Expired states and PRs, the longest remembered first, and when each is forgotten. */
  readonly remembered: ReadonlyMap<EventId, Instant>;
  readonly tips: ReadonlyMap<string, { readonly tip: WaitingTip; readonly until: Instant }>;
  readonly fetches: ReadonlyMap<string, Fetch>;
  readonly firstRounds: FirstRounds | undefined;
}

export const EMPTY_LEDGER: Ledger = {
  waiting: new Map(),
  soft: new Map(),
  remembered: new Map(),
  tips: new Map(),
  fetches: new Map(),
  firstRounds: undefined,
};

/** How a waiting event stands after a settlement looked at it. */
export interface Standing {
  readonly id: EventId;
  readonly projects: readonly ProjectKey[];
  /** Of states only. */
  readonly invited: boolean;
  readonly overlaid: boolean;
}

export type Input =
  /** It was committed as held: for the first time, again, or in place of an older announcement. */
  | { readonly kind: "held"; readonly waiting: Waiting }
  /** An authorised state or push for these repositories (coordinates) arrived (grasp.md 6.2). */
  | { readonly kind: "sign-of-life"; readonly repositories: readonly string[] }
  /** A fetch or a push for these projects is being received. Said again, it counts from then. */
  | { readonly kind: "fetch-began"; readonly fetch: string; readonly projects: readonly ProjectKey[] }
  | { readonly kind: "fetch-ended"; readonly fetch: string }
  /** The hunt has asked every source of this project once. */
  | { readonly kind: "round-ended"; readonly project: ProjectKey }
  /** A settlement was committed: these are no longer held, and the others it looked at stand so. */
  | {
      readonly kind: "settled";
      readonly promoted: readonly EventId[];
      readonly dropped: readonly EventId[];
      readonly standing: readonly Standing[];
    }
  /** Deleted, vanished, expired by NIP-40 or de-listed: no longer held. */
  | { readonly kind: "deleted"; readonly ids: readonly EventId[] }
  | { readonly kind: "staged"; readonly tip: WaitingTip }
  /** Its event came and picked, or the operator removed it. */
  | { readonly kind: "unstaged"; readonly tip: WaitingTip }
  /** The server runs again after so long; the ledger is what was read back from the store. */
  | { readonly kind: "started"; readonly downMs: number };

export type LedgerInput = Input | Wake;

export type Effect =
  /** No longer waits; event and id are kept together until then (grasp.md 6.3). */
  | { readonly kind: "expire"; readonly id: EventId; readonly until: Instant }
  /** Its empty repository goes, the event stays until then (grasp.md 6.2). */
  | { readonly kind: "soft-expire"; readonly id: EventId; readonly repository: string; readonly until: Instant }
  | { readonly kind: "revive"; readonly id: EventId; readonly repository: string; readonly until: Instant }
  | { readonly kind: "extend"; readonly id: EventId; readonly until: Instant }
  /** Drop it from the store if it is still in that stage: its last day is over, or a newer announcement took its place. */
  | { readonly kind: "forget"; readonly id: EventId; readonly from: HeldStage }
  /** Drop it from the store: there was no room for it. */
  | { readonly kind: "refuse"; readonly id: EventId; readonly why: Refusal }
  /** Remove this tip, ref and objects. */
  | { readonly kind: "unstage"; readonly tip: WaitingTip }
  /** Move the stored deadlines of purgatory and staging, together with the mark that we are alive. */
  | { readonly kind: "shift"; readonly byMs: number }
  /** The hunt has, or may have, something to do for this project. */
  | { readonly kind: "need"; readonly project: ProjectKey; readonly why: "held" | "started" | "expired" };

export type Refusal = "older" | "states" | "invited" | "author" | "repository" | "full";
