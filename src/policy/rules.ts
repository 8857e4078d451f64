import type { MaintainerPolicy } from "../grasp/maintainers.ts";
import type { Place } from "../grasp/place.ts";
import type { PublicKey } from "../nostr/event.ts";

/** An entry of the block or allow list of repositories (grasp.md 12.2). */
export type RepositoryRule =
  | { readonly kind: "owner"; readonly owner: PublicKey }
  | { readonly kind: "repository"; readonly owner: PublicKey; readonly identifier: string }
  | { readonly kind: "identifier"; readonly identifier: string };

/** What the operator decided: plain data, so that it can be handed to a worker as it is. */
export interface Rules {
  /** `grasp`: what names an accepted repository or event (grasp.md 3.6). `open`: any valid event. */
  readonly acceptance: "grasp" | "open";
  readonly blockedAuthors: readonly PublicKey[];
  readonly blockedRepositories: readonly RepositoryRule[];
  /** Absent: every repository that names us. */
  readonly allowedRepositories: readonly RepositoryRule[] | undefined;
  /** NIP-13; 0: none asked. */
  readonly minPow: number;
  /** Addresses that count as us (grasp.md 5.2). */
  readonly places: readonly Place[];
  readonly eventBytesMax: number;
  readonly deletionTargetsMax: number;
  /** Requests of one author that never removed or refused anything (grasp.md 11.1). */
  readonly unusedDeletionsMax: number;
  /** Keep what kinds 5 and 62 ask to remove (an archive may, grasp.md 11.4). */
  readonly ignoreDeletions: boolean;
  /** Announcements, states and PRs wait for their git data (grasp.md §6). Off where there is no git: they are then served like anything else. */
  readonly purgatory: boolean;
  /** Whose states count (grasp.md 4.1). */
  readonly maintainerPolicy: MaintainerPolicy;
}
