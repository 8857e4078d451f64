import { expect } from "vitest";
import { note, now, type WireEvent } from "../../kit/event-builder.ts";
import type { RelayClient } from "../../kit/relay-client.ts";
import { conformance, type Exchange } from "../suite.ts";
import { decode, encode, fingerprint, INFINITY, inOrder, namesNothing, untruths, varint } from "./by-hand.ts";

const { proves } = conformance();

/** "I have nothing, what have you?": version, bound infinity, mode 2, no ids. */
const EMPTY_LIST = "6100000200";

async function two(t: Exchange): Promise<{ client: RelayClient; old: WireEvent; fresh: WireEvent; filter: object }> {
  const client = await t.connect();
  const [old, fresh] = [note(t.alice, "old", { created_at: now() - 1000 }), note(t.alice, "fresh", { created_at: now() - 10 })];
  await t.accepted(client, fresh, old);
  return { client, old, fresh, filter: { authors: [t.alice.pubkey] } };
}

proves("NIP-77:L146-idlist-mode NIP-77:L104-order NIP-77:L43-filter", "an empty list is answered by all ids, oldest first", async (t) => {
  const { client, old, fresh, filter } = await two(t);
  expect((await client.negOpen("n", filter, EMPTY_LIST)).message).toBe(`6100000202${old.id}${fresh.id}`);
  expect((await client.negOpen("o", { ...filter, until: old.created_at }, EMPTY_LIST)).message).toBe(`6100000201${old.id}`);
  expect(namesNothing((await client.negOpen("p", { authors: [t.bob.pubkey] }, EMPTY_LIST)).message)).toBe(true);
});

proves("NIP-77:L104-order", "events of one second are ordered by id", async (t) => {
  const client = await t.connect();
  const at = now() - 100;
  const events = inOrder([1, 2, 3].map((n) => note(t.alice, `${n}`, { created_at: at })));
  await t.accepted(client, ...events.toReversed());
  const { message } = await client.negOpen("n", { authors: [t.alice.pubkey] }, EMPTY_LIST);
  expect(message).toBe(`6100000203${events.map((event) => event.id).join("")}`);
});

proves(
  "NIP-77:L168-fingerprint NIP-77:L142-fingerprint-mode",
  "an equal fingerprint ends it, another one is answered by what is there",
  async (t) => {
    const { client, old, fresh, filter } = await two(t);
    const equal = `61000001${fingerprint([old.id, fresh.id])}`;
    // A range at the end that is skipped may be written or left out.
    expect(["61", "61000000"]).toContain((await client.negOpen("equal", filter, equal)).message);
    const other = await client.negOpen("other", filter, `61000001${fingerprint([old.id])}`);
    expect(untruths(other.message ?? "", [old, fresh])).toEqual([]);
    expect(decode(other.message ?? "").some((range) => range.payload.mode !== 0)).toBe(true);
    const nothing = `61000001${fingerprint([])}`;
    const third = await client.negOpen("nothing", filter, nothing);
    expect(untruths(third.message ?? "", [old, fresh])).toEqual([]);
  },
);

proves("NIP-77:L128-implicit-skip NIP-77:L110-varint NIP-77:L159-timestamps", "only the asked range is answered", async (t) => {
  const { client, old, fresh, filter } = await two(t);
  // Up to `fresh`, exclusive; what follows is not mentioned and so skipped.
  const head = `61${varint(1 + fresh.created_at)}000200`;
  expect((await client.negOpen("head", filter, head)).message).toBe(`61${varint(1 + fresh.created_at)}000201${old.id}`);
  // Skip up to `fresh`, then a list to infinity.
  const tail = `61${varint(1 + fresh.created_at)}0000${"00000200"}`;
  const answer = (await client.negOpen("tail", filter, tail)).message ?? "";
  expect(untruths(answer, [old, fresh])).toEqual([]);
  expect(decode(answer).flatMap((range) => (range.payload.mode === 2 ? range.payload.ids : []))).toEqual([fresh.id]);
  // Two bounds: the second timestamp is a difference to the first.
  const middle = `61${varint(1 + old.created_at)}0002${"00"}${varint(1 + fresh.created_at - old.created_at)}000200`;
  const both = decode((await client.negOpen("middle", filter, middle)).message ?? "");
  expect(both.flatMap((range) => (range.payload.mode === 2 ? range.payload.ids : []))).toEqual([old.id]);
});

proves("NIP-77:L163-prefix", "a bound with an id prefix parts events of one second", async (t) => {
  const client = await t.connect();
  const at = now() - 100;
  const [low, high] = inOrder([1, 2].map((n) => note(t.alice, `${n}`, { created_at: at }))) as [WireEvent, WireEvent];
  await t.accepted(client, low, high);
  let common = 0;
  while (low.id.slice(0, 2 * (common + 1)) === high.id.slice(0, 2 * (common + 1))) common += 1;
  const prefix = high.id.slice(0, 2 * (common + 1));
  const message = encode([{ upper: { timestamp: at, prefix }, payload: { mode: 2, ids: [] } }]);
  const answer = decode((await client.negOpen("n", { authors: [t.alice.pubkey] }, message)).message ?? "");
  expect(answer.flatMap((range) => (range.payload.mode === 2 ? range.payload.ids : []))).toEqual([low.id]);
});

proves(
  "NIP-77:L142-fingerprint-mode NIP-77:L163-prefix NIP-77:L168-fingerprint",
  "a large set is split truthfully, with the shortest bounds",
  async (t) => {
    const client = await t.connect();
    const at = now() - 5000;
    // Three seconds with many events each, so that some bounds fall inside a second.
    const events = Array.from({ length: 120 }, (_, n) => note(t.alice, `${n}`, { created_at: at + 100 * (n % 3) }));
    for (const event of events) client.say("EVENT", event);
    for (const event of events) {
      const { ok, message } = await client.nextOk(event.id);
      if (!ok && t.server.external) t.skip(`this relay does not take so many events: ${message}`);
      expect({ ok, message }).toMatchObject({ ok: true });
    }
    const { message = "" } = await client.negOpen("n", { authors: [t.alice.pubkey] }, `61000001${fingerprint([])}`);
    expect(untruths(message, events)).toEqual([]);
    const ranges = decode(message);
    expect(ranges.length).toBeGreaterThan(1);
    expect(ranges.at(-1)?.upper, "all of it is covered").toEqual(INFINITY);
    const sorted = inOrder(events);
    for (const { upper } of ranges.slice(0, -1)) {
      const next = sorted.findIndex(
        (item) =>
          item.created_at > (upper.timestamp ?? 0) || (item.created_at === upper.timestamp && item.id >= upper.prefix.padEnd(64, "0")),
      );
      const [before, after] = [sorted[next - 1], sorted[next]];
      if (before === undefined || after === undefined) continue;
      let common = 0;
      while (before.id.slice(0, 2 * (common + 1)) === after.id.slice(0, 2 * (common + 1))) common += 1;
      expect(upper.prefix.length / 2).toBe(before.created_at === after.created_at ? common + 1 : 0);
    }
  },
);

proves("NIP-77:L126-version", "an unknown version is answered by the one byte of ours", async (t) => {
  const { client, filter } = await two(t);
  for (const message of ["62", "6200000200", "7f"])
    expect(await client.negOpen(`v${message}`, filter, message)).toEqual({ message: "61", error: undefined });
  expect((await client.negOpen("retry", filter, EMPTY_LIST)).message).toMatch(/^6100000202/);
});
