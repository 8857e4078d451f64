import { expect } from "vitest";
import { conformance } from "../suite.ts";

/** Soon enough not to wait long, late enough for a machine that stands still for a second. */
const { proves } = conformance({ env: { HOLDFAST_IDLE_PING: "400ms", HOLDFAST_PONG_TIMEOUT: "2s" } });

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
