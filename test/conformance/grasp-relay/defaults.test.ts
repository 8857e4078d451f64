import { expect } from "vitest";
import { note, now } from "../../kit/event-builder.ts";
import { DEFAULT_LIMITS, defaultSettings } from "../../kit/server-under-test.ts";
import { conformance } from "../suite.ts";

/** What an operator gets who sets no limit: figures that peers rely on and that are never lower (3.3). */
const { proves } = conformance({ env: DEFAULT_LIMITS, timeoutMs: 180_000 });

const KIB = 1024;
const MIB = 1024 * KIB;

proves("GRASP:3.3/default-event", "an event of 192 KiB is accepted and served whole", async (t) => {
  const client = await t.connect();
  const empty = JSON.stringify(note(t.alice, "")).length;
  const patch = note(t.alice, "x".repeat(192 * KIB - empty));
  await t.accepted(client, patch);
  expect((await client.request({ ids: [patch.id] })).events).toEqual([patch]);
});

proves("GRASP:3.3/default-message", "a message of 5 MiB is read", async (t) => {
  expect(Number(t.info.limitation?.["max_message_length"])).toBeGreaterThanOrEqual(5 * MIB);
  const client = await t.connect();
  const bare = '["REQ","big",{"limit":0}]';
  client.send(bare.replace("]", `${" ".repeat(5 * MIB - bare.length)}]`));
  expect((await client.collect("big")).eose).toBe(true);
});

proves("GRASP:3.3/default-subscriptions", "500 subscriptions can be open and all of them are served", async (t) => {
  expect(Number(t.info.limitation?.["max_subscriptions"])).toBeGreaterThanOrEqual(500);
  const client = await t.connect();
  for (let n = 0; n < 500; n++) client.say("REQ", `sub${n}`, { authors: [t.alice.pubkey], limit: 0 });
  for (let n = 0; n < 500; n++) await client.nextVerb("EOSE", `sub${n}`);
  const event = note(t.alice, "to all");
  await t.accepted(await t.connect(), event);
  for (let n = 0; n < 500; n++) expect((await client.nextEvent(`sub${n}`)).id).toBe(event.id);
});

proves(
  "GRASP:3.3/default-events GRASP:3.3/default-results",
  "600 events in a minute are accepted, and 500 come back for one filter",
  async (t) => {
    expect(Number(t.info.limitation?.["max_limit"])).toBeGreaterThanOrEqual(500);
    expect(Number(t.info.limitation?.["default_limit"])).toBeGreaterThanOrEqual(500);
    const client = await t.connect();
    const at = now() - 10_000;
    const events = Array.from({ length: 600 }, (_, n) => note(t.alice, `${n}`, { created_at: at + n }));
    for (const event of events) client.say("EVENT", event);
    for (const event of events) expect(await client.nextOk(event.id)).toEqual({ ok: true, message: "" });
    expect(await client.ids({ authors: [t.alice.pubkey] })).toEqual(
      events
        .slice(100)
        .reverse()
        .map((event) => event.id),
    );
  },
);

proves("GRASP:3.3/default-filters", "a REQ may hold 20 filters", async (t) => {
  const client = await t.connect();
  const filters = Array.from({ length: 20 }, (_, n) => ({ kinds: [n], authors: [t.alice.pubkey] }));
  expect((await client.request(...filters)).eose).toBe(true);
});

proves("GRASP:3.3/default-text", "subscriptions may hold about 5 MiB of text", async (t) => {
  const client = await t.connect();
  // Eleven of 450 KiB: just below 5 MiB with all that is around them.
  for (let n = 0; n < 11; n++) {
    const values = Array.from({ length: 45 }, (_, v) => `${n}-${v}-`.padEnd(10 * KIB, "x"));
    expect((await client.subscribe(`s${n}`, { "#t": values, limit: 0 })).eose, `subscription ${n}`).toBe(true);
  }
});

proves("GRASP:3.3/default-neg-sessions", "10 reconciliations can be open", async (t) => {
  const client = await t.connect();
  for (let n = 0; n < 10; n++) expect((await client.negOpen(`n${n}`, { kinds: [n] }, "6100000200")).error).toBeUndefined();
  for (let n = 0; n < 10; n++) expect((await client.negMsg(`n${n}`, "6100000200")).error).toBeUndefined();
});

proves("GRASP:3.3/default-queries", "1,200 queries in a minute are answered", async (t) => {
  const client = await t.connect();
  for (let n = 0; n < 1_200; n++) expect((await client.subscribe("q", { ids: ["0".repeat(64)] })).eose, `query ${n}`).toBe(true);
});

proves("GRASP:3.3/default-messages", "6,000 messages in a minute are read", async (t) => {
  const client = await t.connect();
  for (let n = 0; n < 5_998; n++) client.say("CLOSE", `never ${n}`);
  await client.roundTrip();
  expect(client.notices()).toEqual([]);
});

proves("GRASP:3.3/ping GRASP:3.3/ping-drop", "a client is pinged after 25 s and dropped 20 s later, unless told otherwise", async () => {
  const defaults = await defaultSettings();
  expect([defaults.get("idle-ping"), defaults.get("pong-timeout")]).toEqual(["25s", "20s"]);
});
