import { earlier, type Instant, plus } from "../base/time.ts";
import { expirationOf } from "../nostr/expiration.ts";
import type { Holding } from "../policy/verdict.ts";
import { LIFETIMES } from "../purgatory/lifetimes.ts";
import type { Change } from "../store/batch.ts";
import type { HeldEvent } from "../store/held.ts";
import type { Candidate } from "./candidate.ts";
import type { GatheredHolding } from "./gather-holding.ts";
import { provenanceOf } from "./origin.ts";

/** An event begins to wait. */
export function holdingBatch(
  { event, text, origin }: Candidate,
  holding: Holding,
  { before, evicts }: Pick<GatheredHolding, "before" | "evicts">,
  now: Instant,
): Change[] {
  const batch: Change[] = [];
  // A soft-expired one is handed in again: out and in again, so that whoever follows the feed hears that it waits.
  if (before?.event.id === event.id) batch.push({ kind: "remove", id: event.id });
  batch.push({
    kind: "hold",
    event,
    text,
    what: holding.what,
    repositories: holding.what === "pull-request" ? holding.repositories : [],
    // grasp.md 6.2: "in all" is counted from the first of them.
    heldAt: before?.heldAt ?? now,
    until: holdUntil(holding, before, now),
    expiresAt: expirationOf(event),
    provenance: provenanceOf(origin),
  });
  // After it, so that the newer is known to take the older one's place.
  if (before !== undefined && before.event.id !== event.id) batch.push({ kind: "remove", id: before.event.id });
  for (const id of evicts) batch.push({ kind: "remove", id });
  return batch;
}

/** grasp.md 4.5, 6.2: a replacement shows life, to at least 30 more minutes and at most 24 h in all. */
function holdUntil(holding: Holding, before: HeldEvent | undefined, now: Instant): Instant {
  if (holding.what === "state" && holding.invited) return plus(now, LIFETIMES.invitedMs);
  const extended = plus(now, LIFETIMES.waitMs);
  if (before === undefined) return extended;
  const capped = earlier(extended, plus(before.heldAt, LIFETIMES.announcementMaxMs));
  return Math.max(capped, before.stage === "waiting" ? (before.until ?? now) : now) as Instant;
}
