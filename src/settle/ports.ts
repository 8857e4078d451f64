import type { Instant } from "../base/time.ts";
import type { ObjectFormat, Oid } from "../git/oid.ts";
import type { RefMap } from "../git/ref-map.ts";
import type { RepoId } from "../grasp/repo-id.ts";
import type { Batch } from "../store/batch.ts";
import type { Dated } from "./evidence.ts";
import type { RefPlan } from "./ref-plan.ts";

/** What is remembered of a repository beside its refs. It cannot be read off them: a state that was deleted leaves refs like any other (grasp.md 11.3). */
export interface SettledRecord {
  /** `served`: it was opened and not closed since. */
  readonly standing: "served" | "waiting";
  /** The state it was last aligned to. */
  readonly aligned: Dated | undefined;
}

export interface HostedRepository extends SettledRecord {
  readonly refs: RefMap;
  /** `undefined`: there is no repository yet, or nothing was ever in it (grasp.md 6.4). */
  readonly format: ObjectFormat | undefined;
}

/** What one repository shall become. */
export interface Alignment {
  readonly plan: RefPlan;
  readonly format: ObjectFormat | undefined;
  /** Written after the refs moved: a crash between is seen, because the plan is then empty and this is not yet true. */
  readonly settled: SettledRecord;
  /** Written before the refs move: kept reachable until then (grasp.md 6.6). */
  readonly retain: readonly Oid[];
  readonly retainUntil: Instant;
  /** Whose pool it joins when it is made now. */
  readonly mates: readonly RepoId[];
}

/** `moved`: a ref, HEAD or a name was not as expected; nothing has changed. */
export type AlignOutcome = { readonly kind: "aligned" } | { readonly kind: "moved"; readonly what: string };

/** The git half of the server, as settling needs it. Everything that it says happened is on disk. */
export interface RepositoryHost {
  read(repo: RepoId): Promise<HostedRepository>;
  /**
   * Which of these objects are present, and whether they are commits. `mates` are the repositories that this one shares objects with (grasp.md 7.13): one that
   * is not made yet has what they have.
   */
  lookUp(repo: RepoId, mates: readonly RepoId[], oids: Iterable<Oid>): Promise<ReadonlyMap<Oid, "commit" | "other">>;
  /** In the repository's lane, as one transaction with expected old values (grasp.md 6.8). */
  align(repo: RepoId, alignment: Alignment): Promise<AlignOutcome>;
  /** Every repository that was ever aligned, for boot. */
  aligned(): AsyncIterable<{ readonly repo: RepoId; readonly state: Dated }>;
}

export interface SettlePorts {
  /** Durable when it resolves. What is no longer held is not promoted by it. */
  commit(batch: Batch): Promise<void>;
  /** `where` is ours; the error is a fault of the world or a bug. */
  fault(where: string, error: unknown): void;
}
