import { expect } from "vitest";
import { note, now } from "../../kit/event-builder.ts";
import { RelayClient, UpgradeRefused } from "../../kit/relay-client.ts";
import { expectWellFormed, STANDARD_PREFIX } from "../answers.ts";
import { conformance } from "../suite.ts";

const { proves } = conformance();

proves("NIP-01:L111-single-endpoint", "an upgrade at another path is refused", async (t) => {
  for (const path of ["/no/such/relay", "/extra"]) {
    const attempt = RelayClient.connect(new URL(path, t.server.url).href);
    await expect(attempt, path).rejects.toBeInstanceOf(UpgradeRefused);
  }
  const client = await t.connect();
  await client.roundTrip();
});

proves("NIP-01:L137-live NIP-01:L157-eose", "stored events, EOSE, then live events on the same subscription", async (t) => {
  const [writer, reader] = [await t.connect(), await t.connect()];
  const old = note(t.alice, "old", { created_at: now() - 50 });
  await t.accepted(writer, old);
  const answer = await reader.subscribe("feed", { authors: [t.alice.pubkey] });
  expect(answer).toEqual({ events: [old], eose: true, closed: undefined });
  const fresh = [note(t.alice, "one"), note(t.alice, "two", { created_at: now() - 100 }), note(t.alice, "three")];
  await t.accepted(writer, note(t.bob, "somebody else's"), ...fresh);
  for (const event of fresh)
    expect(await reader.next((m) => m[0] === "EVENT" && (m[2] as { id: string }).id === event.id, "live event")).toEqual([
      "EVENT",
      "feed",
      event,
    ]);
  expect(reader.seen("feed")).toHaveLength(4);
  expect(reader.received.filter((m) => m[0] === "EOSE")).toHaveLength(1);
});

proves("NIP-01:L137-live", "the publisher's own subscriptions see its events too, and each subscription once", async (t) => {
  const client = await t.connect();
  await client.subscribe("a", { authors: [t.alice.pubkey] }, { kinds: [1], authors: [t.alice.pubkey] });
  await client.subscribe("b", { "#t": ["x"], authors: [t.alice.pubkey] });
  const event = note(t.alice, "x", { tags: [["t", "x"]] });
  await t.accepted(client, event);
  expect((await client.nextEvent("a")).id).toBe(event.id);
  expect((await client.nextEvent("b")).id).toBe(event.id);
  const second = note(t.alice, "y", { tags: [["t", "x"]] });
  await t.accepted(client, second);
  expect((await client.nextEvent("b")).id).toBe(second.id);
  expect((await client.nextEvent("a")).id).toBe(second.id);
  expect(client.seen("a")).toEqual([event.id, second.id]);
});

proves("NIP-01:L137-closed-quiet NIP-01:L119-close", "after CLOSE nothing follows", async (t) => {
  const [writer, reader] = [await t.connect(), await t.connect()];
  await reader.subscribe("gone", { authors: [t.alice.pubkey] });
  await reader.subscribe("stays", { authors: [t.alice.pubkey] });
  reader.say("CLOSE", "gone");
  await reader.roundTrip();
  const event = note(t.alice, "after");
  await t.accepted(writer, event);
  expect((await reader.nextEvent("stays")).id).toBe(event.id);
  await reader.roundTrip();
  expect(reader.seen("gone")).toEqual([]);
});

proves("NIP-01:L137-replaced", "a REQ with an open id replaces it", async (t) => {
  const [writer, reader] = [await t.connect(), await t.connect()];
  await reader.subscribe("same", { authors: [t.alice.pubkey] });
  await reader.subscribe("same", { authors: [t.bob.pubkey] });
  const [byAlice, byBob] = [note(t.alice, "old filter"), note(t.bob, "new filter")];
  await t.accepted(writer, byAlice, byBob);
  expect((await reader.nextEvent("same")).id).toBe(byBob.id);
  await reader.roundTrip();
  expect(reader.seen("same")).toEqual([byBob.id]);
});

proves("NIP-01:L149-limit-initial", "a limit does not end the live part", async (t) => {
  const [writer, reader] = [await t.connect(), await t.connect()];
  await t.accepted(writer, note(t.alice, "s1", { created_at: now() - 20 }), note(t.alice, "s2", { created_at: now() - 10 }));
  const one = await reader.subscribe("one", { authors: [t.alice.pubkey], limit: 1 });
  const none = await reader.subscribe("none", { authors: [t.alice.pubkey], limit: 0 });
  expect([one.events.length, none.events.length, one.eose, none.eose]).toEqual([1, 0, true, true]);
  const live = [note(t.alice, "l1"), note(t.alice, "l2"), note(t.alice, "l3")];
  await t.accepted(writer, ...live);
  for (const sub of ["one", "none"]) {
    const got = [await reader.nextEvent(sub), await reader.nextEvent(sub), await reader.nextEvent(sub)];
    expect(got.map((event) => event.id).toSorted()).toEqual(live.map((event) => event.id).toSorted());
  }
});

proves("NIP-01:L121-subid-64", "ids of one and of 64 characters work, whatever the characters", async (t) => {
  const client = await t.connect();
  for (const sub of ["x", "y".repeat(64), "with space", 'quote"and\\slash', "日本語🦀", "NEG-ERR", "../../etc"]) {
    const answer = await client.subscribe(sub, { ids: ["0".repeat(64)] });
    expect(answer.eose, sub).toBe(true);
    client.say("CLOSE", sub);
  }
});

proves("NIP-01:L121-subid-empty NIP-01:L176-closed", "an empty id is refused and opens nothing", async (t) => {
  const client = await t.connect();
  client.say("REQ", "", { authors: [t.alice.pubkey] });
  const answer = await client.next((m) => m[0] === "CLOSED" || m[0] === "NOTICE" || m[0] === "EOSE", "refusal");
  expect(answer[0]).not.toBe("EOSE");
  await client.subscribe("real", { authors: [t.alice.pubkey] });
  const event = note(t.alice, "x");
  await t.accepted(client, event);
  expect((await client.nextEvent("real")).id).toBe(event.id);
  expect(client.seen("")).toEqual([]);
});

proves("NIP-01:L121-per-connection NIP-01:L163-own-subs", "the same id on two connections is two subscriptions", async (t) => {
  const [one, two, writer] = [await t.connect(), await t.connect(), await t.connect()];
  await one.subscribe("same", { authors: [t.alice.pubkey] });
  await two.subscribe("same", { authors: [t.bob.pubkey] });
  await two.subscribe("only-two", { authors: [t.alice.pubkey] });
  const [byAlice, byBob] = [note(t.alice, "a"), note(t.bob, "b")];
  await t.accepted(writer, byAlice, byBob);
  expect((await one.nextEvent("same")).id).toBe(byAlice.id);
  expect((await two.nextEvent("same")).id).toBe(byBob.id);
  one.say("CLOSE", "same");
  await one.roundTrip();
  const again = note(t.bob, "b2");
  await t.accepted(writer, again);
  expect((await two.nextEvent("same")).id, "closing one does not close the other").toBe(again.id);
  await Promise.all([one.roundTrip(), two.roundTrip(), writer.roundTrip()]);
  expect(one.seen("same")).toEqual([byAlice.id]);
  expect(
    one.received.filter((m) => m[0] === "EVENT" && m[1] !== "same"),
    "no subscription of somebody else",
  ).toEqual([]);
  expect(
    writer.received.filter((m) => m[0] === "EVENT"),
    "who asked for nothing gets nothing",
  ).toEqual([]);
});

proves("NIP-01:L176-closed NIP-01:L176-closed-prefix", "a REQ that cannot be served is answered by CLOSED with a prefix", async (t) => {
  const client = await t.connect();
  for (const filters of [[{ kinds: "1" }], [{ since: "yesterday" }], ["not a filter"]]) {
    const answer = await client.request(...filters);
    expect(answer.closed, JSON.stringify(filters)).toMatch(STANDARD_PREFIX);
  }
  await client.roundTrip();
});

proves("NIP-01:L153-relay-arrays", "everything the relay says is an array of a known form", async (t) => {
  const client = await t.connect();
  await client.subscribe("s", { authors: [t.alice.pubkey] });
  await t.accepted(client, note(t.alice, "x"));
  await client.nextEvent("s");
  await client.publish({ ...note(t.alice, "y"), sig: "3".repeat(128) });
  client.send("not json");
  client.say("WHAT", "is this");
  client.say("REQ", "t", { kinds: "x" });
  client.say("CLOSE", "never opened");
  await client.roundTrip();
  expectWellFormed(client);
});
