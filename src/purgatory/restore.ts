import { plus } from "../base/time.ts";
import type { HeldEvent, StagedTip } from "../store/held.ts";
import { EMPTY_LEDGER, type Entry, type Ledger, type Standing } from "./ledger-state.ts";
import type { Lifetimes } from "./lifetimes.ts";
import { tipKey, type Waiting, type WaitingAnnouncement } from "./waiting.ts";

/** A held event as the ledger sees it. How it stands follows from the maintainer sets and the overlay records of now. */
export function waitingOf({ event, what, repositories }: HeldEvent, { projects, invited, overlaid }: Omit<Standing, "id">): Waiting {
  const common = { id: event.id, author: event.pubkey, createdAt: event.created_at, projects };
  if (what === "state") return { ...common, what, invited, overlaid };
  if (what === "pull-request") return { ...common, what, repositories };
  const d = event.tags.find((tag) => tag[0] === "d")?.[1] ?? "";
  return { ...common, what, repository: `${event.kind}:${event.pubkey}:${d}` };
}

/** The ledger as the store has it, before `started`. Superseded states are not its business: they wait for nothing. */
export function restoredLedger(
  held: Iterable<readonly [HeldEvent, Omit<Standing, "id">]>,
  tips: Iterable<StagedTip>,
  limits: Lifetimes,
): Ledger {
  const waiting = new Map(EMPTY_LEDGER.waiting);
  const soft = new Map(EMPTY_LEDGER.soft);
  const expired: HeldEvent[] = [];
  for (const [row, standing] of held) {
    const { stage, heldAt } = row;
    if (stage === "expired") expired.push(row);
    else if (stage !== "superseded") {
      const until = row.until ?? plus(heldAt, limits.waitMs);
      const entry: Entry = { waiting: waitingOf(row, standing), heldAt, until, settleUntil: undefined };
      if (stage === "soft-expired" && entry.waiting.what === "announcement") soft.set(row.event.id, entry as Entry<WaitingAnnouncement>);
      else waiting.set(row.event.id, entry);
    }
  }
  const endOf = ({ until, heldAt }: HeldEvent) => until ?? plus(heldAt, limits.rememberMs);
  const remembered = new Map(expired.toSorted((a, b) => endOf(a) - endOf(b)).map((row) => [row.event.id, endOf(row)]));
  const staged = [...tips].map(({ repository, id, tip, until }) => ({ tip: { repository, id, tip }, until }));
  return { ...EMPTY_LEDGER, waiting, soft, remembered, tips: new Map(staged.map((each) => [tipKey(each.tip), each])) };
}
