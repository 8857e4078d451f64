import { expect } from "vitest";
import { auth, note, now, protectedNote, type Template, type WireEvent } from "../../kit/event-builder.ts";
import type { Actor } from "../../kit/keys.ts";
import type { RelayClient } from "../../kit/relay-client.ts";
import { conformance, type Exchange } from "../suite.ts";

const { proves } = conformance();

/** The challenge that this connection was sent; a relay that sends none by itself is provoked with a protected event. */
async function challenge(t: Exchange, client: RelayClient): Promise<string> {
  await client.publish(protectedNote(t.carol, `provoke ${Math.abs(client.received.length)}`));
  const message = client.received.findLast((m) => m[0] === "AUTH");
  if (message === undefined) t.skip("this relay sends no challenge, also not for a protected event");
  return String(message[1]);
}

async function answer(client: RelayClient, event: WireEvent): Promise<{ readonly ok: boolean; readonly message: string }> {
  client.say("AUTH", event);
  return client.nextOk(event.id);
}

/** NIP-70 shows who is authenticated: only its author may publish a protected event. */
async function isAuthenticated(client: RelayClient, who: Actor): Promise<boolean> {
  return (await client.publish(protectedNote(who, `am I? ${client.received.length}`))).ok;
}

async function expectRefused(t: Exchange, make: (client: RelayClient, challenge: string) => WireEvent, why: string): Promise<void> {
  const client = await t.connect();
  const event = make(client, await challenge(t, client));
  const { ok, message } = await answer(client, event);
  expect(ok, why).toBe(false);
  expect(message, why).toMatch(/^[a-z-]+: ./);
  expect(await isAuthenticated(client, t.alice), why).toBe(false);
}

proves("NIP-42:L37-ok NIP-42:L63-lifetime", "a right answer is OK'd and holds for the connection, and for no other", async (t) => {
  const [client, other] = [await t.connect(), await t.connect()];
  const first = await challenge(t, client);
  expect(await isAuthenticated(client, t.alice)).toBe(false);
  expect(await answer(client, auth(t.alice, t.server.url, first))).toMatchObject({ ok: true });
  expect(await isAuthenticated(client, t.alice)).toBe(true);
  await client.roundTrip();
  expect(await isAuthenticated(client, t.alice), "still").toBe(true);
  expect(await isAuthenticated(other, t.alice), "another connection").toBe(false);
});

proves("NIP-42:L35-several-keys", "all keys that authenticated count, and no other", async (t) => {
  const client = await t.connect();
  const given = await challenge(t, client);
  for (const who of [t.alice, t.bob]) expect(await answer(client, auth(who, t.server.url, given)), who.name).toMatchObject({ ok: true });
  expect(await isAuthenticated(client, t.alice)).toBe(true);
  expect(await isAuthenticated(client, t.bob)).toBe(true);
  expect(await isAuthenticated(client, t.mallory)).toBe(false);
});

proves("NIP-42:L41-never-broadcast", "kind 22242 reaches nobody, by AUTH or by EVENT, stored or live", async (t) => {
  const [client, reader] = [await t.connect(), await t.connect()];
  await reader.subscribe("live", { authors: [t.alice.pubkey] });
  const event = auth(t.alice, t.server.url, await challenge(t, client));
  await answer(client, event);
  const sneaked = auth(t.alice, t.server.url, "published as an event");
  await client.publish(sneaked);
  const after = note(t.alice, "after");
  await t.accepted(client, after);
  expect((await reader.nextEvent("live")).id).toBe(after.id);
  expect(reader.seen("live")).toEqual([after.id]);
  expect(await client.ids({ ids: [event.id, sneaked.id] })).toEqual([]);
  expect(await client.ids({ kinds: [22_242], authors: [t.alice.pubkey] })).toEqual([]);
});

proves("NIP-42:L85-challenge-first NIP-42:L58-auth-required", "who is told auth-required has a challenge by then", async (t) => {
  const client = await t.connect();
  const { ok, message } = await client.publish(protectedNote(t.alice, "mine"));
  expect(ok).toBe(false);
  if (!message.startsWith("auth-required:")) t.skip(`this relay refuses protected events outright: ${message}`);
  const at = client.received.findIndex((m) => m[0] === "AUTH");
  expect(at, "AUTH came").toBeGreaterThanOrEqual(0);
  expect(at).toBeLessThan(client.received.findIndex((m) => m[0] === "OK"));
  expect(String(client.received[at]?.[1]).length, "long enough not to be guessed").toBeGreaterThanOrEqual(16);
});

proves("NIP-42:L59-restricted", "the wrong key after authentication is told restricted", async (t) => {
  const client = await t.connect();
  expect((await answer(client, auth(t.mallory, t.server.url, await challenge(t, client)))).ok).toBe(true);
  const { ok, message } = await client.publish(protectedNote(t.alice, "not mallory's"));
  expect(ok).toBe(false);
  expect(message).toMatch(/^(restricted|auth-required): /);
});

proves("NIP-42:L41-kind NIP-42:L105-kind", "another kind does not authenticate", async (t) => {
  for (const kind of [1, 22_241, 27_235])
    await expectRefused(t, (_, given) => auth(t.alice, t.server.url, given, { kind }), `kind ${kind}`);
});

proves("NIP-42:L106-time", "a time far from now does not authenticate, a minute off does", async (t) => {
  for (const off of [-86_400, -3_600, 3_600, 86_400]) {
    await expectRefused(t, (_, given) => auth(t.alice, t.server.url, given, { created_at: now() + off }), `${off} s`);
  }
  for (const off of [-60, 60]) {
    const client = await t.connect();
    const given = await challenge(t, client);
    expect(await answer(client, auth(t.alice, t.server.url, given, { created_at: now() + off })), `${off} s`).toMatchObject({ ok: true });
  }
});

proves("NIP-42:L107-challenge", "only this connection's challenge counts", async (t) => {
  const stolen = await challenge(t, await t.connect());
  await expectRefused(t, () => auth(t.alice, t.server.url, stolen), "another connection's");
  await expectRefused(t, (_, given) => auth(t.alice, t.server.url, `${given}x`), "longer");
  await expectRefused(t, (_, given) => auth(t.alice, t.server.url, given.slice(1)), "shorter");
  await expectRefused(t, () => auth(t.alice, t.server.url, ""), "empty");
});

proves("NIP-42:L108-relay", "an answer made for another relay does not authenticate", async (t) => {
  for (const url of ["wss://other.example", "wss://other.example/?", "not a url", ""]) {
    await expectRefused(t, (_, given) => auth(t.alice, url, given), url);
  }
});

proves("NIP-42:L109-normalised", "spelling of the URL does not matter", async (t) => {
  const url = new URL(t.server.url);
  const spellings = [
    t.server.url.replace(/\/?$/, "/"),
    t.server.url.replace(/\/$/, ""),
    t.server.url.replace(url.hostname, url.hostname.toUpperCase()),
  ];
  for (const spelling of spellings) {
    const client = await t.connect();
    const given = await challenge(t, client);
    expect(await answer(client, auth(t.alice, spelling, given)), spelling).toMatchObject({ ok: true });
  }
});

proves("NIP-42:L41-tags", "an answer without its tags does not authenticate", async (t) => {
  const without = (make: (given: string) => Template["tags"]) => (_: RelayClient, given: string) =>
    auth(t.alice, t.server.url, given, { tags: make(given) ?? [] });
  await expectRefused(
    t,
    without(() => []),
    "no tags",
  );
  await expectRefused(
    t,
    without(() => [["relay", t.server.url]]),
    "no challenge",
  );
  await expectRefused(
    t,
    without((given) => [["challenge", given]]),
    "no relay",
  );
  await expectRefused(
    t,
    without((given) => [["relay"], ["challenge", given]]),
    "relay without value",
  );
});

proves("NIP-42:L103-verify", "a forged answer does not authenticate", async (t) => {
  await expectRefused(t, (_, given) => ({ ...auth(t.alice, t.server.url, given), sig: "5".repeat(128) }), "forged signature");
  await expectRefused(t, (_, given) => ({ ...auth(t.mallory, t.server.url, given), pubkey: t.alice.pubkey }), "somebody else's key");
  await expectRefused(
    t,
    (_, given) => ({
      ...auth(t.alice, t.server.url, "other"),
      tags: [
        ["relay", t.server.url],
        ["challenge", given],
      ],
    }),
    "tags changed after signing",
  );
});
