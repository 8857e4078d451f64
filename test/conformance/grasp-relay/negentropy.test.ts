import { setTimeout as delay } from "node:timers/promises";
import { expect } from "vitest";
import { deletion, note, now, sign, vanish } from "../../kit/event-builder.ts";
import { expectHarmlessWords } from "../answers.ts";
import { namesNothing, varint } from "../nip-77/by-hand.ts";
import { conformance } from "../suite.ts";

const { proves } = conformance();

const EMPTY_LIST = "6100000200";

proves("GRASP:3.5/served-only", "deleted, replaced, ephemeral, refused and vanished ids do not appear", async (t) => {
  const client = await t.connect();
  const at = now() - 100;
  const kept = note(t.alice, "kept", { created_at: at });
  const gone = note(t.alice, "gone", { created_at: at + 1 });
  const older = sign(t.alice, { kind: 30_023, tags: [["d", "x"]], created_at: at + 2 });
  const newer = sign(t.alice, { kind: 30_023, tags: [["d", "x"]], created_at: at + 3 });
  const request = deletion(t.alice, [gone.id], { created_at: at + 4 });
  await t.accepted(client, kept, gone, older, newer, request, sign(t.alice, { kind: 20_001, created_at: at + 5 }));
  await client.publish({ ...note(t.alice, "forged"), sig: "0".repeat(128) });
  const { message } = await client.negOpen("n", { authors: [t.alice.pubkey] }, EMPTY_LIST);
  expect(message).toBe(`6100000203${kept.id}${newer.id}${request.id}`);
  const his = note(t.bob, "his", { created_at: at });
  await t.accepted(client, his, vanish(t.bob, ["ALL_RELAYS"]));
  expect(namesNothing((await client.negOpen("v", { authors: [t.bob.pubkey], kinds: [1] }, EMPTY_LIST)).message)).toBe(true);
});

proves("GRASP:3.5/served-only", "an expired id does not appear", async (t) => {
  const client = await t.connect();
  const at = now() + 3;
  await t.accepted(client, note(t.alice, "brief", { tags: [["expiration", `${at}`]] }));
  while (now() <= at) await delay(50);
  expect(namesNothing((await client.negOpen("n", { authors: [t.alice.pubkey] }, EMPTY_LIST)).message)).toBe(true);
});

proves(
  "GRASP:3.5/bounded-counts GRASP:3.4/neg-err-only",
  "a message that claims more than it holds is refused before anything is made for it",
  async (t) => {
    const client = await t.connect();
    const claims = {
      "a thousand ids": varint(1000),
      "four thousand million ids": varint(2 ** 32),
      "2^53 ids": varint(2 ** 53 - 1),
      "2^63 ids": `${"ff".repeat(8)}7f`,
      "a number that does not end": "ff".repeat(1000),
    };
    for (const [what, count] of Object.entries(claims)) {
      const { error } = await client.negOpen(what, { authors: [t.alice.pubkey] }, `61000002${count}${"00".repeat(64)}`);
      expect(error ?? "(an answer)", what).toMatch(/^[a-z-]+: ./);
    }
    // Many empty ranges cost little to send: their number is bounded by the message, and the answer too.
    const many = `61${"010000".repeat(20_000)}`;
    const ranges = await client.negOpen("many", { authors: [t.alice.pubkey] }, many);
    expect((ranges.message ?? "").length).toBeLessThanOrEqual(many.length + 64);
    const lists = await client.negOpen("lists", { authors: [t.alice.pubkey] }, `61${"01000200".repeat(20_000)}`);
    expect((lists.message ?? "").length).toBeLessThanOrEqual(1_000_000);
    await client.roundTrip();
    expectHarmlessWords(client);
  },
);
