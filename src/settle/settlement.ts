import type { ObjectFormat, Oid } from "../git/oid.ts";
import type { OverlayRecord } from "../grasp/overlay.ts";
import type { EventId, PublicKey } from "../nostr/event.ts";
import type { Dated } from "./evidence.ts";
import { isEmptyPlan, type RefPlan } from "./ref-plan.ts";

/** What one owner's repository shall become. */
export interface RepositorySettlement {
  readonly owner: PublicKey;
  readonly plan: RefPlan;
  readonly format: ObjectFormat | undefined;
  /** What it is aligned to once the plan is carried out: to be remembered with it. */
  readonly aligned: Dated | undefined;
  readonly isRealigned: boolean;
  /** `opens`: served from now on. `closes`: the last state was deleted, so it is held with its git data and no longer served (grasp.md 11.3). */
  readonly turn: "opens" | "closes" | undefined;
  /** What refs had before, where they go back to something older: to be kept reachable for 90 days before they move (grasp.md 6.6). */
  readonly retain: readonly Oid[];
}

/** From waiting (or kept) to served. */
export interface Promotion {
  readonly kind: "announcement" | "state" | "pull-request";
  readonly id: EventId;
  /** One of these repositories must really be aligned before; one without anything to do counts as aligned (grasp.md 6.6). */
  readonly needs: readonly PublicKey[];
}

/** What gives way to another event: to be done only with it, if that one is still to be promoted. */
export interface Displaced {
  readonly kind: "announcement" | "state";
  readonly id: EventId;
  readonly by: EventId;
}

/** An announcement that waits again once its repository is closed (grasp.md 11.3). */
export interface Withdrawal {
  readonly id: EventId;
  readonly owner: PublicKey;
}

export interface Settlement {
  readonly repositories: readonly RepositorySettlement[];
  readonly promotions: readonly Promotion[];
  /** No longer served or waiting; states among them are kept for 11.3. */
  readonly superseded: readonly Displaced[];
  /** Waiting states that can no longer be completed. */
  readonly dropped: readonly Displaced[];
  readonly withdrawn: readonly Withdrawal[];
  /** Overlay records that go, each once its repository is aligned. */
  readonly goneRecords: readonly OverlayRecord[];
  /** Unserved events that a ref rests on: time alone must not take them, or refs would move back (grasp.md 4.7, 6.7). */
  readonly keep: readonly EventId[];
}

/** Is everything in order already? `keep` asks for nothing to be done. */
export function isSettled(settlement: Settlement): boolean {
  const { repositories, promotions, superseded, dropped, withdrawn, goneRecords } = settlement;
  const isStill = ({ plan, turn, isRealigned }: RepositorySettlement) => isEmptyPlan(plan) && turn === undefined && !isRealigned;
  return repositories.every(isStill) && [promotions, superseded, dropped, withdrawn, goneRecords].every((list) => list.length === 0);
}
