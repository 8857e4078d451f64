import type { ObjectFormat, Oid } from "../git/oid.ts";
import type { RefName } from "../git/ref-name.ts";
import type { RefUpdate } from "../git/ref-update.ts";
import type { Identifier } from "../grasp/identifier.ts";
import type { OverlayRecord } from "../grasp/overlay.ts";
import type { RepoId } from "../grasp/repo-id.ts";
import type { EventId } from "../nostr/event.ts";
import type { PushFacts } from "../policy/push-facts.ts";

/** A tip whose event nobody has seen yet (grasp.md 7.9). */
export interface UnsignedTip {
  readonly event: EventId;
  readonly tip: Oid;
}

export interface PushedTip {
  readonly ref: RefName;
  readonly oid: Oid;
}

export type TipProblem =
  | { readonly kind: "missing"; readonly tip: PushedTip }
  | { readonly kind: "not-a-commit"; readonly tip: PushedTip; readonly type: string };

export type PackOutcome =
  /** Nothing came, or a pack without objects: everything that was pushed is here already. */
  | { readonly kind: "no-pack" }
  | { readonly kind: "pack"; readonly objects: number; readonly bytes: number }
  /** `detail` is a sentence for people. */
  | { readonly kind: "refused"; readonly detail: string };

export interface PackOptions {
  readonly signal: AbortSignal;
  readonly address: string | undefined;
  /** grasp.md 7.16. */
  readonly packBytesMax: number;
  readonly objectsMax: number;
  readonly silenceMs: number;
}

/** Objects on their way in, apart from everything that is served (grasp.md 7.10). Disposing removes what was neither migrated nor staged. */
export interface Arrival extends AsyncDisposable {
  /** Takes the pack and checks it; outside the lane. Throws when the client or the machine failed; git has then ended. */
  receive(source: AsyncIterable<Uint8Array>, options: PackOptions): Promise<PackOutcome>;
  /** What is wrong with these: each must be here or have arrived, and branches and pull requests are commits. */
  problems(tips: readonly PushedTip[]): Promise<readonly TipProblem[]>;
  /** In the lane. True at once when no reclaim ran since the pack was checked (the pool's epoch, grasp.md 7.10). */
  isStillConnected(tips: readonly Oid[]): Promise<boolean>;
  /** In the lane: to where objects stay, on disk when it resolves. When unsigned tips came along, only what these reach is copied out (7.9). */
  migrate(tips: readonly Oid[]): Promise<void>;
  /** In the lane: keeps one of the unsigned tips that the arrival was opened for, or says why there is no room for it. */
  stage(tip: UnsignedTip): Promise<string | undefined>;
}

export interface ArrivalRequest {
  readonly format: ObjectFormat;
  readonly address: string | undefined;
  /** When there are any, objects go to staging, and the deadline of each is on disk before its objects (grasp.md 7.9). */
  readonly unsigned: readonly UnsignedTip[];
}

/** One transaction: all or nothing. */
export type RefOutcome =
  | { readonly kind: "applied" }
  | { readonly kind: "moved"; readonly ref: RefName; readonly actual: Oid | undefined }
  | { readonly kind: "clash"; readonly refs: readonly [RefName, RefName] };

/** Everything a push needs of the rest of the server. */
export interface PushHost {
  /** What a verdict looks at, now; `undefined`: there is no such repository. In the lane it tells the refs as they are under the lock. */
  facts(repo: RepoId, updates: readonly RefUpdate[], address: string | undefined): Promise<PushFacts | undefined>;
  /** grasp.md 7.16: false when less is free than what is kept back. Asked often. */
  hasDiskReserve(): Promise<boolean>;
  open(repo: RepoId, wanted: ArrivalRequest): Promise<Arrival>;
  /** The repository's lane. The signal takes a push out that still waits; work that has begun is finished. */
  inLane<T>(repo: RepoId, work: () => Promise<T>, signal: AbortSignal): Promise<T>;
  /**
   * In the lane: durable when it resolves, before the refs move (grasp.md 6.7). Should they then not move, the records stay: their state declares these values,
   * so the next settlement carries out what the push was allowed to do.
   */
  recordOverlay(records: readonly OverlayRecord[]): Promise<void>;
  /** In the lane: one transaction with expected old values, on disk when it resolves. */
  moveRefs(repo: RepoId, updates: readonly RefUpdate[]): Promise<RefOutcome>;
  /** Outside the lane: resolves when the events that the push released can be queried (grasp.md 7.12). */
  settle(identifier: Identifier): Promise<void>;
}
