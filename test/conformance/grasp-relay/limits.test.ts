import { expect } from "vitest";
import { note } from "../../kit/event-builder.ts";
import { expectHarmlessWords } from "../answers.ts";
import { namesNothing } from "../nip-77/by-hand.ts";
import { conformance } from "../suite.ts";

const { proves } = conformance({
  env: {
    HOLDFAST_MAX_SUBSCRIPTIONS: "4",
    HOLDFAST_MAX_FILTERS: "3",
    HOLDFAST_MAX_FILTER_VALUES: "10",
    HOLDFAST_MAX_RESULTS: "5",
    HOLDFAST_MAX_NEGENTROPY_SESSIONS: "2",
    HOLDFAST_MAX_NEGENTROPY_ITEMS: "8",
    HOLDFAST_MAX_SUBSCRIPTION_BYTES: "65536",
  },
});

/** Refusals for good are `invalid`; what passes when the client does less is `rate-limited`. */
const REFUSED = /^(invalid|rate-limited): /;

proves(
  "GRASP:3.3/subscriptions GRASP:3.4/overload GRASP:3.4/closed-words",
  "one subscription too many is rate-limited, and the others live on",
  async (t) => {
    expect(t.info.limitation?.["max_subscriptions"]).toBe(4);
    const client = await t.connect();
    for (const sub of ["a", "b", "c", "d"]) expect((await client.subscribe(sub, { authors: [t.alice.pubkey] })).eose).toBe(true);
    expect((await client.subscribe("e", { authors: [t.alice.pubkey] })).closed).toMatch(/^rate-limited: /);
    const event = note(t.alice, "x");
    await t.accepted(client, event);
    for (const sub of ["a", "b", "c", "d"]) expect((await client.nextEvent(sub)).id).toBe(event.id);
    expect(client.seen("e")).toEqual([]);
    const other = await t.connect();
    expect((await other.subscribe("a", { limit: 0 })).eose, "another connection has its own").toBe(true);
    client.say("CLOSE", "a");
    expect((await client.subscribe("e", { limit: 0 })).eose, "closing makes room").toBe(true);
    expectHarmlessWords(client);
  },
);

proves("GRASP:3.3/filters", "as many filters as allowed, and no more", async (t) => {
  const client = await t.connect();
  const filters = (count: number): object[] => Array.from({ length: count }, (_, n) => ({ kinds: [n], limit: 0 }));
  expect((await client.request(...filters(3))).eose).toBe(true);
  expect((await client.request(...filters(4))).closed).toMatch(REFUSED);
  expect((await client.count(...filters(3))).result).toBeDefined();
  expect((await client.count(...filters(4))).closed).toMatch(REFUSED);
  expectHarmlessWords(client);
});

proves("GRASP:3.3/tag-values GRASP:3.3/query-cost", "the values of all lists of a REQ are counted together", async (t) => {
  const client = await t.connect();
  const values = (count: number, start = 0): string[] => Array.from({ length: count }, (_, n) => `v${start + n}`);
  expect((await client.request({ "#t": values(10) })).eose).toBe(true);
  expect((await client.request({ "#t": values(11) })).closed).toMatch(REFUSED);
  expect((await client.request({ "#t": values(6), "#r": values(6) })).closed, "two tags").toMatch(REFUSED);
  expect((await client.request({ "#t": values(6) }, { "#t": values(6, 6) })).closed, "two filters").toMatch(REFUSED);
  expect((await client.request({ kinds: Array.from({ length: 11 }, (_, n) => n) })).closed, "kinds").toMatch(REFUSED);
  const keys = Array.from({ length: 11 }, (_, n) => n.toString(16).padStart(64, "0"));
  for (const list of ["ids", "authors", "#e"]) expect((await client.request({ [list]: keys })).closed, list).toMatch(REFUSED);
  expect((await client.count({ authors: keys })).closed, "COUNT").toMatch(REFUSED);
  expect((await client.negOpen("n", { authors: keys }, "6100000200")).error, "NEG-OPEN").toMatch(REFUSED);
  expectHarmlessWords(client);
});

proves("GRASP:3.3/query-cost", "a filter brings no more results than allowed, each filter of its own", async (t) => {
  const client = await t.connect();
  const [hers, his] = [t.alice, t.bob].map((who) =>
    Array.from({ length: 7 }, (_, n) => note(who, `${n}`, { created_at: 1_700_000_000 + n })),
  );
  await t.accepted(client, ...(hers ?? []), ...(his ?? []));
  expect(await client.ids({ authors: [t.alice.pubkey] })).toEqual(
    hers
      ?.slice(2)
      .reverse()
      .map((event) => event.id),
  );
  expect(await client.ids({ authors: [t.alice.pubkey], limit: 100 })).toHaveLength(5);
  expect(await client.ids({ authors: [t.alice.pubkey] }, { authors: [t.bob.pubkey] })).toHaveLength(10);
  expect((await client.count({ authors: [t.alice.pubkey] })).result, "a count is not cut").toMatchObject({ count: 7 });
});

proves("GRASP:3.3/neg-sessions GRASP:3.4/neg-err-only", "one reconciliation too many is rate-limited by NEG-ERR", async (t) => {
  const client = await t.connect();
  const filter = { authors: [t.carol.pubkey] };
  const opens = async (sub: string): Promise<boolean> => namesNothing((await client.negOpen(sub, filter, "6100000200")).message);
  for (const sub of ["a", "b"]) expect(await opens(sub)).toBe(true);
  expect((await client.negOpen("c", filter, "6100000200")).error).toMatch(/^rate-limited: /);
  expect(namesNothing((await client.negMsg("a", "6100000200")).message), "the others live on").toBe(true);
  expect(await opens("a"), "an open one can be replaced").toBe(true);
  client.negClose("a");
  expect(await opens("c")).toBe(true);
  expect(client.notices()).toEqual([]);
});

proves(
  "GRASP:3.3/query-cost GRASP:3.4/neg-err-only",
  "a reconciliation over too many events is refused, a narrower one is not",
  async (t) => {
    const client = await t.connect();
    const events = Array.from({ length: 10 }, (_, n) => note(t.alice, `${n}`, { created_at: 1_700_000_000 + n }));
    await t.accepted(client, ...events);
    expect((await client.negOpen("wide", { authors: [t.alice.pubkey] }, "6100000200")).error).toMatch(/^[a-z-]+: ./);
    expect((await client.negOpen("narrow", { authors: [t.alice.pubkey], since: 1_700_000_005 }, "6100000200")).message).toMatch(
      /^6100000205/,
    );
    expect(client.notices()).toEqual([]);
  },
);

proves("GRASP:3.3/subscription-text", "the text of all open subscriptions is counted together", async (t) => {
  const client = await t.connect();
  const filter = (fill: string): object => ({ "#t": [fill.repeat(30_000)], limit: 0 });
  expect((await client.subscribe("a", filter("a"))).eose).toBe(true);
  expect((await client.subscribe("b", filter("b"))).eose).toBe(true);
  expect((await client.subscribe("c", filter("c"))).closed).toMatch(REFUSED);
  client.say("CLOSE", "a");
  expect((await client.subscribe("c", filter("c"))).eose, "closing makes room").toBe(true);
  expectHarmlessWords(client);
});
