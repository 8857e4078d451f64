import { expect, test } from "vitest";
import { fakeId, fakeKey } from "../../test/kit/arbitrary/fake-event.ts";
import { instant, plus, unixSeconds } from "../base/time.ts";
import type { Oid } from "../git/oid.ts";
import { ledgerMachine } from "./ledger.ts";
import { type Effect, EMPTY_LEDGER, type Entry, type Ledger, type LedgerInput } from "./ledger-state.ts";
import { LIFETIMES } from "./lifetimes.ts";
import type { ProjectKey, WaitingAnnouncement, WaitingState } from "./waiting.ts";

type Phase = "absent" | "waiting" | "soft-expired" | "remembered";
/** Where the event is afterwards, and what happens. */
type Cell = readonly [Phase, ...Effect["kind"][]];

const NOW = instant(1_700_000_000_000);
const HOUR = 3_600_000;
const hold = "hold" as ProjectKey;
const id = fakeId(1);
const common = { id, author: fakeKey("alice"), createdAt: unixSeconds(5), projects: [hold] };
const announcement: WaitingAnnouncement = { ...common, what: "announcement", repository: "r" };
const state: WaitingState = { ...common, what: "state", invited: false, overlaid: false };
const tip = { repository: "r", id, tip: "1".repeat(40) as Oid };

/** Held an hour ago, its time just over. */
const over = <W extends WaitingAnnouncement | WaitingState>(waiting: W): Entry<W> => ({
  waiting,
  heldAt: plus(NOW, -HOUR),
  until: NOW,
  settleUntil: undefined,
});

const inputs: { readonly [Kind in LedgerInput["kind"]]: (waiting: WaitingAnnouncement | WaitingState) => LedgerInput } = {
  held: (waiting) => ({ kind: "held", waiting }),
  "sign-of-life": () => ({ kind: "sign-of-life", repositories: ["r"] }),
  "fetch-began": () => ({ kind: "fetch-began", fetch: "f", projects: [hold] }),
  "fetch-ended": () => ({ kind: "fetch-ended", fetch: "f" }),
  "round-ended": () => ({ kind: "round-ended", project: hold }),
  settled: () => ({ kind: "settled", promoted: [id], dropped: [], standing: [] }),
  deleted: () => ({ kind: "deleted", ids: [id] }),
  staged: () => ({ kind: "staged", tip }),
  unstaged: () => ({ kind: "unstaged", tip }),
  started: () => ({ kind: "started", downMs: HOUR }),
  wake: () => ({ kind: "wake" }),
};

/** SPEC.md's table for an announcement; every phase, every input. */
const ANNOUNCEMENT: { readonly [P in Exclude<Phase, "remembered">]: { readonly [Kind in LedgerInput["kind"]]: Cell } } = {
  absent: {
    held: ["waiting"],
    "sign-of-life": ["absent"],
    "fetch-began": ["absent"],
    "fetch-ended": ["absent"],
    "round-ended": ["absent"],
    settled: ["absent"],
    deleted: ["absent"],
    staged: ["absent"],
    unstaged: ["absent"],
    started: ["absent", "shift"],
    wake: ["absent"],
  },
  waiting: {
    held: ["waiting"],
    "sign-of-life": ["waiting", "extend"],
    "fetch-began": ["waiting"],
    "fetch-ended": ["waiting"],
    "round-ended": ["waiting"],
    settled: ["absent"],
    deleted: ["absent"],
    staged: ["waiting"],
    unstaged: ["waiting"],
    started: ["waiting", "shift"],
    wake: ["soft-expired", "soft-expire"],
  },
  "soft-expired": {
    held: ["waiting", "revive"],
    "sign-of-life": ["waiting", "revive"],
    "fetch-began": ["soft-expired"],
    "fetch-ended": ["soft-expired"],
    "round-ended": ["soft-expired"],
    settled: ["absent"],
    deleted: ["absent"],
    staged: ["soft-expired"],
    unstaged: ["soft-expired"],
    started: ["soft-expired", "shift"],
    wake: ["absent", "forget"],
  },
};

/** The same for a state or PR. */
const STATE: { readonly [P in Exclude<Phase, "soft-expired">]: { readonly [Kind in LedgerInput["kind"]]: Cell } } = {
  absent: { ...ANNOUNCEMENT.absent, held: ["waiting", "need"] },
  waiting: {
    ...ANNOUNCEMENT.waiting,
    "sign-of-life": ["waiting"],
    started: ["waiting", "shift", "need"],
    wake: ["remembered", "expire", "need"],
  },
  remembered: {
    held: ["waiting", "need"],
    "sign-of-life": ["remembered"],
    "fetch-began": ["remembered"],
    "fetch-ended": ["remembered"],
    "round-ended": ["remembered"],
    settled: ["absent"],
    deleted: ["absent"],
    staged: ["remembered"],
    unstaged: ["remembered"],
    started: ["remembered", "shift"],
    wake: ["absent", "forget"],
  },
};

function ledgerWith(phase: Phase, waiting: WaitingAnnouncement | WaitingState): Ledger {
  if (phase === "waiting") return { ...EMPTY_LEDGER, waiting: new Map([[id, over(waiting)]]) };
  if (phase === "soft-expired") return { ...EMPTY_LEDGER, soft: new Map([[id, over(waiting as WaitingAnnouncement)]]) };
  return phase === "remembered" ? { ...EMPTY_LEDGER, remembered: new Map([[id, NOW]]) } : EMPTY_LEDGER;
}

function phaseOf({ waiting, soft, remembered }: Ledger): Phase {
  if (waiting.has(id)) return "waiting";
  if (soft.has(id)) return "soft-expired";
  return remembered.has(id) ? "remembered" : "absent";
}

const rows = [
  ...Object.entries(ANNOUNCEMENT).map(([phase, row]) => [announcement, phase as Phase, row] as const),
  ...Object.entries(STATE).map(([phase, row]) => [state, phase as Phase, row] as const),
].flatMap(([waiting, phase, row]) => Object.entries(row).map(([kind, cell]) => [waiting.what, phase, kind, waiting, cell] as const));

test.each(rows)("an %s that is %s: %s", (_what, phase, kind, waiting, [next, ...effects]) => {
  const input = inputs[kind as LedgerInput["kind"]](waiting);
  const step = ledgerMachine(LIFETIMES).step(ledgerWith(phase, waiting), input, NOW);
  expect([phaseOf(step.state), ...step.effects.map((effect) => effect.kind)]).toEqual([next, ...effects]);
});
