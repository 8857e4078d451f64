import type { Instant, UnixSeconds } from "../base/time.ts";
import type { EventId, PublicKey, VerifiedEvent } from "../nostr/event.ts";
import type { GateTarget } from "./batch.ts";
import type { FeedChange, Gate, Seq, StoredEvent } from "./event-store.ts";
import type { HeldRow, HeldTables } from "./memory-held.ts";
import type { Provenance } from "./provenance.ts";

/** A served event with all that is known of it. */
export interface ServedRow {
  readonly event: VerifiedEvent;
  readonly stored: StoredEvent;
  readonly expiresAt: UnixSeconds | undefined;
  readonly provenance: Provenance;
}

/** A remembered request with what it refuses. */
export interface GateRow {
  readonly request: EventId;
  readonly author: PublicKey;
  readonly targets: readonly GateTarget[];
  readonly seenAt: Instant;
  readonly lastUsedAt: Instant | undefined;
}

/** A numbered change; its number is its place in the log, counted from one. */
export interface LogRow {
  readonly change: "put" | "hold" | "remove";
  readonly id: EventId;
}

/** All that the memory store holds. */
export interface MemoryTables extends HeldTables {
  readonly served: Map<EventId, ServedRow>;
  readonly gates: Map<EventId, GateRow>;
  readonly log: LogRow[];
}

export function asGate(row: GateRow, served: boolean): Gate {
  const { request, author, seenAt, lastUsedAt, targets } = row;
  return { request, author, seenAt, lastUsedAt, served, vanishUntil: targets.find((target) => target.kind === "key")?.until };
}

/** `row` and `held` are what is served and held under that id now: it may have gone since, or be there again by a later change. */
export function asFeedChange({ change, id }: LogRow, at: Seq, row: ServedRow | undefined, held: HeldRow | undefined): FeedChange {
  if (change === "remove") return { seq: at, change: "removed", id };
  if (change === "put" && row?.stored.seq === at) return { seq: at, change: "served", event: row.stored };
  if (change === "hold" && held?.seq === at) return { seq: at, change: "held", id, createdAt: held.event.created_at, text: held.text };
  return { seq: at, change: "passed", id };
}
