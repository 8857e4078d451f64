import { expect } from "vitest";
import { note, now, sign, type WireEvent } from "../../kit/event-builder.ts";
import type { RelayClient } from "../../kit/relay-client.ts";
import { conformance, type Exchange } from "../suite.ts";

const { proves } = conformance();

/** Nine events of two keys over nine seconds, oldest first. */
async function shelf(t: Exchange, client: RelayClient): Promise<readonly WireEvent[]> {
  const at = now() - 1000;
  const events = Array.from({ length: 9 }, (_, n) =>
    sign(n % 2 === 0 ? t.alice : t.bob, {
      kind: n % 3 === 0 ? 1000 : 1001,
      content: `event ${n}`,
      created_at: at + n,
      tags: [
        ["t", `n${n}`],
        ["t", n < 5 ? "low" : "high"],
        ["p", n % 2 === 0 ? t.carol.pubkey : t.mallory.pubkey],
      ],
    }),
  );
  await t.accepted(client, ...events);
  return events;
}

const idsOf = (events: readonly (WireEvent | undefined)[]): readonly (string | undefined)[] => events.map((event) => event?.id);
/** The order of an answer: newest first. */
const newestFirst = (events: readonly WireEvent[]): readonly string[] =>
  events.toSorted((a, b) => b.created_at - a.created_at || (a.id < b.id ? -1 : 1)).map((event) => event.id);

proves("NIP-01:L127-ids NIP-01:L137-stored", "ids returns exactly those events", async (t) => {
  const client = await t.connect();
  const events = await shelf(t, client);
  expect(await client.ids({ ids: [events[3]?.id] })).toEqual([events[3]?.id]);
  const some = [events[1], events[4], events[7]] as WireEvent[];
  expect(await client.ids({ ids: [...idsOf(some), "0".repeat(64)] })).toEqual(newestFirst(some));
  expect((await client.request({ ids: [events[3]?.id] })).events, "as it was published").toEqual([events[3]]);
});

proves("NIP-01:L128-authors", "authors returns events of these keys only", async (t) => {
  const client = await t.connect();
  const events = await shelf(t, client);
  const byAlice = events.filter((event) => event.pubkey === t.alice.pubkey);
  expect(await client.ids({ authors: [t.alice.pubkey] })).toEqual(newestFirst(byAlice));
  expect(await client.ids({ authors: [t.alice.pubkey, t.bob.pubkey] })).toEqual(newestFirst(events));
  expect(await client.ids({ authors: [t.carol.pubkey] })).toEqual([]);
});

proves("NIP-01:L129-kinds", "kinds returns events of these kinds only", async (t) => {
  const client = await t.connect();
  const events = await shelf(t, client);
  const authors = [t.alice.pubkey, t.bob.pubkey];
  expect(await client.ids({ kinds: [1000], authors })).toEqual(newestFirst(events.filter((event) => event.kind === 1000)));
  expect(await client.ids({ kinds: [1000, 1001], authors })).toEqual(newestFirst(events));
  expect(await client.ids({ kinds: [1002], authors })).toEqual([]);
});

proves("NIP-01:L130-tags", "a tag condition returns events with that value only", async (t) => {
  const client = await t.connect();
  const events = await shelf(t, client);
  const authors = [t.alice.pubkey, t.bob.pubkey];
  expect(await client.ids({ "#t": ["low"], authors })).toEqual(newestFirst(events.slice(0, 5)));
  expect(await client.ids({ "#p": [t.carol.pubkey] })).toEqual(newestFirst(events.filter((_, n) => n % 2 === 0)));
  expect(await client.ids({ "#t": ["n3"], authors })).toEqual([events[3]?.id]);
  expect(await client.ids({ "#t": ["lo"], authors }), "no prefixes").toEqual([]);
  expect(await client.ids({ "#t": ["LOW"], authors }), "case matters").toEqual([]);
});

proves("NIP-01:L131-since NIP-01:L132-until NIP-01:L143-range", "since and until are inclusive", async (t) => {
  const client = await t.connect();
  const events = await shelf(t, client);
  const authors = [t.alice.pubkey, t.bob.pubkey];
  const at = (n: number): number => events[n]?.created_at ?? 0;
  expect(await client.ids({ authors, since: at(6) })).toEqual(newestFirst(events.slice(6)));
  expect(await client.ids({ authors, until: at(2) })).toEqual(newestFirst(events.slice(0, 3)));
  expect(await client.ids({ authors, since: at(2), until: at(4) })).toEqual(newestFirst(events.slice(2, 5)));
  expect(await client.ids({ authors, since: at(4), until: at(4) })).toEqual([events[4]?.id]);
  expect(await client.ids({ authors, since: at(5), until: at(4) })).toEqual([]);
});

proves("NIP-01:L139-any-value", "one value of a list is enough, and tag lists need one in common", async (t) => {
  const client = await t.connect();
  const events = await shelf(t, client);
  const authors = [t.alice.pubkey, t.bob.pubkey];
  expect(await client.ids({ authors, "#t": ["n1", "n8", "absent"] })).toEqual(newestFirst([events[1], events[8]] as WireEvent[]));
  expect(await client.ids({ authors, "#t": ["n1", "low"] }), "an event that has both comes once").toEqual(newestFirst(events.slice(0, 5)));
});

proves("NIP-01:L141-exact-hex", "prefixes and upper case of ids and keys match nothing", async (t) => {
  const client = await t.connect();
  const [event] = await shelf(t, client);
  const id = event?.id ?? "";
  const filters = [
    { ids: [id.slice(0, 63)] },
    { ids: [id.slice(0, 8)] },
    { ids: [id.toUpperCase()] },
    { authors: [t.alice.pubkey.slice(0, 16)] },
    { authors: [t.alice.pubkey.toUpperCase()] },
    { "#p": [t.carol.pubkey.slice(0, 32)], authors: [t.alice.pubkey] },
    { "#p": [t.carol.pubkey.toUpperCase()], authors: [t.alice.pubkey] },
    { "#e": ["xyz"], authors: [t.alice.pubkey] },
  ];
  for (const filter of filters) {
    const answer = await client.request(filter);
    expect(answer.events, JSON.stringify(filter)).toEqual([]);
    if (answer.closed !== undefined) expect(answer.closed).toMatch(/^(invalid|error|unsupported): /);
  }
});

proves("NIP-01:L145-and", "all conditions of a filter must hold", async (t) => {
  const client = await t.connect();
  const events = await shelf(t, client);
  const at = (n: number): number => events[n]?.created_at ?? 0;
  const expected = events.filter((event, n) => event.pubkey === t.alice.pubkey && event.kind === 1001 && n < 5);
  expect(await client.ids({ authors: [t.alice.pubkey], kinds: [1001], "#t": ["low"], since: at(0), until: at(8) })).toEqual(
    newestFirst(expected),
  );
  expect(await client.ids({ "#t": ["low"], "#p": [t.mallory.pubkey] }), "two tags").toEqual(
    newestFirst([events[1], events[3]] as WireEvent[]),
  );
  expect(await client.ids({ ids: [events[0]?.id], authors: [t.bob.pubkey] })).toEqual([]);
  expect(await client.ids({ ids: [events[0]?.id], kinds: [1001] })).toEqual([]);
  expect(await client.ids({ ids: [events[0]?.id], since: at(1) })).toEqual([]);
  expect(await client.ids({ ids: [events[0]?.id], "#t": ["n1"] })).toEqual([]);
});

proves("NIP-01:L147-or", "events that match any filter are returned, each once", async (t) => {
  const client = await t.connect();
  const events = await shelf(t, client);
  const ids = await client.ids({ ids: [events[2]?.id] }, { "#t": ["n2"], authors: [t.alice.pubkey] }, { ids: [events[5]?.id] });
  expect(ids).toHaveLength(2);
  expect(new Set(ids)).toEqual(new Set([events[2]?.id, events[5]?.id]));
});

proves("NIP-01:L133-limit NIP-01:L149-limit-newest NIP-01:L149-limit-guide", "a limit returns that many of the newest", async (t) => {
  const client = await t.connect();
  const events = await shelf(t, client);
  const authors = [t.alice.pubkey, t.bob.pubkey];
  for (const limit of [1, 3, 8]) expect(await client.ids({ authors, limit })).toEqual(newestFirst(events.slice(-limit)));
  expect(await client.ids({ authors, limit: 100 })).toEqual(newestFirst(events));
  expect(await client.ids({ authors, limit: 2, until: events[4]?.created_at })).toEqual(newestFirst(events.slice(3, 5)));
  expect((await client.subscribe("none", { authors, limit: 0 })).events, "a limit of 0 asks for live events only").toEqual([]);
});

proves("NIP-01:L149-order NIP-01:L149-tie-order", "newest first, and within a second the lower id", async (t) => {
  const client = await t.connect();
  const at = now() - 500;
  // Published in an order that is neither that of time nor that of ids.
  const events = [3, 1, 2, 1, 1, 2, 3, 0].map((second, n) => note(t.alice, `${n}`, { created_at: at + second }));
  await t.accepted(client, ...events);
  expect(await client.ids({ authors: [t.alice.pubkey] })).toEqual(newestFirst(events));
  expect(await client.ids({ authors: [t.alice.pubkey], limit: 4 })).toEqual(newestFirst(events).slice(0, 4));
  expect(await client.ids({ authors: [t.alice.pubkey], kinds: [1, 2], limit: 6 })).toEqual(newestFirst(events).slice(0, 6));
});
