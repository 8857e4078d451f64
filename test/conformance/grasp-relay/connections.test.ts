import { expect } from "vitest";
import { note } from "../../kit/event-builder.ts";
import { RelayClient, UpgradeRefused } from "../../kit/relay-client.ts";
import { conformance } from "../suite.ts";

const { proves } = conformance({
  env: { HOLDFAST_MAX_CONNECTIONS: "5", HOLDFAST_MAX_OUTGOING_BYTES: "1MiB", HOLDFAST_IDLE_PING: "300ms", HOLDFAST_PONG_TIMEOUT: "300ms" },
});

proves("GRASP:3.3/connections-total", "one connection too many is turned away, and room is made by leaving", async (t) => {
  const inside: RelayClient[] = [];
  let refusal: unknown;
  while (refusal === undefined && inside.length < 20) {
    try {
      const client = await t.connect();
      await client.roundTrip();
      inside.push(client);
    } catch (error) {
      refusal = error;
    }
  }
  expect(inside).toHaveLength(5);
  if (refusal instanceof UpgradeRefused) {
    expect([429, 503]).toContain(refusal.status);
    expect(refusal.headers["access-control-allow-origin"]).toBe("*");
  }
  for (const client of inside) await client.roundTrip();
  await inside[0]?.close();
  const again = async (): Promise<boolean> => {
    try {
      await (await t.connect()).roundTrip();
      return true;
    } catch {
      return false;
    }
  };
  await expect.poll(again, { timeout: 10_000 }).toBe(true);
});

proves("GRASP:3.3/slow-reader", "who does not read is dropped, and the others never notice", async (t) => {
  const [writer, slow, quick] = [await t.connect(), await t.connect(), await t.connect()];
  for (const reader of [slow, quick]) await reader.subscribe("live", { authors: [t.alice.pubkey] });
  slow.pauseReading();
  const size = 150_000;
  const count = 250;
  for (let n = 0; n < count; n++) {
    const event = note(t.alice, `${n}`.padEnd(size, "x"));
    await t.accepted(writer, event);
    expect((await quick.nextEvent("live")).id).toBe(event.id);
  }
  slow.resumeReading();
  await slow.untilClosed();
  expect(slow.seen("live").length, "what fitted the network's own buffers").toBeLessThan(count);
  await quick.roundTrip();
});

proves("GRASP:3.3/ping", "a silent client is pinged and stays when it answers", async (t) => {
  const client = await t.connect();
  await expect.poll(() => client.pings, { timeout: 20_000 }).toBeGreaterThanOrEqual(3);
  expect(client.isClosed).toBe(false);
  await client.roundTrip();
});

proves("GRASP:3.3/ping-drop", "a client that does not answer is dropped", async (t) => {
  const client = await t.connect({ autoPong: false });
  await client.roundTrip();
  await client.untilClosed();
  expect(client.pings).toBeGreaterThanOrEqual(1);
});
