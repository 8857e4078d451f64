import { expect } from "vitest";
import { idOf, note, now, serialised, sign, signWithId, type WireEvent } from "../../kit/event-builder.ts";
import { STANDARD_PREFIX } from "../answers.ts";
import { conformance, type Exchange } from "../suite.ts";

const { proves } = conformance();

/** Sends something that claims to be an event and expects a refusal, by OK when it has an id and by NOTICE when it has not. */
async function refused(exchange: Exchange, event: unknown, why: string): Promise<void> {
  const client = await exchange.connect();
  client.say("EVENT", event);
  const answer = await client.next((m) => m[0] === "OK" || m[0] === "NOTICE", `refusal: ${why}`);
  if (answer[0] === "OK") {
    expect(answer[2], why).toBe(false);
    expect(answer[3], why).toMatch(STANDARD_PREFIX);
  }
  const id = (event as { id?: unknown }).id;
  if (typeof id === "string" && /^[0-9a-f]{64}$/.test(id)) expect(await client.ids({ ids: [id] }), why).toEqual([]);
  await client.roundTrip();
}

proves("NIP-01:L19-id", "an id that is not the event's hash is refused", async (t) => {
  const event = note(t.alice, "mine");
  await refused(t, { ...event, content: "changed" }, "content changed");
  await refused(t, { ...event, created_at: event.created_at - 1 }, "time changed");
  await refused(t, { ...event, tags: [["t", "new"]] }, "tags changed");
  await refused(t, { ...event, kind: 2 }, "kind changed");
  await refused(t, signWithId(t.alice, { content: "x" }, "ab".repeat(32)), "signed, but not the hash");
  await refused(t, { ...event, id: event.id.toUpperCase() }, "upper case");
  await refused(t, { ...event, id: event.id.slice(2) }, "too short");
  await refused(t, { ...event, id: `${event.id}00` }, "too long");
});

proves("NIP-01:L20-pubkey", "a pubkey of another form is refused", async (t) => {
  const event = note(t.alice, "mine");
  const withKey = (pubkey: string): WireEvent => {
    const changed = { ...event, pubkey };
    return { ...changed, id: idOf(changed) };
  };
  await refused(t, withKey(t.alice.pubkey.toUpperCase()), "upper case");
  await refused(t, withKey(`02${t.alice.pubkey}`), "compressed form");
  await refused(t, withKey(t.alice.pubkey.slice(0, 62)), "too short");
  await refused(t, withKey("f".repeat(64)), "not on the curve");
  await refused(t, withKey(t.bob.pubkey), "somebody else's");
});

proves("NIP-01:L22-kind", "kinds are 0 to 65535, whole numbers", async (t) => {
  const client = await t.connect();
  await t.accepted(client, sign(t.alice, { kind: 0, content: "{}" }), sign(t.alice, { kind: 65_535, content: "last" }));
  for (const kind of [-1, 65_536, 1.5, 2 ** 53]) await refused(t, sign(t.bob, { kind }), `kind ${kind}`);
  for (const kind of ["1", null, true, [1], {}]) await refused(t, { ...note(t.bob, "x"), kind }, `kind ${JSON.stringify(kind)}`);
});

proves("NIP-01:L28-sig", "a signature that does not hold is refused", async (t) => {
  const event = note(t.alice, "mine");
  const flipped = (event.sig[0] === "0" ? "1" : "0") + event.sig.slice(1);
  await refused(t, { ...event, sig: flipped }, "one digit changed");
  await refused(t, { ...event, sig: note(t.bob, "mine").sig }, "by another key");
  await refused(t, { ...event, sig: note(t.alice, "other").sig }, "of another event");
  await refused(t, { ...event, sig: "0".repeat(128) }, "zeros");
  await refused(t, { ...event, sig: event.sig.toUpperCase() }, "upper case");
  await refused(t, { ...event, sig: event.sig.slice(0, 126) }, "too short");
  await refused(t, { ...event, sig: undefined }, "absent");
  // The true event is still welcome after all those forgeries of it.
  const client = await t.connect();
  await t.accepted(client, event);
});

proves(
  "NIP-01:L45-serialisation NIP-01:L48-escapes",
  "the seven escapes and all verbatim characters give the same id on both sides",
  async (t) => {
    const client = await t.connect();
    // Other control characters are left out: the text says verbatim, JSON forbids that, and implementations differ.
    const content = 'line\nquote" back\\slash return\r tab\t backspace\b feed\f slash/ <html> & \u007f \u2028 \u2029 \ufeff end';
    const event = note(t.alice, content, { tags: [["t", content]] });
    expect(serialised(event)).toContain(
      'line\\nquote\\" back\\\\slash return\\r tab\\t backspace\\b feed\\f slash/ <html> & \u007f \u2028',
    );
    await t.accepted(client, event);
    const [stored] = (await client.request({ ids: [event.id] })).events;
    expect(stored).toEqual(event);
  },
);

proves("NIP-01:L46-utf8", "text beyond the basic plane is hashed as UTF-8 and comes back unchanged", async (t) => {
  const client = await t.connect();
  const event = note(t.alice, "añ日本語 🦀👩‍👩‍👧 ‮rtl‬ é", { tags: [["t", "🦀"]] });
  await t.accepted(client, event);
  expect((await client.request({ ids: [event.id] })).events).toEqual([event]);
  expect(await client.ids({ "#t": ["🦀"], authors: [t.alice.pubkey] })).toEqual([event.id]);
});

proves("NIP-01:L47-compact", "white space, key order and escapes of the incoming JSON do not matter", async (t) => {
  const client = await t.connect();
  const event = note(t.alice, "plain é", { tags: [["t", "x"]] });
  const { sig, content, tags, kind, created_at, pubkey, id } = event;
  const spaced = JSON.stringify(["EVENT", { sig, content, tags, kind, created_at, pubkey, id }], null, 2).replace("é", "\\u00e9");
  client.send(` \n${spaced}\t`);
  const { ok, message } = await client.nextOk(id);
  if (!ok && t.server.external && message.startsWith("restricted")) t.skip(message);
  expect({ ok, message }).toMatchObject({ ok: true });
  expect((await client.request({ ids: [id] })).events).toEqual([event]);
});

proves("NIP-01:L59-tag-shape", "tags that are not lists of strings are refused", async (t) => {
  const event = note(t.alice, "x");
  const shapes = [[[1]], [[null]], [["t", null]], [["t", 5]], [["t", ["x"]]], ["t"], [{}], {}, "t", null, [[]]];
  for (const tags of shapes) {
    const body = JSON.stringify([0, event.pubkey, event.created_at, event.kind, tags, event.content]);
    const { createHash } = await import("node:crypto");
    const id = createHash("sha256").update(body).digest("hex");
    const signed = signWithId(t.alice, { created_at: event.created_at, content: "x" }, id);
    await refused(t, { ...signed, tags }, `tags ${JSON.stringify(tags)}`);
  }
});

proves(
  "NIP-01:L164-ok-answer NIP-01:L164-ok-value NIP-01:L164-ok-text",
  "each EVENT is answered by one OK, true or false, with a text",
  async (t) => {
    const client = await t.connect();
    const good = note(t.alice, "good");
    const forged = { ...note(t.alice, "forged"), sig: "1".repeat(128) };
    await t.accepted(client, good);
    client.say("EVENT", forged);
    expect((await client.nextOk(forged.id)).ok).toBe(false);
    const batch = [1, 2, 3, 4, 5].map((n) => note(t.bob, `n${n}`, { created_at: now() - n }));
    for (const event of batch) client.say("EVENT", event);
    for (const event of batch) expect((await client.nextOk(event.id)).ok).toBe(true);
    await client.roundTrip();
    const oks = client.received.filter((m) => m[0] === "OK");
    expect(oks).toHaveLength(2 + batch.length);
    for (const ok of oks) {
      expect(ok).toHaveLength(4);
      expect(typeof ok[2]).toBe("boolean");
      expect(typeof ok[3]).toBe("string");
    }
  },
);

proves("NIP-01:L164-ok-prefix NIP-01:L180-known-prefixes", "refusals of events begin with a known prefix", async (t) => {
  const client = await t.connect();
  const good = note(t.alice, "good");
  const bad: readonly WireEvent[] = [
    { ...good, sig: "2".repeat(128) },
    { ...good, content: "changed" },
    { ...sign(t.alice, { kind: 70_000 }) },
  ];
  for (const event of bad) {
    const { ok, message } = await client.publish(event);
    expect(ok).toBe(false);
    expect(message).toMatch(STANDARD_PREFIX);
  }
});
