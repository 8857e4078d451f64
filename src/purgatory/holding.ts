import { earlier, type Instant, plus } from "../base/time.ts";
import type { LedgerDraft } from "./ledger-draft.ts";
import type { Entry } from "./ledger-state.ts";
import { isNewer, roomFor } from "./room.ts";
import { isHunted, type Waiting, type WaitingAnnouncement } from "./waiting.ts";

/** An event was held: it begins to wait, if there is room. */
export function hold(draft: LedgerDraft, waiting: Waiting, now: Instant): void {
  if (draft.now.waiting.has(waiting.id)) return;
  if (waiting.what === "announcement") holdAnnouncement(draft, waiting, now);
  else holdAnother(draft, waiting, now);
}

function holdAnother(draft: LedgerDraft, waiting: Exclude<Waiting, WaitingAnnouncement>, now: Instant): void {
  const { limits } = draft;
  const room = roomFor(waiting, draft.now.waiting.values(), draft.now.waiting.size, limits);
  draft.drop(waiting.id);
  if (room.kind === "full") {
    draft.effects.push({ kind: "refuse", id: waiting.id, why: room.why });
    return;
  }
  for (const id of room.evicts) {
    draft.drop(id);
    draft.effects.push({ kind: "refuse", id, why: "states" });
  }
  const invited = waiting.what === "state" && waiting.invited;
  draft.wait({ waiting, heldAt: now, until: plus(now, invited ? limits.invitedMs : limits.waitMs), settleUntil: undefined });
  if (isHunted(waiting)) draft.need(waiting.projects, "held");
}

/** One per owner and identifier (grasp.md 6.1). A replacement shows life, and "in all" is counted from the first (6.2). */
function holdAnnouncement(draft: LedgerDraft, waiting: WaitingAnnouncement, now: Instant): void {
  const { limits } = draft;
  const before = announcementOf(draft, waiting.repository);
  if (before?.waiting.id === waiting.id) return showLife(draft, before, now);
  // grasp.md 5.4: an older announcement never replaces a newer one, in purgatory too.
  if (before !== undefined && isNewer(before.waiting, waiting)) {
    draft.effects.push({ kind: "refuse", id: waiting.id, why: "older" });
    return;
  }
  if (before === undefined) {
    const room = roomFor(waiting, [], draft.now.waiting.size, limits);
    if (room.kind === "full") draft.effects.push({ kind: "refuse", id: waiting.id, why: room.why });
    else draft.wait({ waiting, heldAt: now, until: plus(now, limits.waitMs), settleUntil: undefined });
    return;
  }
  const wasWaiting = draft.now.waiting.has(before.waiting.id);
  draft.drop(before.waiting.id);
  draft.effects.push({ kind: "forget", id: before.waiting.id, from: wasWaiting ? "waiting" : "soft-expired" });
  const cap = plus(before.heldAt, limits.announcementMaxMs);
  const hasRoom = wasWaiting || draft.now.waiting.size < limits.waitingMax;
  if (cap <= now || !hasRoom) {
    draft.soften({ waiting, heldAt: before.heldAt, until: plus(now, limits.softMs), settleUntil: undefined });
    return;
  }
  const until = Math.max(wasWaiting ? before.until : now, earlier(plus(now, limits.waitMs), cap)) as Instant;
  draft.wait({ waiting, heldAt: before.heldAt, until, settleUntil: before.settleUntil });
  draft.effects.push({ kind: "extend", id: waiting.id, until });
}

/** The announcement of this repository, waiting or soft-expired. */
export function announcementOf(draft: LedgerDraft, repository: string): Entry<WaitingAnnouncement> | undefined {
  for (const table of [draft.now.waiting, draft.now.soft]) {
    for (const entry of table.values()) if (isOf(entry, repository)) return entry;
  }
  return undefined;
}

const isOf = (entry: Entry, repository: string): entry is Entry<WaitingAnnouncement> =>
  entry.waiting.what === "announcement" && entry.waiting.repository === repository;

/** grasp.md 6.2: to at least 30 more minutes, at most 24 h in all; a soft-expired one is revived while any of these are left. */
export function showLife(draft: LedgerDraft, entry: Entry<WaitingAnnouncement>, now: Instant): void {
  const { limits } = draft;
  const { id, repository } = entry.waiting;
  const until = earlier(plus(now, limits.waitMs), plus(entry.heldAt, limits.announcementMaxMs));
  if (draft.now.soft.has(id)) {
    if (until <= now || draft.now.waiting.size >= limits.waitingMax) return;
    draft.drop(id);
    draft.wait({ ...entry, until, settleUntil: undefined });
    draft.effects.push({ kind: "revive", id, repository, until });
  } else if (until > entry.until) {
    draft.wait({ ...entry, until });
    draft.effects.push({ kind: "extend", id, until });
  }
}
