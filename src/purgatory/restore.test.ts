import { expect, test } from "vitest";
import { hold as holdChange } from "../../test/contract/store/bench.ts";
import { fakeEvent, fakeId, fakeKey } from "../../test/kit/arbitrary/fake-event.ts";
import { instant, plus, unixSeconds } from "../base/time.ts";
import type { Oid } from "../git/oid.ts";
import type { HeldEvent } from "../store/held.ts";
import { MemoryStore } from "../store/memory-store.ts";
import { ledgerMachine } from "./ledger.ts";
import { changeFor } from "./ledger-changes.ts";
import { EMPTY_LEDGER, type Ledger, type LedgerInput, type Standing } from "./ledger-state.ts";
import { LIFETIMES } from "./lifetimes.ts";
import { restoredLedger, waitingOf } from "./restore.ts";
import type { ProjectKey } from "./waiting.ts";

const standing: Omit<Standing, "id"> = { projects: ["hold" as ProjectKey], invited: false, overlaid: false };
const announcement = fakeEvent({ kind: 30_617, tags: [["d", "hold"]], created_at: 1 });
const state = fakeEvent({ kind: 30_618, tags: [["d", "hold"]], created_at: 2 });
const pr = fakeEvent({ kind: 1618, created_at: 3 });
const tip = { repository: "r", id: fakeId(9), tip: "1".repeat(40) as Oid };

/** A ledger beside a store: every effect is carried out there. */
class World {
  readonly store = new MemoryStore();
  ledger: Ledger = EMPTY_LEDGER;
  now = instant(1_000_000);

  async step(input: LedgerInput): Promise<void> {
    const { state: next, effects } = ledgerMachine(LIFETIMES).step(this.ledger, input, this.now);
    this.ledger = next;
    const changes = effects.flatMap((effect) => changeFor(effect, this.now) ?? []);
    await this.store.transact((tx) => tx.apply(changes));
  }

  async hold(event: typeof state, repositories: readonly string[] = []): Promise<void> {
    const until = plus(this.now, LIFETIMES.waitMs);
    const change = holdChange(event, { heldAt: this.now, until, repositories });
    await this.store.transact((tx) => tx.apply([change]));
    const row = this.store.held.heldEvent(event.id) as HeldEvent;
    await this.step({ kind: "held", waiting: waitingOf(row, standing) });
  }

  /** The ledger of a process that starts now. */
  restored(): Ledger {
    const rows = this.store.held.heldPage(undefined, 1000).map((row) => [row, standing] as const);
    return restoredLedger(rows, this.store.held.tips(), LIFETIMES);
  }
}

test("what the store was told is what a restart reads back, at every moment of a day (grasp.md 6.2: counted across restarts)", async () => {
  const world = new World();
  await world.hold(announcement);
  await world.hold(state);
  await world.hold(pr, ["r"]);
  await world.store.transact((tx) =>
    tx.apply([{ kind: "stage-tip", ...tip, until: plus(world.now, LIFETIMES.tipMs), uploader: "192.0.2.1" }]),
  );
  await world.step({ kind: "staged", tip });
  const seen = new Set<string>();
  for (let minutes = 0; minutes < 26 * 60; minutes += 10) {
    expect(world.restored()).toEqual(world.ledger);
    seen.add([world.ledger.waiting.size, world.ledger.soft.size, world.ledger.remembered.size, world.ledger.tips.size].join());
    world.now = plus(world.now, 600_000);
    if (minutes === 300) await world.step({ kind: "sign-of-life", repositories: [`30617:${announcement.pubkey}:hold`] });
    await world.step({ kind: "wake" });
  }
  expect([...seen]).toEqual(["3,0,0,1", "3,0,0,0", "0,1,2,0", "1,0,2,0"]);
  expect(world.store.held.waits(announcement.id)).toBe("soft-expired");
});

test("a start shifts the deadlines of the store as it shifts the ledger's", async () => {
  const world = new World();
  await world.hold(state);
  world.now = plus(world.now, 5 * 3_600_000);
  world.ledger = world.restored();
  await world.step({ kind: "started", downMs: 5 * 3_600_000 });
  expect(world.restored()).toEqual({ ...world.ledger, firstRounds: undefined });
  expect(world.store.held.aliveAt()).toBe(world.now);
});

test("an end that comes too late changes nothing: what was promoted meanwhile stays served (grasp.md 5.4)", async () => {
  const world = new World();
  await world.hold(state);
  await world.hold(announcement);
  await world.store.transact((tx) => tx.apply([state, announcement].map(({ id }) => ({ kind: "promote", id }) as const)));
  world.now = plus(world.now, LIFETIMES.waitMs);
  await world.step({ kind: "wake" });
  world.now = plus(world.now, 8 * 86_400_000);
  await world.step({ kind: "wake" });
  expect(world.ledger).toEqual(EMPTY_LEDGER);
  for (const { id } of [state, announcement]) expect(await world.store.transact((tx) => tx.serves(id))).toBe(true);
});

test("superseded states are not read back; the longest remembered comes first; a row without a deadline has one", () => {
  const row = (n: number, more: Partial<HeldEvent>): readonly [HeldEvent, Omit<Standing, "id">] => {
    const event = fakeEvent({ id: fakeId(n), kind: 30_618, pubkey: fakeKey("bob"), created_at: 4 });
    const { kind: _kind, ...held } = holdChange(event);
    return [{ ...held, stage: "waiting", ...more }, standing];
  };
  const rows = [
    row(1, { stage: "superseded" }),
    row(2, { stage: "expired", until: instant(9_000) }),
    row(3, { stage: "expired", until: instant(8_000) }),
    row(4, { until: undefined, heldAt: instant(7) }),
  ];
  const ledger = restoredLedger(rows, [], LIFETIMES);
  expect([...ledger.remembered]).toEqual([
    [fakeId(3), 8_000],
    [fakeId(2), 9_000],
  ]);
  expect([...ledger.waiting.values()]).toEqual([
    {
      waiting: { what: "state", id: fakeId(4), author: fakeKey("bob"), createdAt: unixSeconds(4), ...standing },
      heldAt: 7,
      until: plus(instant(7), LIFETIMES.waitMs),
      settleUntil: undefined,
    },
  ]);
});
