import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DEFAULT_LIMITS, type ServerUnderTest, startOwn } from "../../kit/server-under-test.ts";
import { GoodClient } from "./good-client.ts";
import { type Abuser, SAYERS } from "./sayers.ts";
import { SENDERS } from "./senders.ts";

/**
 * grasp.md 3.3: whoever abuses the server is refused in clear words or disconnected, and nobody else notices. "Notices" is a comparison: the same
 * well-behaved client alone and beside the abuser, in the same run on the same machine.
 */
const ROUNDS = 8;
/** The median beside an abuser may be this many times the median alone: both share a small machine with the abuser itself, which works as hard as it can. */
const SLOWER_MAX = 40;
/** What abuse may leave in memory, all of it together; each of the floods alone would need more if nothing bounded it. */
const MEMORY_GROWTH_MAX_MIB = 700;

let server: ServerUnderTest;
let aloneMs = 0;
/** Below this nobody notices: a machine with more to do than cores makes a client wait so long by itself. */
const NOTICED_MS = 20;
let memoryMiB = 0;

async function residentMiB(): Promise<number> {
  const status = await readFile(`/proc/${server.pid}/status`, "utf8").catch(() => "");
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1024;
}

async function alone(rounds = ROUNDS * 2): Promise<number> {
  const client = await GoodClient.come(server);
  await client.rounds(rounds);
  return client.leave();
}

beforeAll(async () => {
  server = await startOwn({
    env: { ...DEFAULT_LIMITS, HOLDFAST_HANDSHAKE_TIMEOUT: "1s", HOLDFAST_MAX_OUTGOING_BYTES: "4MiB", HOLDFAST_DEFAULT_RESULTS: "500" },
  });
  await alone();
  aloneMs = await alone();
  memoryMiB = await residentMiB();
}, 120_000);

afterAll(() => server.stop());

describe.each([
  ["by what they say", SAYERS],
  ["by how they send", SENDERS],
])("abusers %s", (_, abusers: Readonly<Record<string, Abuser>>) => {
  test.each(Object.entries(abusers))("%s", async (_name, abuse) => {
    const over = new AbortController();
    const abuser = abuse(server, over.signal);
    const client = await GoodClient.come(server);
    await client.rounds(ROUNDS);
    const besideMs = await client.leave();
    over.abort();
    await abuser;
    // The machine may have become busier than it was at the beginning: the client alone is asked again, at once.
    const quietMs = Math.max(aloneMs, await alone(ROUNDS), NOTICED_MS);
    expect(besideMs / quietMs, `alone ${quietMs.toFixed(1)} ms, beside ${besideMs.toFixed(1)} ms`).toBeLessThan(SLOWER_MAX);
  });
});

test("after all of it the server is as it was", async () => {
  const afterMs = await alone();
  expect(afterMs / aloneMs).toBeLessThan(SLOWER_MAX);
  expect((await residentMiB()) - memoryMiB).toBeLessThan(MEMORY_GROWTH_MAX_MIB);
  expect(server.log()).not.toMatch(/ (error|fatal) /);
});
