import { expect } from "vitest";
import { note } from "../../kit/event-builder.ts";
import type { RelayClient } from "../../kit/relay-client.ts";
import { conformance, type Exchange } from "../suite.ts";

/** We play the proxy: our own address is trusted, so is the range 10.0.0.0/8. Addresses are told apart by their limits. */
const { proves } = conformance({
  env: {
    HOLDFAST_TRUSTED_PROXIES: "127.0.0.1/32,10.0.0.0/8",
    HOLDFAST_MAX_CONNECTIONS_PER_ADDRESS: "2",
    HOLDFAST_EVENTS_PER_MINUTE_PER_ADDRESS: "5",
  },
});

/** A connection that works, or undefined when the server turned it away (by status or by closing). */
async function admitted(t: Exchange, headers: Record<string, string>): Promise<RelayClient | undefined> {
  try {
    const client = await t.connect({ headers });
    await client.roundTrip();
    return client;
  } catch {
    return undefined;
  }
}

proves("GRASP:3.3/connections-per-address GRASP:2.3/trusted", "each forwarded address has its own share of connections", async (t) => {
  const from = (address: string) => admitted(t, { "X-Forwarded-For": address });
  const first = await from("203.0.113.1");
  expect([first, await from("203.0.113.1")].every(Boolean)).toBe(true);
  expect(await from("203.0.113.1"), "a third from the same address").toBeUndefined();
  expect(await from("203.0.113.2"), "another address").toBeDefined();
  await first?.close();
  await expect.poll(() => from("203.0.113.1").then(Boolean), { timeout: 10_000 }).toBe(true);
});

proves("GRASP:2.3/trusted", "the list is walked from the right to the first address that is not trusted", async (t) => {
  const from = (list: string) => admitted(t, { "X-Forwarded-For": list });
  expect(await from("198.51.100.7, 10.1.2.3")).toBeDefined();
  expect(await from("6.6.6.6, 198.51.100.7")).toBeDefined();
  // What the client wrote itself, on the left, changes nothing.
  expect(await from("9.9.9.9, 198.51.100.7, 10.9.9.9")).toBeUndefined();
});

proves("GRASP:2.3/trusted", "Forwarded and X-Real-IP are read as well", async (t) => {
  const admitTwo = async (headers: Record<string, string>): Promise<readonly boolean[]> => {
    const seen: boolean[] = [];
    for (let n = 0; n < 3; n++) seen.push((await admitted(t, headers)) !== undefined);
    return seen;
  };
  expect(await admitTwo({ Forwarded: "for=203.0.113.60;proto=https" })).toEqual([true, true, false]);
  expect(await admitTwo({ Forwarded: 'for="[2001:db8:cafe::17]:4711"' })).toEqual([true, true, false]);
  expect(await admitTwo({ "X-Real-IP": "203.0.113.61" })).toEqual([true, true, false]);
});

proves("GRASP:3.3/events-per-address", "connections of one address share its events", async (t) => {
  const headers = { "X-Forwarded-For": "203.0.113.77" };
  const [one, two] = [await t.connect({ headers }), await t.connect({ headers })];
  const answers: string[] = [];
  for (let n = 0; n < 8; n++) answers.push((await (n % 2 === 0 ? one : two).publish(note(t.alice, `${n}`))).message);
  expect(answers.slice(0, 5)).toEqual(["", "", "", "", ""]);
  expect(
    answers.slice(5).some((text) => text.startsWith("rate-limited: ")),
    "a slow machine may earn one back, not three",
  ).toBe(true);
  expect(answers.filter((text) => text !== "" && !text.startsWith("rate-limited: "))).toEqual([]);
  const elsewhere = await t.connect({ headers: { "X-Forwarded-For": "203.0.113.78" } });
  expect((await elsewhere.publish(note(t.bob, "another address"))).ok).toBe(true);
});
