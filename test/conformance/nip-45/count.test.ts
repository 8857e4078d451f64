import { expect } from "vitest";
import { deletion, note, now, sign } from "../../kit/event-builder.ts";
import { STANDARD_PREFIX } from "../answers.ts";
import { conformance } from "../suite.ts";

const { proves } = conformance();

proves("NIP-45:L23-form NIP-45:L17-or", "the count is a whole number; filters are added up, an event counts once", async (t) => {
  const client = await t.connect();
  const at = now() - 100;
  const events = [1, 2, 3, 4, 5].map((n) => note(t.alice, `${n}`, { created_at: at + n, tags: [["t", n % 2 === 0 ? "even" : "odd"]] }));
  const likes = [1, 2].map((n) => sign(t.bob, { kind: 7, content: `${n}`, tags: [["p", t.alice.pubkey]] }));
  await t.accepted(client, ...events, ...likes);
  const count = async (...filters: unknown[]): Promise<unknown> => (await client.count(...filters)).result?.["count"];
  expect(await count({ authors: [t.alice.pubkey] })).toBe(5);
  expect(await count({ authors: [t.alice.pubkey], "#t": ["odd"] })).toBe(3);
  expect(await count({ authors: [t.alice.pubkey], since: at + 4 })).toBe(2);
  expect(await count({ authors: [t.carol.pubkey] })).toBe(0);
  expect(await count({ authors: [t.alice.pubkey] }, { authors: [t.bob.pubkey] })).toBe(7);
  expect(await count({ authors: [t.alice.pubkey] }, { "#t": ["odd"], authors: [t.alice.pubkey] }), "overlap").toBe(5);
  expect(await count({ kinds: [7], "#p": [t.alice.pubkey] })).toBe(2);
  await t.accepted(client, deletion(t.bob, [likes[0]?.id ?? ""]));
  expect(await count({ kinds: [7], "#p": [t.alice.pubkey] }), "what is deleted does not count").toBe(1);
});

proves("NIP-45:L23-form", "a count opens no subscription and its id is free for a REQ", async (t) => {
  const client = await t.connect();
  client.say("COUNT", "same", { authors: [t.alice.pubkey] });
  expect((await client.nextVerb("COUNT", "same"))[2]).toMatchObject({ count: 0 });
  const event = note(t.alice, "x");
  await t.accepted(client, event);
  expect((await client.subscribe("same", { authors: [t.alice.pubkey] })).events).toEqual([event]);
  expect(client.seen("same")).toEqual([event.id]);
});

proves("NIP-45:L30-closed", "a COUNT that is refused is answered by CLOSED", async (t) => {
  const client = await t.connect();
  for (const filter of [{ kinds: "all" }, { authors: [5] }, "filter", null]) {
    const { result, closed } = await client.count(filter);
    expect(result, JSON.stringify(filter)).toBeUndefined();
    expect(closed).toMatch(STANDARD_PREFIX);
  }
  await client.roundTrip();
});

/** NIP-45's registers, computed here from the text of the NIP. */
function registers(target: string, pubkeys: readonly string[]): string {
  const offset = Number.parseInt(target[32] ?? "0", 16) + 8;
  const values = new Uint8Array(256);
  for (const pubkey of pubkeys) {
    const bytes = Buffer.from(pubkey, "hex");
    const index = bytes[offset] ?? 0;
    let zeros = 0;
    for (const byte of bytes.subarray(offset + 1)) {
      zeros += byte === 0 ? 8 : Math.clz32(byte) - 24;
      if (byte !== 0) break;
    }
    values[index] = Math.max(values[index] ?? 0, zeros + 1);
  }
  return Buffer.from(values).toString("hex");
}

proves("NIP-45:L44-hll NIP-45:L77-offset NIP-45:L98-hll-form", "registers, when given, are those of the algorithm", async (t) => {
  const client = await t.connect();
  const target = note(t.alice, "liked");
  const likes = [t.alice, t.bob, t.carol, t.mallory].map((who) => sign(who, { kind: 7, content: "+", tags: [["e", target.id]] }));
  await t.accepted(client, target, ...likes);
  const { result } = await client.count({ "#e": [target.id], kinds: [7] });
  expect(result).toMatchObject({ count: 4 });
  // A relay may leave the registers out; what it sends must merge with what others send.
  if (result?.["hll"] !== undefined) {
    expect(result["hll"]).toMatch(/^[0-9a-f]{512}$/);
    expect(result["hll"]).toBe(
      registers(
        target.id,
        likes.map((event) => event.pubkey),
      ),
    );
    const followers = await client.count({ "#p": [t.alice.pubkey], kinds: [3] });
    expect(followers.result?.["hll"] ?? "00".repeat(256), "nobody").toBe("00".repeat(256));
  } else expect(Object.keys(result ?? {})).not.toContain("hll");
});
