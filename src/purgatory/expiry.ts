import { type Instant, plus } from "../base/time.ts";
import { dueIn } from "./due.ts";
import type { LedgerDraft } from "./ledger-draft.ts";
import type { Entry } from "./ledger-state.ts";
import { isHunted, type ProjectKey, type WaitingAnnouncement } from "./waiting.ts";

/** Ends whatever is over by now. */
export function expire(draft: LedgerDraft, now: Instant): void {
  const { fetches, firstRounds } = draft.now;
  for (const [fetch, { lostAt }] of fetches) if (lostAt <= now) draft.edit("fetches").delete(fetch);
  if (firstRounds !== undefined && firstRounds.until <= now) draft.setFirstRounds(undefined);

  const due = dueIn(draft.now);
  const isOver = (entry: Entry): boolean => (due(entry) ?? Number.POSITIVE_INFINITY) <= now;
  const forgotten = new Set<ProjectKey>();
  for (const [id, entry] of draft.now.soft) {
    if (!isOver(entry)) continue;
    draft.edit("soft").delete(id);
    // grasp.md 6.3: expired announcements are not remembered after their 24 h.
    draft.effects.push({ kind: "forget", id, from: "soft-expired" });
  }
  for (const entry of draft.now.waiting.values()) {
    if (!isOver(entry)) continue;
    const { waiting } = entry;
    if (waiting.what === "announcement") {
      draft.soften({ ...(entry as Entry<WaitingAnnouncement>), until: plus(now, draft.limits.softMs), settleUntil: undefined });
    } else {
      draft.edit("waiting").delete(waiting.id);
      remember(draft, entry, now);
      if (isHunted(waiting)) for (const project of waiting.projects) forgotten.add(project);
    }
  }
  // grasp.md 6.3, 9.2: the hourly re-check goes on asking for what expired.
  draft.need(forgotten, "expired");
  for (const [id, until] of draft.now.remembered) {
    if (until > now) continue;
    draft.edit("remembered").delete(id);
    draft.effects.push({ kind: "forget", id, from: "expired" });
  }
  for (const [key, { tip, until }] of draft.now.tips) {
    if (until > now) continue;
    draft.edit("tips").delete(key);
    draft.effects.push({ kind: "unstage", tip });
  }
}

/** grasp.md 6.3: event and id are kept 7 days, bounded in number: beyond it the longest remembered goes. */
function remember(draft: LedgerDraft, { waiting: { id } }: Entry, now: Instant): void {
  const until = plus(now, draft.limits.rememberMs);
  const remembered = draft.edit("remembered").set(id, until);
  draft.effects.push({ kind: "expire", id, until });
  for (const oldest of remembered.keys()) {
    if (remembered.size <= draft.limits.rememberedMax) break;
    remembered.delete(oldest);
    draft.effects.push({ kind: "forget", id: oldest, from: "expired" });
  }
}
