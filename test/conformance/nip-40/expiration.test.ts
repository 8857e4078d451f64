import { setTimeout as delay } from "node:timers/promises";
import { expect } from "vitest";
import { note, now, sign } from "../../kit/event-builder.ts";
import { conformance } from "../suite.ts";

const { proves } = conformance();

const until = (at: number): string[][] => [["expiration", `${at}`]];

/** The clock passes a second at its own pace: the condition is the clock's. */
async function clockReaches(second: number): Promise<void> {
  while (now() < second) await delay(50);
}

proves("NIP-40:L48-dropped", "what is expired when it arrives is not taken", async (t) => {
  const [client, reader] = [await t.connect(), await t.connect()];
  await reader.subscribe("live", { authors: [t.alice.pubkey] });
  const stale = note(t.alice, "too late", { tags: until(now() - 10), created_at: now() - 100 });
  await client.publish(stale);
  expect(await client.ids({ ids: [stale.id] })).toEqual([]);
  const fresh = note(t.alice, "in time", { tags: until(now() + 3600) });
  await t.accepted(client, fresh);
  expect((await reader.nextEvent("live")).id, "subscribers never saw the expired one").toBe(fresh.id);
});

proves(
  "NIP-40:L9-expired NIP-40:L9-deleted NIP-40:L34-format NIP-40:L47-not-sent",
  "an event is served until its second and not after it",
  async (t) => {
    const client = await t.connect();
    const at = now() + 3;
    const [brief, lasting] = [note(t.alice, "brief", { tags: until(at) }), note(t.alice, "lasting", { tags: until(now() + 86_400) })];
    const replaceable = sign(t.alice, { kind: 10_002, tags: until(at) });
    await t.accepted(client, brief, lasting, replaceable);
    const served = await client.ids({ ids: [brief.id] });
    // Only a machine that stood still for seconds would make this untrue.
    if (now() < at) expect(served).toEqual([brief.id]);
    await clockReaches(at + 1);
    expect(await client.ids({ ids: [brief.id] })).toEqual([]);
    expect(await client.ids({ authors: [t.alice.pubkey] })).toEqual([lasting.id]);
    expect(await client.ids({ kinds: [10_002], authors: [t.alice.pubkey] })).toEqual([]);
    if (t.info.supported_nips?.includes(45)) {
      expect((await client.count({ authors: [t.alice.pubkey] })).result).toMatchObject({ count: 1 });
    }
    await client.publish(brief);
    expect(await client.ids({ ids: [brief.id] }), "publishing it again does not bring it back").toEqual([]);
  },
);

proves("NIP-40:L34-format", "a far expiration and one that is no number do no harm", async (t) => {
  const client = await t.connect();
  const far = note(t.alice, "far", { tags: until(4_102_444_800) });
  await t.accepted(client, far);
  expect(await client.ids({ ids: [far.id] })).toEqual([far.id]);
  for (const value of ["soon", "", "-5", "1e3", "99999999999999999999", "1.5"]) {
    await client.publish(note(t.bob, value, { tags: [["expiration", value]] }));
  }
  await client.publish(note(t.bob, "no value", { tags: [["expiration"]] }));
  await client.roundTrip();
});

proves("NIP-40:L49-ephemeral", "an ephemeral event with an expiration ahead is broadcast and not stored", async (t) => {
  const [client, reader] = [await t.connect(), await t.connect()];
  await reader.subscribe("live", { kinds: [20_100], authors: [t.alice.pubkey] });
  const event = sign(t.alice, { kind: 20_100, tags: until(now() + 3600) });
  await t.accepted(client, event);
  expect(await reader.nextEvent("live")).toEqual(event);
  expect(await client.ids({ ids: [event.id] })).toEqual([]);
});
