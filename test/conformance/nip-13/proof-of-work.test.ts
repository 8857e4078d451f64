import { expect } from "vitest";
import { difficulty, mine, note } from "../../kit/event-builder.ts";
import { conformance } from "../suite.ts";

/** Ten bits: two zero digits and two more inside the third, so that counting digits alone gives another answer. */
const BITS = 10;
const { proves } = conformance({ env: { HOLDFAST_MIN_POW_DIFFICULTY: `${BITS}` } });

proves("NIP-13:L11-difficulty NIP-13:L13-nibble", "difficulty is counted in bits, not in digits", async (t) => {
  expect(difficulty("002f".padEnd(64, "0"))).toBe(10);
  expect(difficulty(`000000000e9d97a1ab09fc381030b346cdd7a142ad57e6df0b46dc9bef6c7e2d`)).toBe(36);
  const client = await t.connect();
  const enough = mine(t.alice, { content: "exactly" }, (bits) => bits === BITS, BITS);
  const more = mine(t.alice, { content: "more" }, (bits) => bits > BITS, BITS);
  const less = mine(t.alice, { content: "less" }, (bits) => bits === BITS - 1, BITS);
  const digits = mine(t.alice, { content: "two digits" }, (bits) => bits === 8, BITS);
  await t.accepted(client, enough, more);
  for (const event of [less, digits, note(t.alice, "none")]) {
    const { ok, message } = await client.publish(event);
    expect({ ok, bits: difficulty(event.id) }).toMatchObject({ ok: false });
    expect(message).toMatch(/^pow: /);
  }
});

proves("GRASP:3.1/listed", "a relay that asks for work lists NIP-13", async (t) => {
  expect(t.info.supported_nips).toContain(13);
  expect(t.info.limitation?.["min_pow_difficulty"]).toBe(BITS);
});

proves("NIP-13:L26-committed GRASP:3.1/pow-minimum", "luck does not count: the nonce tag must commit to enough", async (t) => {
  const client = await t.connect();
  const lucky = mine(t.alice, { content: "lucky" }, (bits) => bits >= BITS, 4);
  const { ok, message } = await client.publish(lucky);
  expect(ok).toBe(false);
  expect(message).toMatch(/^pow: /);
  const uncommitted = mine(t.alice, { content: "no target" }, (bits) => bits >= BITS, undefined);
  expect((await client.publish(uncommitted)).message).toMatch(/^pow: /);
  const boastful = mine(t.alice, { content: "commits to more" }, (bits) => bits === BITS, BITS + 20);
  expect((await client.publish(boastful)).message, "an id that misses its own target is no proof").toMatch(/^pow: |^$/);
  await t.accepted(
    client,
    mine(t.alice, { content: "honest" }, (bits) => bits >= BITS, BITS),
  );
});
