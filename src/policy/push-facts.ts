import type { ObjectFormat, Oid } from "../git/oid.ts";
import type { RefMap } from "../git/ref-map.ts";
import type { OverlayRecord } from "../grasp/overlay.ts";
import type { PullRequest } from "../grasp/pull-request.ts";
import type { RepoId } from "../grasp/repo-id.ts";
import type { RepoState } from "../grasp/state.ts";
import type { EventId, PublicKey } from "../nostr/event.ts";

/** Everything a verdict on a push looks at. It is taken before the pack is read, and again under the repository's lock (grasp.md 7.10). */
export interface PushFacts {
  readonly repo: RepoId;
  /** The repository's maintainer set (4.5). Whose states are handed in does not matter: only theirs count. */
  readonly confirmed: ReadonlySet<PublicKey>;
  readonly present: RefMap;
  /** `undefined`: no state was satisfied here yet (6.4). */
  readonly format: ObjectFormat | undefined;
  /** Served and waiting ones, of any author. */
  readonly states: readonly RepoState[];
  /** The state this repository is aligned to. */
  readonly servedState: RepoState | undefined;
  readonly overlay: readonly OverlayRecord[];
  /** Those among the ids that the push names which are known here, served or waiting. */
  readonly pullRequests: ReadonlyMap<EventId, PullRequest>;
  readonly unsigned: UnsignedFacts;
}

/** What waits here without an event (7.9). */
export interface UnsignedFacts {
  /** The tips that are staged for each id. */
  readonly tips: ReadonlyMap<EventId, readonly Oid[]>;
  /** grasp.md 7.9: so that nobody can overwrite another's, and one id cannot gather objects without end. */
  readonly tipsPerIdMax: number;
  /** What the repository's, the address's and the day's share still have room for. */
  readonly bytesLeft: number;
}

export type PushDeed =
  /** Set the ref, or remove it, whatever value it has under the lock. */
  | { readonly kind: "apply" }
  /** The ref is as asked already: answered `ok`, and git hears nothing of it (7.6). */
  | { readonly kind: "already-there" }
  /** Into staging, under this id and tip; no ref is made (7.9). */
  | { readonly kind: "stage"; readonly event: EventId; readonly tip: Oid };
