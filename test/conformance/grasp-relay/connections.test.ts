import { expect } from "vitest";
import { type RelayClient, UpgradeRefused } from "../../kit/relay-client.ts";
import { conformance } from "../suite.ts";

const { proves } = conformance({ env: { HOLDFAST_MAX_CONNECTIONS: "5" } });

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
