import { expect } from "vitest";
import { auth, note, protectedNote, sign } from "../../kit/event-builder.ts";
import { conformance, type Exchange } from "../suite.ts";

const { proves } = conformance();

async function authenticated(t: Exchange, who = t.alice) {
  const client = await t.connect();
  await client.publish(protectedNote(t.carol, "provoke a challenge"));
  const challenge = client.received.findLast((m) => m[0] === "AUTH");
  if (challenge === undefined) t.skip("this relay refuses protected events outright");
  const event = auth(who, t.server.url, String(challenge[1]));
  client.say("AUTH", event);
  expect(await client.nextOk(event.id)).toMatchObject({ ok: true });
  return client;
}

proves("NIP-70:L13-default", "a protected event is refused from somebody who has not authenticated", async (t) => {
  const [client, reader] = [await t.connect(), await t.connect()];
  await reader.subscribe("live", { authors: [t.alice.pubkey] });
  const event = protectedNote(t.alice, "members only");
  const { ok, message } = await client.publish(event);
  expect(ok).toBe(false);
  expect(message).toMatch(/^(auth-required|blocked|restricted|invalid): /);
  expect(await client.ids({ ids: [event.id] })).toEqual([]);
  const plain = note(t.alice, "plain");
  await t.accepted(client, plain);
  expect((await reader.nextEvent("live")).id).toBe(plain.id);
});

proves("NIP-70:L15-author-only", "its authenticated author may publish it, another key may not", async (t) => {
  const client = await authenticated(t);
  const event = protectedNote(t.alice, "mine");
  await t.accepted(client, event);
  expect(await client.ids({ ids: [event.id] })).toEqual([event.id]);
  const bobs = protectedNote(t.bob, "bob's, by alice");
  expect((await client.publish(bobs)).ok).toBe(false);
  const pirate = await authenticated(t, t.mallory);
  const another = protectedNote(t.alice, "alice's, by mallory");
  expect((await pirate.publish(another)).ok).toBe(false);
  expect(await client.ids({ ids: [bobs.id, another.id] })).toEqual([]);
});

proves("NIP-70:L15-author-only", "the tag counts wherever it stands", async (t) => {
  const client = await t.connect();
  const last = note(t.alice, "x", { tags: [["t", "a"], ["p", t.bob.pubkey], ["-"]] });
  expect((await client.publish(last)).ok).toBe(false);
  const lookalike = note(t.alice, "y", { tags: [["t", "-"], ["--"]] });
  await t.accepted(client, lookalike);
});

for (const kind of [6, 16]) {
  proves("NIP-70:L17-repost", `kind ${kind}: a repost that embeds a protected event is refused, from its author too`, async (t) => {
    const client = await authenticated(t, t.mallory);
    const secret = protectedNote(t.alice, "not for spreading");
    const tags = [
      ["e", secret.id],
      ["p", t.alice.pubkey],
    ];
    const embedding = sign(t.mallory, { kind, tags, content: JSON.stringify(secret) });
    const { ok, message } = await client.publish(embedding);
    expect(ok).toBe(false);
    expect(message).toMatch(/^[a-z-]+: /);
    const bare = sign(t.mallory, { kind, tags, content: "" });
    const harmless = sign(t.mallory, { kind, tags, content: JSON.stringify(note(t.alice, "public")) });
    await t.accepted(client, bare, harmless);
  });
}
