import { expect, it } from "vitest";
import { EARLY, gather, put } from "../../test/contract/store/bench.ts";
import { fakeEvent } from "../../test/kit/arbitrary/fake-event.ts";
import { filterOf } from "../../test/kit/arbitrary/filter.ts";
import { eventText } from "../nostr/event.ts";
import { seq } from "./event-store.ts";
import { MemoryStore } from "./memory-store.ts";

const [e1, e2] = [fakeEvent({ created_at: 1 }), fakeEvent({ created_at: 2 })] as const;

it("an answer is the one of the moment it was asked for, whenever it is read", async () => {
  const store = new MemoryStore();
  await store.transact((tx) => tx.apply([put(e1)]));
  const queried = store.query(filterOf(), EARLY);
  const changes = store.read(seq(0));
  await store.transact((tx) => tx.apply([put(e2), { kind: "remove", id: e1.id }]));
  expect((await gather(queried)).map((event) => event.text)).toEqual([eventText(e1)]);
  expect(await gather(changes)).toMatchObject([{ seq: 1, change: "served" }]);
});

it("a work that waits holds up those behind it, not the readers", async () => {
  const store = new MemoryStore();
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  const slow = store.transact(async (tx) => {
    await tx.apply([put(e1)]);
    await gate;
  });
  const next = store.transact((tx) => tx.serves(e1.id));
  expect(await store.count([filterOf()], EARLY)).toBe(0);
  open();
  await slow;
  expect(await next).toBe(true);
});
