import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { fakeEvent } from "../../../test/kit/arbitrary/fake-event.ts";
import { systemClock } from "../../base/io/system-clock.ts";
import type { Answer } from "../../intake/inspect.ts";
import { eventText, type VerifiedEvent } from "../../nostr/event.ts";
import type { FeedChange } from "../../store/event-store.ts";
import { MemoryStore } from "../../store/memory-store.ts";
import type { RelayLimits } from "../limits.ts";
import type { RelayPorts, RelayReport } from "./relay-ports.ts";
import { RelayServer } from "./relay-server.ts";

const LIMITS: RelayLimits = {
  subscriptions: 10,
  subscriptionBytes: 10_000,
  subscriptionIdLength: 250,
  filtersPerRequest: 5,
  valuesPerRequest: 100,
  resultsMax: 1_000,
  resultsDefault: 1_000,
  messageBytes: 1_000_000,
  eventBytes: 200_000,
  negentropySessions: 2,
  negentropyItems: 100,
  eventsPerMinute: 0,
  queriesPerMinute: 0,
  messagesPerMinute: 0,
  authsPerMinute: 0,
  unansweredEvents: 8,
  pingAfterMs: 25_000,
  pongWithinMs: 20_000,
};

const nothing = (): void => undefined;
const SILENT: RelayReport = {
  connectionOpened: nothing,
  connectionClosed: nothing,
  messageReceived: nothing,
  messagesSent: nothing,
  eventReceived: nothing,
  eventStored: nothing,
  eventRejected: nothing,
  queryAnswered: nothing,
  fault: nothing,
};

const cleanups: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

/** An intake whose answers the test gives. */
class HeldIntake {
  readonly waiting: { frame: string; done: (answer: Answer) => void }[] = [];
  submitted = 0;
  isFull = false;

  submit(frame: string, _origin: unknown, _lane: number, done: (answer: Answer) => void): boolean {
    if (this.isFull) return false;
    this.submitted++;
    this.waiting.push({ frame, done });
    return true;
  }
  async prove(): Promise<string | undefined> {
    return undefined;
  }
  answerAll(): void {
    for (const { frame, done } of this.waiting.splice(0)) {
      const { id } = (JSON.parse(frame) as [string, { id: string }])[1];
      done({ kind: "ok", id, eventKind: 1, accepted: true, message: "" });
    }
  }
}

async function relayWith(limits: Partial<RelayLimits> = {}) {
  const store = new MemoryStore();
  const intake = new HeldIntake();
  let head = 0;
  const reader = Object.assign(store, { headNow: () => head as never });
  const ports: RelayPorts = {
    clock: systemClock,
    intake,
    reader,
    far: { leave: nothing } as unknown as RelayPorts["far"],
    report: SILENT,
    challenge: () => "challenge",
    allows: () => true,
  };
  const options = {
    relayUrls: [],
    outgoingBytesMax: 10_000_000,
    outgoingBytesTotalMax: 100_000_000,
    handshakeHeaders: [["X-Test", "yes"]] as const,
  };
  const relay = new RelayServer({ ...options, limits: { ...LIMITS, ...limits } }, ports);
  const server = createServer().listen(0, "127.0.0.1");
  server.on("upgrade", (request, socket, first) =>
    relay.upgrade(request, socket as Socket, first, { ip: "127.0.0.1", limitKey: undefined }),
  );
  await once(server, "listening");
  cleanups.push(async () => {
    await relay.stop(100);
    server.close();
  });
  const put = async (...events: VerifiedEvent[]): Promise<readonly FeedChange[]> => {
    const changes = await store.transact((tx) =>
      tx.apply(
        events.map((event) => ({ kind: "put", event, text: eventText(event), expiresAt: undefined, provenance: { how: "direct" } })),
      ),
    );
    head = changes.at(-1)?.seq ?? head;
    return changes;
  };
  const connect = async () => {
    const ws = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const heard: unknown[][] = [];
    ws.on("message", (data: Buffer) => heard.push(JSON.parse(data.toString()) as unknown[]));
    const handshake = once(ws, "upgrade");
    await once(ws, "open");
    cleanups.push(() => ws.terminate());
    return { ws, heard, handshake, say: (...message: unknown[]) => ws.send(JSON.stringify(message)) };
  };
  return { relay, intake, put, connect };
}

const note = (n: number, more: Parameters<typeof fakeEvent>[0] = {}) => fakeEvent({ content: `${n}`, created_at: 1_000 + n, ...more });
const contents = (heard: readonly unknown[][], sub: string): string[] =>
  heard.filter(([verb, to]) => verb === "EVENT" && to === sub).map(([, , event]) => (event as VerifiedEvent).content);

describe("stored, then live (NIP-01)", () => {
  test("what is stored comes newest first, then EOSE, then each new one once, whatever came in between", async () => {
    const { relay, put, connect } = await relayWith();
    relay.broadcast(await put(...Array.from({ length: 250 }, (_, n) => note(n))), []);
    const { heard, say } = await connect();
    say("REQ", "s", { kinds: [1] }, { authors: [note(0).pubkey] });
    let n = 250;
    // New ones while the query is being answered, too.
    while (!heard.some(([verb]) => verb === "EOSE")) {
      relay.broadcast(await put(note(n++)), []);
      await new Promise((resolve) => setImmediate(resolve));
    }
    relay.broadcast(await put(note(n++)), []);
    await expect.poll(() => contents(heard, "s").length).toBe(n);
    const eose = heard.findIndex(([verb]) => verb === "EOSE");
    const stored = heard.slice(0, eose).map(([, , event]) => Number((event as VerifiedEvent).content));
    expect(stored).toEqual(stored.toSorted((a, b) => b - a));
    expect(stored.length).toBeGreaterThanOrEqual(250);
    const live = contents(heard.slice(eose), "s").map(Number);
    expect(live).toEqual(Array.from({ length: n - stored.length }, (_, i) => stored.length + i));
    expect(relay.subscriptions).toBe(1);
  });

  test("ephemeral events are passed to who listens; a closed subscription hears nothing more", async () => {
    const { relay, connect, put } = await relayWith();
    const [one, other] = [await connect(), await connect()];
    one.say("REQ", "a", { kinds: [20_001] });
    one.say("REQ", "b", { "#t": ["x"] });
    other.say("REQ", "c", { kinds: [1] });
    await expect.poll(() => one.heard.length + other.heard.length).toBe(3);
    relay.broadcast([], [eventText(note(1, { kind: 20_001, tags: [["t", "x"]] }))]);
    await expect.poll(() => [...contents(one.heard, "a"), ...contents(one.heard, "b")]).toEqual(["1", "1"]);
    one.say("CLOSE", "a");
    one.say("COUNT", "");
    await expect.poll(() => one.heard.at(-1)?.[0]).toBe("NOTICE");
    relay.broadcast(await put(note(2)), [eventText(note(3, { kind: 20_001 }))]);
    await expect.poll(() => contents(other.heard, "c")).toEqual(["2"]);
    expect(contents(one.heard, "a")).toEqual(["1"]);
    one.ws.close();
    other.ws.close();
    await expect.poll(() => [relay.connections, relay.subscriptions]).toEqual([0, 0]);
  });
});

describe("reading stops and goes on (grasp.md 3.3)", () => {
  test("a flood of events waits in the client's socket while none is answered, and all are answered in the end", async () => {
    const { intake, connect } = await relayWith();
    const { ws, heard } = await connect();
    const padding = "x".repeat(20_000);
    const total = 1_500;
    for (let n = 0; n < total; n++) ws.send(`["EVENT",${eventText(note(n, { content: `${n}${padding}` }))}]`);
    await expect.poll(() => intake.submitted).toBeGreaterThanOrEqual(LIMITS.unansweredEvents);
    let before = -1;
    // Whatever is still on its way has come when two looks see the same.
    await expect.poll(() => before === (before = intake.submitted), { interval: 100 }).toBe(true);
    expect(intake.submitted, "the limit, and what one read of the socket had brought").toBeLessThan(LIMITS.unansweredEvents + 20);
    const answering = setInterval(() => intake.answerAll(), 1);
    cleanups.push(() => clearInterval(answering));
    await expect.poll(() => heard.length, { timeout: 20_000 }).toBe(total);
    expect(new Set(heard.map(([verb, , ok]) => `${String(verb)} ${String(ok)}`))).toEqual(new Set(["OK true"]));
  });

  test("refusals that come at once, at a limit of one event, leave the connection reading", async () => {
    const { intake, connect } = await relayWith({ unansweredEvents: 1 });
    const { heard, say } = await connect();
    intake.isFull = true;
    for (let n = 0; n < 5; n++) say("EVENT", note(n));
    await expect.poll(() => heard.length).toBe(5);
    expect(heard.every(([, , ok, words]) => ok === false && String(words).startsWith("rate-limited: "))).toBe(true);
    say("REQ", "s", {});
    await expect.poll(() => heard.at(-1)).toEqual(["EOSE", "s"]);
  });

  test("a rest for too many messages ends by itself", async () => {
    const { connect } = await relayWith({ messagesPerMinute: 60 });
    const { heard, say } = await connect();
    for (let n = 0; n < 60; n++) say("CLOSE", "x");
    say("EVENT", note(1));
    say("REQ", "s", {});
    await expect
      .poll(() => heard.map(([verb, about]) => [verb, about]))
      .toEqual([
        ["OK", note(1).id],
        ["CLOSED", "s"],
      ]);
    say("REQ", "t", {});
    await expect.poll(() => heard.at(-1)?.[0], { timeout: 10_000 }).toBe("EOSE");
  });
});

test("a stop answers what was handed in, then says goodbye; the handshake carries our headers", async () => {
  const { relay, intake, connect } = await relayWith();
  const { ws, heard, say, handshake } = await connect();
  const [response] = (await handshake) as [{ headers: Record<string, string> }];
  expect(response.headers["x-test"]).toBe("yes");
  say("EVENT", note(1));
  await expect.poll(() => intake.submitted).toBe(1);
  const closed = once(ws, "close");
  const stopped = relay.stop(10_000);
  await new Promise((resolve) => setImmediate(resolve));
  intake.answerAll();
  await stopped;
  const [code, why] = (await closed) as [number, Buffer];
  expect([code, why.toString()]).toEqual([1001, "the server is stopping"]);
  expect(heard).toEqual([["OK", note(1).id, true, ""]]);
  expect(relay.connections).toBe(0);
});
