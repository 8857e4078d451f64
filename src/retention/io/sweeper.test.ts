import { describe, expect, test } from "vitest";
import { fakeEvent, fakeId, fakeKey } from "../../../test/kit/arbitrary/fake-event.ts";
import { filterOf } from "../../../test/kit/arbitrary/filter.ts";
import { TestClock } from "../../../test/kit/test-clock.ts";
import { unixSeconds } from "../../base/time.ts";
import { type EventId, eventText, type VerifiedEvent } from "../../nostr/event.ts";
import { expirationOf } from "../../nostr/expiration.ts";
import type { Change, GateTarget } from "../../store/batch.ts";
import type { FeedChange, Writer } from "../../store/event-store.ts";
import { MemoryStore } from "../../store/memory-store.ts";
import { Sweeper } from "./sweeper.ts";

const DAY = 86_400_000;
const HOUR = 3_600_000;
const RETENTIONS = { unusedServedMs: 30 * DAY, unusedGateMs: 180 * DAY, usedServedMs: 270 * DAY, usedGateMs: 90 * DAY };

class World {
  readonly clock = new TestClock();
  readonly store = new MemoryStore();
  readonly changes: FeedChange[] = [];
  readonly faults: unknown[] = [];
  readonly sweeper: Sweeper;

  constructor(wrap: (store: Writer) => Writer = (store) => store) {
    const ports = {
      changed: (changes: readonly FeedChange[]) => void this.changes.push(...changes),
      fault: (error: unknown) => void this.faults.push(error),
    };
    this.sweeper = new Sweeper(wrap(this.store), this.clock, { retentions: RETENTIONS, gatesEveryMs: HOUR }, ports);
  }

  get seconds(): number {
    return this.clock.now() / 1_000;
  }

  async put(...events: readonly VerifiedEvent[]): Promise<void> {
    await this.apply(
      events.map((event) => ({
        kind: "put",
        event,
        text: eventText(event),
        expiresAt: expirationOf(event),
        provenance: { how: "direct" },
      })),
    );
  }

  async apply(changes: readonly Change[]): Promise<void> {
    await this.store.transact((tx) => tx.apply(changes));
  }

  async remember(request: VerifiedEvent, targets: readonly GateTarget[], used: boolean): Promise<void> {
    await this.put(request);
    await this.apply([{ kind: "gate", request: request.id, author: request.pubkey, targets, seenAt: this.clock.now(), used }]);
  }

  async served(): Promise<EventId[]> {
    const ids: EventId[] = [];
    for await (const slice of this.store.query(filterOf(), { now: unixSeconds(0) })) ids.push(...slice.map(({ id }) => id));
    return ids;
  }

  async gates(): Promise<EventId[]> {
    return (await this.store.gates(undefined, 100)).map(({ request }) => request);
  }
}

const expiring = (n: number, at: number) => fakeEvent({ id: fakeId(n), tags: [["expiration", `${at}`]] });

describe("expiry (NIP-40)", () => {
  test("each goes in its second, and only then", async () => {
    const world = new World();
    await world.put(expiring(1, world.seconds + 10), expiring(2, world.seconds + 20), fakeEvent({ id: fakeId(3) }));
    world.sweeper.start();
    await world.clock.advance(9_999);
    expect(await world.served()).toHaveLength(3);
    await world.clock.advance(1);
    expect((await world.served()).toSorted()).toEqual([fakeId(2), fakeId(3)].toSorted());
    await world.clock.advance(10_000);
    expect(await world.served()).toEqual([fakeId(3)]);
    expect(world.changes.map((change) => change.change)).toEqual(["removed", "removed"]);
  });

  test("what expired while we were down goes at the start, however much it is", async () => {
    const world = new World();
    await world.put(...Array.from({ length: 450 }, (_, n) => fakeEvent({ content: `${n}`, tags: [["expiration", "1"]] })));
    world.sweeper.start();
    await world.clock.advance(0);
    expect(await world.served()).toEqual([]);
    expect(world.changes).toHaveLength(450);
  });

  test("an event that comes with an earlier end is heeded when told of", async () => {
    const world = new World();
    await world.put(expiring(1, world.seconds + 1_000));
    world.sweeper.start();
    await world.clock.advance(0);
    await world.put(expiring(2, world.seconds + 5));
    world.sweeper.look();
    await world.clock.advance(5_000);
    expect(await world.served()).toEqual([fakeId(1)]);
  });

  test("after a stop nothing more happens, and no timer is left", async () => {
    const world = new World();
    await world.put(expiring(1, world.seconds + 5));
    world.sweeper.start();
    await world.clock.advance(0);
    await world.sweeper.stop();
    expect(world.clock.pending).toBe(0);
    world.sweeper.look();
    await world.clock.advance(DAY);
    expect(await world.served()).toHaveLength(1);
  });
});

test("a stop waits for the commit under way and begins no other", async () => {
  const world = new World();
  await world.put(...Array.from({ length: 1_000 }, (_, n) => fakeEvent({ content: `${n}`, tags: [["expiration", "1"]] })));
  world.sweeper.start();
  await world.sweeper.stop();
  const { length } = await world.served();
  expect(length).toBeGreaterThan(0);
  expect(world.changes, "what was removed was told").toHaveLength(1_000 - length);
  expect(world.faults).toEqual([]);
});

describe("remembered requests (grasp.md 11.2)", () => {
  test.each([
    ["unused: 30 days served, 180 more a gate", false, 30, 180],
    ["used: 270 days after its last use, 90 more a gate", true, 270, 90],
  ])("%s", async (_, used, servedDays, gateDays) => {
    const world = new World();
    const request = fakeEvent({ kind: 5 });
    await world.remember(request, [{ kind: "event", id: fakeId("x") }], used);
    world.sweeper.start();
    await world.clock.advance(servedDays * DAY - 1);
    expect(await world.served()).toEqual([request.id]);
    await world.clock.advance(HOUR);
    expect(await world.served()).toEqual([]);
    expect(await world.gates()).toEqual([request.id]);
    await world.clock.advance(gateDays * DAY - 2 * HOUR);
    expect(await world.gates()).toEqual([request.id]);
    await world.clock.advance(2 * HOUR);
    expect(await world.gates()).toEqual([]);
  });

  test("a use begins its time anew", async () => {
    const world = new World();
    const request = fakeEvent({ kind: 5 });
    await world.remember(request, [{ kind: "event", id: fakeId("x") }], false);
    world.sweeper.start();
    await world.clock.advance(29 * DAY);
    await world.apply([{ kind: "gate-used", request: request.id, at: world.clock.now() }]);
    await world.clock.advance(269 * DAY);
    expect(await world.served()).toEqual([request.id]);
  });

  test("one whose time ran out while we were down is forgotten and removed at once", async () => {
    const world = new World();
    const request = fakeEvent({ kind: 5 });
    await world.remember(request, [], false);
    await world.clock.advance(400 * DAY);
    world.sweeper.start();
    await world.clock.advance(0);
    expect([await world.served(), await world.gates()]).toEqual([[], []]);
  });
});

describe("vanish (NIP-62)", () => {
  const many = (count: number) => Array.from({ length: count }, (_, n) => fakeEvent({ content: `${n}`, created_at: 50 }));
  const request = fakeEvent({ kind: 62, created_at: 100 });
  const key: GateTarget = { kind: "key", until: unixSeconds(100) };

  test("what the request left is removed, in slices; others' and newer stay, and so does the request", async () => {
    const world = new World();
    const stay = [fakeEvent({ created_at: 101 }), fakeEvent({ pubkey: fakeKey("bob"), created_at: 50 })];
    await world.put(...many(450), ...stay);
    await world.remember(request, [key], true);
    world.sweeper.start();
    await world.clock.advance(0);
    expect((await world.served()).toSorted()).toEqual([...stay, request].map(({ id }) => id).toSorted());
    expect(world.changes).toHaveLength(450);
  });

  test("one that comes between two sweeps is not left waiting, not even when it comes during one", async () => {
    const during = new World((store) => ({
      ...bound(store),
      gates: async (after, max) => {
        const page = await store.gates(after, max);
        if (arrive !== undefined) {
          const come = arrive;
          arrive = undefined;
          await come();
        }
        return page;
      },
    }));
    let arrive: (() => Promise<void>) | undefined = async () => {
      await during.put(...many(5));
      await during.remember(request, [key], true);
      during.sweeper.look(true);
    };
    during.sweeper.start();
    await during.clock.advance(2_000);
    expect(await during.served()).toEqual([request.id]);
  });
});

test("a fault is reported and tried again later, and the sweeper lives", async () => {
  let broken = true;
  const world = new World((store) => ({
    ...bound(store),
    nextExpiry: () => (broken ? Promise.reject(new Error("disk")) : store.nextExpiry()),
  }));
  await world.put(expiring(1, world.seconds + 30));
  world.sweeper.start();
  await world.clock.advance(25_000);
  expect(world.faults.length).toBeGreaterThan(1);
  broken = false;
  await world.clock.advance(20_000);
  expect(await world.served()).toEqual([]);
});

test("gates that could not be walked are walked soon, not in an hour", async () => {
  let broken = true;
  const world = new World((store) => ({
    ...bound(store),
    gates: (after, max) => (broken ? Promise.reject(new Error("disk")) : store.gates(after, max)),
  }));
  const request = fakeEvent({ kind: 5 });
  await world.remember(request, [], false);
  await world.clock.advance(400 * DAY);
  world.sweeper.start();
  await world.clock.advance(5_000);
  expect(world.faults).toHaveLength(1);
  broken = false;
  await world.clock.advance(60_000);
  expect(await world.gates()).toEqual([]);
});

/** The methods of a store as an object that can be spread. */
const bound = (store: Writer): Writer => ({
  transact: (work) => store.transact(work),
  expired: (now, max) => store.expired(now, max),
  nextExpiry: () => store.nextExpiry(),
  gates: (after, max) => store.gates(after, max),
});
