import { expect, test } from "vitest";
import { fakeEvent, fakeId } from "../../test/kit/arbitrary/fake-event.ts";
import { rulesWith } from "../../test/kit/rules.ts";
import { instant } from "../base/time.ts";
import { type EventId, eventText, type VerifiedEvent } from "../nostr/event.ts";
import type { Transaction, Writer } from "../store/event-store.ts";
import { MemoryStore } from "../store/memory-store.ts";
import { admitAll } from "./admit-all.ts";
import type { Candidate } from "./candidate.ts";
import { ANONYMOUS } from "./origin.ts";

const RULES = rulesWith({ places: [], eventBytesMax: 1_000, deletionTargetsMax: 10, unusedDeletionsMax: 10 });
const NOW = instant(1_000_000);

const candidate = (event: VerifiedEvent): Candidate => ({ event, text: eventText(event), origin: ANONYMOUS });
const note = (n: number, more: Parameters<typeof fakeEvent>[0] = {}) => fakeEvent({ id: fakeId(n), content: `${n}`, ...more });

/** A store whose disk refuses some events, or every commit. */
function failing(store: MemoryStore, refuses: (id: EventId) => boolean): Writer {
  const guard = (tx: Transaction): Transaction =>
    new Proxy(tx, {
      get: (target, name) => {
        const value = Reflect.get(target, name) as unknown;
        if (name === "apply") {
          return (batch: Parameters<Transaction["apply"]>[0]) => {
            if (batch.some((change) => change.kind === "put" && refuses(change.event.id))) throw new Error("disk full");
            return target.apply(batch);
          };
        }
        return typeof value === "function" ? (value as () => unknown).bind(target) : value;
      },
    });
  return {
    transact: (work) => store.transact((tx) => work(guard(tx))),
    expired: (now, max) => store.expired(now, max),
    nextExpiry: () => store.nextExpiry(),
    gates: (after, max) => store.gates(after, max),
  };
}

test("one commit for all, answers in their order, later ones see what earlier ones did", async () => {
  const store = new MemoryStore();
  const faults: unknown[] = [];
  const events = [note(1), note(1), note(2, { kind: 20_001 }), note(3, { kind: 5, tags: [["e", fakeId(1)]] }), note(1)];
  const done = await admitAll(store, events.map(candidate), RULES, NOW, (error) => faults.push(error));
  expect(done.ids).toEqual(events.map(({ id }) => id));
  expect(done.kinds).toEqual([1, 1, 20_001, 5, 1]);
  expect(done.accepted).toEqual([true, true, true, true, false]);
  expect(done.messages).toEqual(["", "duplicate: already have this event", "", "", "invalid: this event is deleted"]);
  expect(done.changes.map(({ seq, change }) => [seq, change])).toEqual([
    [1, "served"],
    [2, "removed"],
    [3, "served"],
  ]);
  expect(done.passing).toEqual([eventText(note(2, { kind: 20_001 }))]);
  expect(faults).toEqual([]);
});

test("grasp.md 3.2: an event that cannot be stored takes no other with it, and is not called stored", async () => {
  const store = new MemoryStore();
  const faults: unknown[] = [];
  const events = [note(1), note(2), note(3), note(4, { kind: 20_001 })];
  const writer = failing(store, (id) => id === fakeId(2));
  const done = await admitAll(writer, events.map(candidate), RULES, NOW, (error) => faults.push(error));
  expect(done.ids).toEqual(events.map(({ id }) => id));
  expect(done.accepted).toEqual([true, false, true, true]);
  expect(done.messages).toEqual(["", "error: the event could not be stored; try again later", "", ""]);
  expect(done.changes.map(({ seq }) => seq)).toEqual([1, 2]);
  expect(done.passing).toHaveLength(1);
  expect(faults).toHaveLength(2);
  expect(await store.head()).toBe(2);
});

test("when nothing can be stored, everybody hears so and nothing changed", async () => {
  const store = new MemoryStore();
  const done = await admitAll(
    failing(store, () => true),
    [note(1), note(2)].map(candidate),
    RULES,
    NOW,
    () => undefined,
  );
  expect(done.accepted).toEqual([false, false]);
  expect(done.changes).toEqual([]);
  const alone = await admitAll(
    failing(store, () => true),
    [candidate(note(1))],
    RULES,
    NOW,
    () => undefined,
  );
  expect(alone.messages).toEqual(["error: the event could not be stored; try again later"]);
  expect(await store.head()).toBe(0);
});
