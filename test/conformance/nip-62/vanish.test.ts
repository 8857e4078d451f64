import { expect } from "vitest";
import { deletion, note, now, sign, vanish } from "../../kit/event-builder.ts";
import { conformance, type Exchange } from "../suite.ts";

const { proves } = conformance();

async function furnished(t: Exchange) {
  const client = await t.connect();
  const at = now() - 1000;
  const gone = note(t.alice, "deleted before", { created_at: at });
  const events = [
    note(t.alice, "note", { created_at: at + 1, tags: [["t", "mine"]] }),
    sign(t.alice, { kind: 0, content: "{}", created_at: at + 2 }),
    sign(t.alice, { kind: 30_023, tags: [["d", "post"]], created_at: at + 3 }),
    deletion(t.alice, [gone.id], { created_at: at + 4 }),
  ];
  const others = note(t.bob, "reply", { created_at: at + 5, tags: [["p", t.alice.pubkey]] });
  await t.accepted(client, gone, ...events, others);
  return { client, at, gone, events, others };
}

proves(
  "NIP-62:L31-named NIP-62:L9-truly NIP-62:L13-until",
  "a request that names this relay removes everything of the key from every view",
  async (t) => {
    const { client, events, others } = await furnished(t);
    const request = vanish(t.alice, [t.server.url], { content: "bye" });
    await t.accepted(client, request);
    const ids = events.map((event) => event.id);
    expect(await client.ids({ ids })).toEqual([]);
    const byKey = await client.ids({ authors: [t.alice.pubkey] });
    expect(
      byKey.filter((id) => id !== request.id),
      "the request itself may be kept",
    ).toEqual([]);
    expect(await client.ids({ kinds: [5], authors: [t.alice.pubkey] }), "deletion requests included").toEqual([]);
    expect(await client.ids({ "#t": ["mine"], authors: [t.alice.pubkey] })).toEqual([]);
    expect(await client.ids({ ids: [others.id] }), "other people's stay").toEqual([others.id]);
    if (t.info.supported_nips?.includes(45)) {
      expect((await client.count({ authors: [t.alice.pubkey], kinds: [0, 1, 5, 30_023] })).result).toMatchObject({ count: 0 });
    }
  },
);

proves("NIP-62:L47-all-relays", "ALL_RELAYS means this one too", async (t) => {
  const { client, events } = await furnished(t);
  await t.accepted(client, vanish(t.alice, ["ALL_RELAYS"]));
  expect(await client.ids({ ids: events.map((event) => event.id) })).toEqual([]);
});

proves("NIP-62:L31-not-named", "a request to another relay changes nothing here", async (t) => {
  const { client, events } = await furnished(t);
  for (const relay of ["wss://other.example", "all_relays"]) {
    await client.publish(vanish(t.alice, [relay]));
    expect((await client.ids({ ids: events.map((event) => event.id) })).toSorted(), relay).toEqual(
      events.map((event) => event.id).toSorted(),
    );
  }
  const mixed = vanish(t.alice, ["wss://other.example", t.server.url]);
  await t.accepted(client, mixed);
  expect(await client.ids({ ids: events.map((event) => event.id) }), "one of several names is enough").toEqual([]);
});

proves("NIP-62:L27-relay-tag", "a request without a relay value changes nothing", async (t) => {
  const { client, events } = await furnished(t);
  for (const tags of [[], [["relay"]], [["relay", ""]], [["r", "ALL_RELAYS"]]]) {
    await client.publish(sign(t.alice, { kind: 62, tags }));
    expect(await client.ids({ ids: events.map((event) => event.id) }), JSON.stringify(tags)).toHaveLength(events.length);
  }
});

proves("NIP-62:L35-no-return NIP-62:L13-later-stays", "vanished events cannot come back, later ones are welcome", async (t) => {
  const { client, at, gone, events } = await furnished(t);
  const request = vanish(t.alice, [t.server.url], { created_at: at + 100 });
  await t.accepted(client, request);
  const unseen = note(t.alice, "older, never seen here", { created_at: at + 50 });
  const sameSecond = note(t.alice, "the same second", { created_at: at + 100 });
  for (const event of [gone, ...events, unseen, sameSecond]) {
    const { ok, message } = await client.publish(event);
    // A relay that remembers the request it once obeyed may call it known; what counts is that nothing is served again.
    expect(message, `kind ${event.kind}`).toMatch(ok ? /^duplicate: / : /^[a-z-]+: /);
  }
  expect(await client.ids({ ids: [...events, gone, unseen, sameSecond].map((event) => event.id) })).toEqual([]);
  const later = note(t.alice, "a new life", { created_at: at + 101 });
  await t.accepted(client, later);
  expect(await client.ids({ ids: [later.id] })).toEqual([later.id]);
});

proves("NIP-62:L33-gift-wraps", "gift wraps to the key go too", async (t) => {
  const client = await t.connect();
  const at = now() - 100;
  const wrap = (to: string) => sign(t.mallory, { kind: 1059, content: "sealed", tags: [["p", to]], created_at: at });
  const [toAlice, toBob] = [wrap(t.alice.pubkey), wrap(t.bob.pubkey)];
  await t.accepted(client, toAlice, toBob);
  await t.accepted(client, vanish(t.alice, [t.server.url]));
  expect(await client.ids({ ids: [toAlice.id, toBob.id] })).toEqual([toBob.id]);
});

proves("NIP-62:L41-no-undo", "deleting the request does not undo it", async (t) => {
  const { client, events } = await furnished(t);
  const request = vanish(t.alice, [t.server.url], { created_at: now() - 10 });
  await t.accepted(client, request);
  await client.publish(deletion(t.alice, [request.id]));
  for (const event of events) await client.publish(event);
  expect(await client.ids({ ids: events.map((event) => event.id) })).toEqual([]);
});

proves("NIP-62:L31-named", "somebody else cannot make a key vanish", async (t) => {
  const { client, events } = await furnished(t);
  const forged = { ...vanish(t.mallory, [t.server.url]), pubkey: t.alice.pubkey };
  expect((await client.publish(forged)).ok).toBe(false);
  await t.accepted(client, vanish(t.mallory, [t.server.url], { tags: [["p", t.alice.pubkey]] }));
  expect(await client.ids({ ids: events.map((event) => event.id) })).toHaveLength(events.length);
});
