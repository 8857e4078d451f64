import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { note, type WireEvent } from "../kit/event-builder.ts";
import { actor } from "../kit/keys.ts";
import { RelayClient } from "../kit/relay-client.ts";
import { KillableServer } from "./kill-server.ts";

/** grasp.md 12.4: a server that is told to stop finishes what it has taken, says goodbye to everybody, and ends with 0. */

const CLIENTS = 4;
const EVENTS = 250;
const GOING_AWAY = 1001;

const LOADS: readonly (readonly WireEvent[])[] = Array.from({ length: CLIENTS }, (_, c) =>
  Array.from({ length: EVENTS }, (_, n) => note(actor(`stopper ${c}`), `${n}`, { created_at: 1_700_000_000 + n })),
);

let dataDir: string;

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "holdfast-stop-"));
});

afterEach(() => rm(dataDir, { recursive: true, force: true }));

const answeredOk = (client: RelayClient): readonly string[] =>
  client.received.filter((m) => m[0] === "OK" && m[2] === true).map((m) => String(m[1]));

test("SIGTERM while events are under way: what got its OK is kept, everybody is told 1001, the exit code is 0", async () => {
  const server = await KillableServer.spawn(dataDir);
  const url = await server.ready();
  const writers = await Promise.all(LOADS.map(() => RelayClient.connect(url)));
  const idle = await RelayClient.connect(url);
  const listener = await RelayClient.connect(url);
  await listener.subscribe("all", { kinds: [1] });
  const deaf = await RelayClient.connect(url, { autoPong: false });
  deaf.pauseReading();

  for (const [c, writer] of writers.entries()) for (const event of LOADS[c] ?? []) writer.say("EVENT", event);
  await writers[0]?.nextVerb("OK");
  server.signal("SIGTERM");

  expect(await Promise.all([...writers, idle, listener].map((client) => client.untilClosed()))).toEqual(
    [...writers, idle, listener].map(() => GOING_AWAY),
  );
  await server.ended;
  expect(server.exitCode, server.output).toBe(0);

  const kept = writers.map(answeredOk);
  expect(kept.flat().length, "some were answered").toBeGreaterThan(0);
  for (const [c, writer] of writers.entries()) {
    const sent = new Set((LOADS[c] ?? []).map(({ id }) => id));
    expect(writer.received.filter((m) => m[0] !== "OK" || m[2] !== true || !sent.has(String(m[1])))).toEqual([]);
    expect(new Set(kept[c]).size, "no event is answered twice").toBe(kept[c]?.length);
  }
  await deaf.close();

  const again = await KillableServer.spawn(dataDir);
  const reader = await RelayClient.connect(await again.ready());
  for (const ids of kept) expect((await reader.ids({ ids })).toSorted()).toEqual(ids.toSorted());
  await reader.close();
  again.signal("SIGTERM");
  await again.ended;
  expect(again.exitCode, again.output).toBe(0);
});

test("SIGTERM beside those who never hang up: a client that does not read, half a handshake, a socket that says nothing", async () => {
  const server = await KillableServer.spawn(dataDir);
  const url = await server.ready();
  const deaf = await RelayClient.connect(url);
  for (let n = 0; n < 50; n++) deaf.say("REQ", `s${n}`, {});
  deaf.pauseReading();
  const { connect } = await import("node:net");
  const { hostname, port } = new URL(url);
  const halves = ["GET / HTTP/1.1\r\nHost: x\r\n", ""].map((text) => {
    const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true });
    socket.on("error", () => undefined);
    socket.write(text);
    return socket;
  });
  const polite = await RelayClient.connect(url);
  await polite.roundTrip();
  server.signal("SIGTERM");
  expect(await polite.untilClosed()).toBe(GOING_AWAY);
  await server.ended;
  expect(server.exitCode, server.output).toBe(0);
  for (const socket of halves) socket.destroy();
  await deaf.close();
});
