import type { Oid } from "../git/oid.ts";
import { isBranch, isTag, type RefName } from "../git/ref-name.ts";
import type { OverlayRecord } from "../grasp/overlay.ts";
import type { RepoState } from "../grasp/state.ts";
import type { EventId } from "../nostr/event.ts";
import { isHere, isIdleHere } from "./authoritative.ts";
import { isNewer, newestFirst, type RepositoryEvidence } from "./evidence.ts";

export interface LiveRecord {
  readonly record: OverlayRecord;
  readonly state: RepoState;
}

/**
 * grasp.md 6.7: a record counts while its state waits, is newer than what is authoritative here, and its author belongs to the set. Time is no reason to go.
 * A state that is served, since another repository has all of it, still waits as far as this one is concerned: pushes of its parts stay here too.
 * `current` holds the states that wait or are served, but for those that stop waiting in this settlement. The answer is newest state first, then by name.
 */
export function liveRecords(
  records: Iterable<OverlayRecord>,
  repository: RepositoryEvidence,
  current: ReadonlyMap<EventId, RepoState>,
  base: RepoState | undefined,
): readonly LiveRecord[] {
  const live: LiveRecord[] = [];
  for (const record of records) {
    const state = current.get(record.state);
    if (record.repo.owner !== repository.owner || state === undefined || !repository.maintainers.confirmed.has(state.author)) continue;
    if (base !== undefined && !isNewer(state, base)) continue;
    // Only what its state declares can have been authorised by it (grasp.md 7.5, 6.10).
    if (isIdleHere(state, repository) || state.refs.get(record.ref) !== record.value || !(isBranch(record.ref) || isTag(record.ref)))
      continue;
    live.push({ record, state });
  }
  return live.toSorted((a, b) => newestFirst(a.state, b.state) || (a.record.ref < b.record.ref ? -1 : 1));
}

/**
 * The branches and tags of `base`, overlaid: per ref the record of the newest waiting state wins. Names that cannot stand beside one that a newer state has
 * moved give way to it, for git keeps only one of them. A value that is not here (a crash before its objects were) moves nothing.
 */
export function overlaid(
  base: ReadonlyMap<RefName, Oid>,
  live: readonly LiveRecord[],
  repository: RepositoryEvidence,
): ReadonlyMap<RefName, Oid> {
  const decided = new Map<RefName, Oid | undefined>();
  for (const { record } of live) {
    const { ref, value } = record;
    if (!decided.has(ref) && (value === undefined || isHere(ref, value, repository))) decided.set(ref, value);
  }
  const beside = new Neighbours();
  for (const [ref, oid] of decided) if (oid !== undefined) beside.place(ref, oid);
  for (const [ref, oid] of base) if (!decided.has(ref)) beside.place(ref, oid);
  return beside.refs;
}

/** Refs that stand together: who comes first stays. */
class Neighbours {
  readonly refs = new Map<RefName, Oid>();
  readonly #directories = new Set<string>();

  place(ref: RefName, oid: Oid): void {
    const above: string[] = [];
    for (let slash = ref.indexOf("/"); slash >= 0; slash = ref.indexOf("/", slash + 1)) above.push(ref.slice(0, slash));
    if (this.#directories.has(ref) || above.some((name) => this.refs.has(name as RefName))) return;
    for (const name of above) this.#directories.add(name);
    this.refs.set(ref, oid);
  }
}
