import { expect } from "vitest";
import { Initiator } from "../../../src/nostr/negentropy/initiator.ts";
import { ItemSet } from "../../../src/nostr/negentropy/items.ts";
import { note, now } from "../../kit/event-builder.ts";
import { fromHex, toHex } from "../../kit/keys.ts";
import { expectHarmlessWords } from "../answers.ts";
import { conformance } from "../suite.ts";
import { fingerprint, inOrder, namesNothing } from "./by-hand.ts";

const { proves } = conformance();

const EMPTY_LIST = "6100000200";
const PREFIXED = /^[a-z-]+: ./;

proves("NIP-77:L42-namespace", "a REQ and a reconciliation of the same id do not meet", async (t) => {
  const client = await t.connect();
  const stored = note(t.alice, "stored", { created_at: now() - 9 });
  await t.accepted(client, stored);
  const filter = { authors: [t.alice.pubkey] };
  expect((await client.subscribe("same", filter)).events).toEqual([stored]);
  expect((await client.negOpen("same", filter, EMPTY_LIST)).message).toBe(`6100000201${stored.id}`);
  client.negClose("same");
  const live = note(t.alice, "live");
  await t.accepted(client, live);
  expect((await client.nextEvent("same")).id, "NEG-CLOSE leaves the REQ").toBe(live.id);
  await client.negOpen("same", filter, EMPTY_LIST);
  client.say("CLOSE", "same");
  expect((await client.negMsg("same", EMPTY_LIST)).error, "CLOSE leaves the reconciliation").toBeUndefined();
});

proves("NIP-77:L42-reopen", "NEG-OPEN with an open id starts anew with the new filter", async (t) => {
  const client = await t.connect();
  const [hers, his] = [note(t.alice, "hers"), note(t.bob, "his")];
  await t.accepted(client, hers, his);
  expect((await client.negOpen("n", { authors: [t.alice.pubkey] }, EMPTY_LIST)).message).toBe(`6100000201${hers.id}`);
  expect((await client.negOpen("n", { authors: [t.bob.pubkey] }, EMPTY_LIST)).message).toBe(`6100000201${his.id}`);
  expect((await client.negMsg("n", EMPTY_LIST)).message).toBe(`6100000201${his.id}`);
});

proves("NIP-77:L88-close", "after NEG-CLOSE the session answers no more, and its id is free", async (t) => {
  const client = await t.connect();
  await client.negOpen("n", { authors: [t.alice.pubkey] }, EMPTY_LIST);
  client.negClose("n");
  expect((await client.negMsg("n", EMPTY_LIST)).error ?? "(an answer)").toMatch(PREFIXED);
  expect(namesNothing((await client.negOpen("n", { authors: [t.alice.pubkey] }, EMPTY_LIST)).message)).toBe(true);
});

proves("NIP-77:L58-prefix NIP-77:L70-error-closes", "a broken message gets a NEG-ERR with a prefix, and the session is gone", async (t) => {
  const client = await t.connect();
  const filter = { authors: [t.alice.pubkey] };
  const broken = {
    "no hex": "zz",
    "odd length": "610",
    empty: "",
    "bound cut off": "6181",
    "unknown mode": "61000003",
    "fingerprint cut off": "6100000100ff",
    "list cut off": "61000002020000",
    "varint without end": `61${"ff".repeat(40)}`,
    "prefix too long": `610121${"00".repeat(33)}0000`,
  };
  for (const [what, message] of Object.entries(broken)) {
    const sub = `open ${what}`;
    expect((await client.negOpen(sub, filter, message)).error ?? "(an answer)", what).toMatch(PREFIXED);
    expect((await client.negMsg(sub, EMPTY_LIST)).error ?? "(an answer)", `${what}: closed`).toMatch(PREFIXED);
    const later = `later ${what}`;
    await client.negOpen(later, filter, EMPTY_LIST);
    expect((await client.negMsg(later, message)).error ?? "(an answer)", what).toMatch(PREFIXED);
    expect((await client.negMsg(later, EMPTY_LIST)).error ?? "(an answer)", `${what}: closed`).toMatch(PREFIXED);
  }
  await client.roundTrip();
  expectHarmlessWords(client);
});

proves("NIP-77:L58-prefix", "a broken filter and an unknown session get a NEG-ERR with a prefix", async (t) => {
  const client = await t.connect();
  expect((await client.negOpen("f", { kinds: "all" }, EMPTY_LIST)).error ?? "(an answer)").toMatch(PREFIXED);
  expect((await client.negOpen("g", "filter", EMPTY_LIST)).error ?? "(an answer)").toMatch(PREFIXED);
  expect((await client.negMsg("never opened", EMPTY_LIST)).error ?? "(an answer)").toMatch(PREFIXED);
  await client.roundTrip();
});

proves("NIP-77:L74-alternate", "two sets that differ are reconciled completely, message by message", async (t) => {
  const client = await t.connect();
  const at = now() - 100_000;
  const events = Array.from({ length: 240 }, (_, n) => note(t.alice, `${n}`, { created_at: at + (n % 60) }));
  const theirs = events.filter((_, n) => n % 7 !== 0);
  const ours = inOrder(events.filter((_, n) => n % 5 !== 0));
  for (const event of theirs) client.say("EVENT", event);
  for (const event of theirs) {
    const { ok, message } = await client.nextOk(event.id);
    if (!ok && t.server.external) t.skip(`this relay does not take so many events: ${message}`);
    expect({ ok, message }).toMatchObject({ ok: true });
  }
  const initiator = new Initiator(
    new ItemSet({
      length: ours.length,
      createdAt: Float64Array.from(ours.map((event) => event.created_at)),
      ids: fromHex(ours.map((event) => event.id).join("")),
    }),
  );
  let [have, need] = ["", ""];
  let message: Uint8Array | undefined = initiator.start();
  let answer = await client.negOpen("n", { authors: [t.alice.pubkey] }, toHex(message));
  for (;;) {
    expect(answer.error).toBeUndefined();
    const learnt = initiator.receive(fromHex(answer.message ?? ""));
    if (learnt.kind !== "learnt") throw new Error(`the relay's message was not understood: ${JSON.stringify(learnt)}`);
    have += toHex(learnt.have);
    need += toHex(learnt.need);
    message = learnt.next;
    if (message === undefined) break;
    answer = await client.negMsg("n", toHex(message));
  }
  const idsIn = (hex: string): readonly string[] => (hex.match(/.{64}/g) ?? []).toSorted();
  const missing = (from: typeof events, inside: readonly { id: string }[]): readonly string[] =>
    from
      .filter((event) => !inside.some((other) => other.id === event.id))
      .map((event) => event.id)
      .toSorted();
  expect(idsIn(have)).toEqual(missing([...ours], theirs));
  expect(idsIn(need)).toEqual(missing(theirs, ours));
  expect(client.received.filter((m) => m[0] === "NEG-MSG")).toHaveLength(
    client.transcript.filter((line) => line.startsWith('-> ["NEG-')).length,
  );
});

proves("NIP-77:L74-alternate", "a reconciliation sees one moment: what arrives meanwhile does not disturb it", async (t) => {
  const client = await t.connect();
  const first = note(t.alice, "first", { created_at: now() - 50 });
  await t.accepted(client, first);
  await client.negOpen("n", { authors: [t.alice.pubkey] }, EMPTY_LIST);
  await t.accepted(client, note(t.alice, "second", { created_at: now() - 40 }));
  const again = await client.negMsg("n", `61000001${fingerprint([first.id])}`);
  expect(again.error).toBeUndefined();
});
