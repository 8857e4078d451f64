import { type Instant, plus } from "../base/time.ts";
import type { OverlayRecord } from "../grasp/overlay.ts";
import { repoCoordinate } from "../grasp/repo-id.ts";
import type { PublicKey } from "../nostr/event.ts";
import type { Batch, Change } from "../store/batch.ts";
import type { Settlement } from "./settlement.ts";

const DAY_MS = 86_400_000;
/** grasp.md 11.3, 11.4: long enough for somebody to notice a deletion and think better of it. */
export const KEPT_MS = 90 * DAY_MS;
/** grasp.md 11.3: more of one author's states are a history that git keeps better. */
const SUPERSEDED_MAX = 10;

/** The database half of a settlement, once the plans were tried: what rests on a repository that could not be aligned does not happen (grasp.md 6.6). */
export function settlementBatch(settlement: Settlement, isAligned: (owner: PublicKey) => boolean, now: Instant): Batch {
  const promoted = settlement.promotions.filter(({ needs }) => needs.some(isAligned));
  const isPromoted = new Set(promoted.map(({ id }) => id));
  const failed = new Set(settlement.promotions.map(({ id }) => id).filter((id) => !isPromoted.has(id)));
  const kept = { at: now, until: plus(now, KEPT_MS), supersededMax: SUPERSEDED_MAX };
  const batch: Change[] = [];
  for (const { id, by, kind } of settlement.superseded) {
    if (failed.has(by)) continue;
    batch.push(kind === "state" ? { kind: "withdraw", id, what: kind, stage: "superseded", ...kept } : { kind: "remove", id });
  }
  for (const { id, by } of settlement.dropped) if (!failed.has(by)) batch.push({ kind: "remove", id });
  for (const { id, owner } of settlement.withdrawn) {
    if (isAligned(owner)) batch.push({ kind: "withdraw", id, what: "announcement", stage: "waiting", ...kept });
  }
  for (const { id } of promoted) batch.push({ kind: "promote", id });
  const gone = settlement.goneRecords.filter(({ repo }) => isAligned(repo.owner));
  for (const { repo, state } of onePerState(gone)) batch.push({ kind: "overlay-drop", state, repository: repoCoordinate(repo) });
  return batch;
}

/** The records of one state in one repository go together. */
const onePerState = (records: readonly OverlayRecord[]): Iterable<OverlayRecord> =>
  new Map(records.map((record) => [`${record.repo.owner} ${record.state}`, record])).values();
