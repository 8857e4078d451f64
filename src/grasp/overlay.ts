import type { UnixSeconds } from "../base/time.ts";
import type { Oid } from "../git/oid.ts";
import type { RefName } from "../git/ref-name.ts";
import type { EventId } from "../nostr/event.ts";
import { wins } from "../nostr/replaceable.ts";
import type { RepoId } from "./repo-id.ts";

/** What an authorised partial push has already moved to what a newer waiting state declares (grasp.md 6.7). Durable. */
export interface OverlayRecord {
  /** The repository that was pushed to. */
  readonly repo: RepoId;
  readonly ref: RefName;
  /** `undefined`: the push deleted it. */
  readonly value: Oid | undefined;
  readonly state: EventId;
  /** Kept beside the id, so that records can be ordered without their states. */
  readonly stateCreatedAt: UnixSeconds;
}

/** grasp.md 6.7: per ref the record of the newest waiting state wins, ties go to the lower id. */
export function newestPerRef(records: Iterable<OverlayRecord>): ReadonlyMap<RefName, OverlayRecord> {
  const newest = new Map<RefName, OverlayRecord>();
  for (const record of records) {
    const other = newest.get(record.ref);
    if (other === undefined || isOfNewerState(record, { id: other.state, createdAt: other.stateCreatedAt })) newest.set(record.ref, record);
  }
  return newest;
}

export const isOfNewerState = (record: OverlayRecord, state: { readonly id: EventId; readonly createdAt: UnixSeconds }): boolean =>
  wins({ id: record.state, created_at: record.stateCreatedAt }, { id: state.id, created_at: state.createdAt });
