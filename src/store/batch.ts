import type { Instant, UnixSeconds } from "../base/time.ts";
import type { Oid } from "../git/oid.ts";
import type { EventId, PublicKey, VerifiedEvent } from "../nostr/event.ts";
import type { Address } from "../nostr/replaceable.ts";
import type { HeldStage, HeldWhat, OverlayRecord, RefIntent, StagedTip } from "./held.ts";
import type { Provenance } from "./provenance.ts";

/** What a gate refuses, for as long as the request that made it is remembered (grasp.md 11.1, 11.2). */
export type GateTarget =
  | { readonly kind: "event"; readonly id: EventId }
  | { readonly kind: "address"; readonly address: Address; readonly until: UnixSeconds }
  | { readonly kind: "key"; readonly until: UnixSeconds };

/** One thing a commit does. A batch is a list of these and takes effect whole or not at all. */
export type Change =
  /**
   * Serve this event from now on. `text` is what subscribers are sent. What holds its address is removed before it, in the same batch. What is held is
   * promoted, never put.
   */
  | {
      readonly kind: "put";
      readonly event: VerifiedEvent;
      readonly text: string;
      readonly expiresAt: UnixSeconds | undefined;
      readonly provenance: Provenance;
    }
  /** Stop serving or holding this event and drop it: replaced, deleted, expired or forgotten. Removing what is not there does nothing. */
  | { readonly kind: "remove"; readonly id: EventId }
  /** Remember a deletion or vanish request: its targets by this author are refused from now on. One that is remembered already stays as it was. */
  | {
      readonly kind: "gate";
      readonly request: EventId;
      readonly author: PublicKey;
      readonly targets: readonly GateTarget[];
      readonly seenAt: Instant;
      /** It removed something when it came, so it is kept longer. */
      readonly used: boolean;
    }
  /** This remembered request refused something. Written at most once a day per request. */
  | { readonly kind: "gate-used"; readonly request: EventId; readonly at: Instant }
  /** Forget a request and with it its targets. The request itself is not removed by this. */
  | { readonly kind: "gate-forget"; readonly request: EventId }
  | HoldingChange;

/** Changes to what is kept and not served (grasp.md 6.1). However an event stops waiting, its overlay records go with that (6.7). */
export type HoldingChange =
  /** Keep this event without serving it. One that expired, soft-expired or was superseded waits again; one that waits or is served stays as it is. */
  | {
      readonly kind: "hold";
      readonly event: VerifiedEvent;
      readonly text: string;
      readonly what: HeldWhat;
      /** Coordinates of the repositories that a PR waits for. */
      readonly repositories: readonly string[];
      readonly heldAt: Instant;
      readonly until: Instant | undefined;
      readonly expiresAt: UnixSeconds | undefined;
      readonly provenance: Provenance;
    }
  /** Serve what is held, in whatever stage. What holds its address is removed or withdrawn before it, in the same batch. */
  | { readonly kind: "promote"; readonly id: EventId }
  /** Extend, soft-expire, revive or expire what is held, if it is still in the stage `from`: it may have been promoted, or held again, meanwhile. */
  | {
      readonly kind: "restage";
      readonly id: EventId;
      readonly from: HeldStage;
      readonly stage: HeldStage;
      readonly until: Instant | undefined;
    }
  /** Drop what is held, if it is still in the stage `from`. What waits and expires never touches what is served (grasp.md 5.4): that takes a remove. */
  | { readonly kind: "release"; readonly id: EventId; readonly from: HeldStage }
  /**
   * Stop serving this event and hold it instead: a superseded state, or the announcement of a repository that has no state left (grasp.md 11.3). Of
   * superseded states by one author with one identifier the newest `supersededMax` stay. What is held already changes its stage.
   */
  | {
      readonly kind: "withdraw";
      readonly id: EventId;
      readonly what: "announcement" | "state";
      readonly stage: HeldStage;
      readonly at: Instant;
      readonly until: Instant | undefined;
      readonly supersededMax: number;
    }
  /** A later record for the same repository, ref and state takes the place of an earlier one. */
  | ({ readonly kind: "overlay" } & OverlayRecord)
  /** Drop the records of this state: all, or those of one repository. */
  | { readonly kind: "overlay-drop"; readonly state: EventId; readonly repository: string | undefined }
  /** One at a time per repository; a later one takes its place. */
  | ({ readonly kind: "intend" } & RefIntent)
  | { readonly kind: "intent-done"; readonly repository: string }
  /** Its deadline is on disk before its objects are (grasp.md 7.9). */
  | ({ readonly kind: "stage-tip" } & StagedTip)
  | { readonly kind: "unstage-tip"; readonly repository: string; readonly id: EventId; readonly tip: Oid }
  /** The server is running. `shiftMs`, not 0 only at a start, moves every deadline in purgatory and staging by the time we were down (grasp.md 6.2). */
  | { readonly kind: "alive"; readonly at: Instant; readonly shiftMs: number };

export type Batch = readonly Change[];
