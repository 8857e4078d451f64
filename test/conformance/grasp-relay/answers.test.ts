import { expect } from "vitest";
import { deletion, note, now, sign, tied, vanish } from "../../kit/event-builder.ts";
import { OUR_PREFIX } from "../answers.ts";
import { namesNothing } from "../nip-77/by-hand.ts";
import { conformance } from "../suite.ts";

const { proves } = conformance();

const YEAR = 31_557_600;

proves("GRASP:3.7/stored GRASP:3.7/duplicate", "a stored event's text is empty, a known one's says so", async (t) => {
  t.needsOpenWrites();
  t.needsOpenWrites();
  const [client, other] = [await t.connect(), await t.connect()];
  const event = note(t.alice, "x");
  expect(await client.publish(event)).toEqual({ ok: true, message: "" });
  for (const again of [client, other]) {
    expect(await again.publish(event)).toEqual({ ok: true, message: "duplicate: already have this event" });
  }
});

proves("GRASP:3.7/duplicate", "a known event is not sent to subscribers again", async (t) => {
  const [client, reader] = [await t.connect(), await t.connect()];
  await reader.subscribe("live", { authors: [t.alice.pubkey] });
  const [first, second] = [note(t.alice, "1"), note(t.alice, "2")];
  for (const event of [first, first, second]) await client.publish(event);
  await reader.next((m) => m[0] === "EVENT" && (m[2] as { id: string }).id === second.id, "second event");
  expect(reader.seen("live")).toEqual([first.id, second.id]);
});

for (const { kind, tags } of [
  { kind: 0, tags: [] },
  {
    kind: 30_617,
    tags: [
      ["d", "repo"],
      ["clone", "https://git.example/x.git"],
      ["relays", "wss://relay.example"],
    ],
  },
]) {
  proves(
    "GRASP:3.7/superseded GRASP:3.2/tie-everywhere",
    `kind ${kind}: a stale version is OK true and says so, also when only its id loses`,
    async (t) => {
      t.needsOpenWrites();
      const [client, reader] = [await t.connect(), await t.connect()];
      await reader.subscribe("live", { authors: [t.alice.pubkey] });
      const at = now() - 50;
      const [lower, higher] = tied(t.alice, { kind, tags, created_at: at });
      const older = sign(t.alice, { kind, tags, content: "older", created_at: at - 1 });
      const superseded = { ok: true, message: "duplicate: superseded by a newer event" };
      expect(await client.publish(lower)).toEqual({ ok: true, message: "" });
      expect(await client.publish(higher)).toEqual(superseded);
      expect(await client.publish(older)).toEqual(superseded);
      expect(await client.ids({ kinds: [kind], authors: [t.alice.pubkey] })).toEqual([lower.id]);
      const newer = sign(t.alice, { kind, tags, content: "newer", created_at: at + 1 });
      expect(await client.publish(newer)).toEqual({ ok: true, message: "" });
      expect(await client.publish(lower), "the former winner").toEqual(superseded);
      await reader.next((m) => m[0] === "EVENT" && (m[2] as { id: string }).id === newer.id, "newer version");
      expect(reader.seen("live"), "the losers are not broadcast").toEqual([lower.id, newer.id]);
    },
  );
}

proves("GRASP:3.2/tie-everywhere", "a lower id that comes second takes the place", async (t) => {
  t.needsOpenWrites();
  const [client, reader] = [await t.connect(), await t.connect()];
  await reader.subscribe("live", { authors: [t.alice.pubkey] });
  const [lower, higher] = tied(t.alice, { kind: 10_002 });
  expect(await client.publish(higher)).toEqual({ ok: true, message: "" });
  expect(await client.publish(lower)).toEqual({ ok: true, message: "" });
  expect([await reader.nextEvent("live"), await reader.nextEvent("live")]).toEqual([higher, lower]);
  expect(await client.ids({ authors: [t.alice.pubkey] })).toEqual([lower.id]);
  expect((await client.count({ authors: [t.alice.pubkey] })).result).toMatchObject({ count: 1 });
  expect((await client.negOpen("n", { authors: [t.alice.pubkey] }, "6100000200")).message).toBe(`6100000201${lower.id}`);
});

proves("GRASP:3.7/deleted", "a deleted event is refused in the agreed words, by id and by address", async (t) => {
  const client = await t.connect();
  const refused = { ok: false, message: "invalid: this event is deleted" };
  const event = note(t.alice, "x", { created_at: now() - 9 });
  const version = sign(t.alice, { kind: 30_023, tags: [["d", "a"]], created_at: now() - 9 });
  await t.accepted(client, event, version, deletion(t.alice, [event.id, `30023:${t.alice.pubkey}:a`]));
  expect(await client.publish(event)).toEqual(refused);
  expect(await client.publish(version)).toEqual(refused);
});

proves("GRASP:3.7/vanished", "an event of a vanished key is refused in the agreed words", async (t) => {
  const client = await t.connect();
  const event = note(t.alice, "x", { created_at: now() - 9 });
  await t.accepted(client, event, vanish(t.alice, [t.server.url]));
  expect(await client.publish(event)).toEqual({ ok: false, message: "invalid: this pubkey has requested to vanish" });
});

proves("GRASP:3.6/deletion", "deletion and vanish requests are taken from everybody", async (t) => {
  const client = await t.connect();
  const event = note(t.alice, "x", { created_at: now() - 9 });
  await t.accepted(client, event);
  expect(await client.publish(deletion(t.alice, [event.id]))).toEqual({ ok: true, message: "" });
  expect(await client.publish(deletion(t.bob, [event.id])), "one that can do nothing").toMatchObject({ ok: true });
  expect(await client.publish(vanish(t.carol, ["ALL_RELAYS"]))).toMatchObject({ ok: true });
});

proves(
  "GRASP:3.2/created-at-range GRASP:3.2/no-future-limit",
  "every time from 0 to 2^53-1 is accepted and ordered, others are refused",
  async (t) => {
    const client = await t.connect();
    const times = [0, 1, 1_000_000_000, now() + 10 * YEAR, 2 ** 32, 2 ** 53 - 1];
    const events = times.map((created_at) => note(t.alice, `${created_at}`, { created_at }));
    await t.accepted(client, ...events);
    expect(await client.ids({ authors: [t.alice.pubkey] })).toEqual(events.map((event) => event.id).toReversed());
    expect(await client.ids({ authors: [t.alice.pubkey], since: 2 ** 53 - 1 })).toEqual([events.at(-1)?.id]);
    expect(await client.ids({ authors: [t.alice.pubkey], until: 0 })).toEqual([events[0]?.id]);
    for (const created_at of [-1, 1.5, 2 ** 53, 2 ** 64, 1e300]) {
      const { ok, message } = await client.publish(note(t.alice, "x", { created_at }));
      expect(ok, `${created_at}`).toBe(false);
      expect(message).toMatch(/^invalid: /);
    }
  },
);

proves("GRASP:3.2/no-future-limit", "a version from the future wins over one of today", async (t) => {
  const client = await t.connect();
  const future = sign(t.alice, { kind: 30_023, tags: [["d", "x"]], created_at: now() + YEAR });
  const today = sign(t.alice, { kind: 30_023, tags: [["d", "x"]] });
  await t.accepted(client, today, future);
  expect(await client.ids({ authors: [t.alice.pubkey] })).toEqual([future.id]);
});

proves("GRASP:3.2/ephemeral", "ephemeral events are broadcast to all who ask, OK'd, and found nowhere", async (t) => {
  t.needsOpenWrites();
  const [client, one, two] = [await t.connect(), await t.connect(), await t.connect()];
  const event = sign(t.alice, { kind: 25_555, content: "psst", tags: [["t", "x"]] });
  await one.subscribe("kind", { kinds: [25_555], authors: [t.alice.pubkey] });
  await two.subscribe("tag", { "#t": ["x"], authors: [t.alice.pubkey] });
  expect(await client.publish(event)).toMatchObject({ ok: true });
  expect([await one.nextEvent("kind"), await two.nextEvent("tag")]).toEqual([event, event]);
  expect(await client.ids({ authors: [t.alice.pubkey] })).toEqual([]);
  expect((await client.count({ authors: [t.alice.pubkey] })).result).toMatchObject({ count: 0 });
  expect(namesNothing((await client.negOpen("n", { authors: [t.alice.pubkey] }, "6100000200")).message)).toBe(true);
});

proves("GRASP:3.2/refusal-prefix", "every refusal has one of the eight prefixes", async (t) => {
  t.needsOpenWrites();
  const client = await t.connect();
  const event = note(t.alice, "x");
  const refusals = [
    (await client.publish({ ...event, sig: "0".repeat(128) })).message,
    (await client.publish({ ...event, content: "y" })).message,
    (await client.publish(sign(t.alice, { kind: 65_536 }))).message,
    (await client.publish(note(t.alice, "p", { tags: [["-"]] }))).message,
    (await client.publish(note(t.alice, "e", { tags: [["expiration", "1"]] }))).message,
    (await client.publish(sign(t.alice, { kind: 22_242 }))).message,
    (await client.request({ kinds: ["1"] })).closed,
    (await client.request({ ids: ["abc"] })).closed ?? "error: (an empty answer is fine too)",
    (await client.count({ since: {} })).closed,
  ];
  expect(refusals.filter((text) => !OUR_PREFIX.test(text ?? ""))).toEqual([]);
});
