import { type Instant, plus } from "../base/time.ts";
import type { Oid } from "../git/oid.ts";
import type { EventId } from "../nostr/event.ts";
import type { RepositoryKey } from "./layout.ts";

/** A tip that was pushed to `refs/nostr/<id>` before its event, and what it costs (grasp.md 7.9). */
export interface StagedTip {
  readonly repository: RepositoryKey;
  readonly event: EventId;
  readonly tip: Oid;
  /** What limits per address count by; absent for those that are not limited so. */
  readonly address: string | undefined;
  readonly bytes: number;
  /** Durable before its objects arrive; when it passes, ref and objects are removed. */
  readonly deadline: Instant;
}

export type Upload = Pick<StagedTip, "repository" | "event" | "tip" | "address">;

export interface StagingLimits {
  readonly packBytesMax: number;
  readonly repositoryBytesMax: number;
  readonly addressBytesPerDay: number;
  readonly tipsPerEventMax: number;
  readonly lifetimeMs: number;
}

const MIB = 1024 * 1024;

/** grasp.md 7.16 and 7.9. */
export const STAGING_LIMITS: StagingLimits = {
  packBytesMax: 1024 * MIB,
  /** Nobody has signed for these bytes, so a repository's owner pays for no more of them. */
  repositoryBytesMax: 256 * MIB,
  addressBytesPerDay: 1024 * MIB,
  /** Somebody may upload another's id by mistake or malice; the event's `c` picks. */
  tipsPerEventMax: 4,
  /** Clients push first and publish right after; one that has not within this has gone. */
  lifetimeMs: 20 * 60 * 1000,
};

/** One address must not use up a repository's share, or it would shut out everybody else's pull requests. */
const ADDRESS_PART = 4;

/** However small, a tip costs a directory, a pack and an index: so tips are bounded in number too, at 4,096 a repository. */
const TIP_BYTES_MIN = 64 * 1024;

/** What an upload counts for, on its repository's account, its address's and the day's. */
export const stagingCost = (bytes: number): number => Math.max(bytes, TIP_BYTES_MIN);
const sum = (tips: readonly StagedTip[]): number => tips.reduce((total, tip) => total + stagingCost(tip.bytes), 0);

/** What is held for the repository that is pushed to, deadlines passed or not, and what this address's uploads of today have cost, kept or not. */
export interface StagingFacts {
  readonly held: readonly StagedTip[];
  readonly uploadedToday: number;
}

export type StagingRefusal = "too many tips for this event" | "repository share used up" | "address share used up" | "daily bytes used up";

const isSame = (upload: Upload, tip: StagedTip): boolean => tip.event === upload.event && tip.tip === upload.tip;

/** How many bytes this upload may have, known before its pack is received; or why it may not come at all. */
export function allowance(upload: Upload, facts: StagingFacts, limits: StagingLimits = STAGING_LIMITS): number | StagingRefusal {
  const others = facts.held.filter((tip) => tip.repository === upload.repository && !isSame(upload, tip));
  if (others.filter((tip) => tip.event === upload.event).length >= limits.tipsPerEventMax) return "too many tips for this event";
  const shared = limits.repositoryBytesMax - sum(others);
  if (shared < TIP_BYTES_MIN) return "repository share used up";
  if (upload.address === undefined) return Math.min(limits.packBytesMax, shared);
  const own = Math.floor(limits.repositoryBytesMax / ADDRESS_PART) - sum(others.filter((tip) => tip.address === upload.address));
  if (own < TIP_BYTES_MIN) return "address share used up";
  const today = limits.addressBytesPerDay - facts.uploadedToday;
  if (today < TIP_BYTES_MIN) return "daily bytes used up";
  return Math.min(limits.packBytesMax, shared, own, today);
}

export type StagingVerdict =
  | { readonly kind: "stage"; readonly tip: StagedTip }
  | { readonly kind: "refuse"; readonly why: StagingRefusal };

/**
 * Decided again when the bytes are known, because others may have come meanwhile. The same tip of the same event is staged once: it gets a new deadline,
 * and stays on the account of whoever brought it first.
 */
export function stage(
  upload: Upload & { readonly bytes: number },
  facts: StagingFacts,
  now: Instant,
  limits: StagingLimits = STAGING_LIMITS,
): StagingVerdict {
  const { repository, event, tip, address, bytes } = upload;
  const known = facts.held.find((held) => held.repository === repository && isSame(upload, held));
  const most = allowance(upload, facts, limits);
  if (typeof most === "string") return { kind: "refuse", why: most };
  if (bytes > most) return { kind: "refuse", why: tooMuch(upload, facts, limits, bytes) };
  const deadline = plus(now, limits.lifetimeMs);
  return { kind: "stage", tip: known === undefined ? { repository, event, tip, address, bytes, deadline } : { ...known, deadline } };
}

/** Which of the limits these bytes are beyond. */
function tooMuch(upload: Upload, facts: StagingFacts, limits: StagingLimits, bytes: number): StagingRefusal {
  const others = facts.held.filter((tip) => tip.repository === upload.repository && !isSame(upload, tip));
  if (upload.address === undefined || bytes > limits.repositoryBytesMax - sum(others)) return "repository share used up";
  return bytes > limits.addressBytesPerDay - facts.uploadedToday ? "daily bytes used up" : "address share used up";
}

/** grasp.md 7.9: the event's `c` picks. What else was uploaded for it goes. */
export function claim(
  event: EventId,
  c: Oid | undefined,
  held: readonly StagedTip[],
): { readonly picked: readonly StagedTip[]; readonly dropped: readonly StagedTip[] } {
  const tips = held.filter((tip) => tip.event === event);
  return { picked: tips.filter((tip) => tip.tip === c), dropped: tips.filter((tip) => tip.tip !== c) };
}

export const expiredTips = (held: readonly StagedTip[], now: Instant): readonly StagedTip[] => held.filter((tip) => tip.deadline <= now);

/** When the next tip's time is over. */
export const nextDeadline = (held: readonly StagedTip[]): Instant | undefined =>
  held.reduce<Instant | undefined>((first, { deadline }) => (first === undefined || deadline < first ? deadline : first), undefined);
