import { setTimeout as delay } from "node:timers/promises";
import { expect } from "vitest";
import { sign } from "../../kit/event-builder.ts";
import { mallory } from "../../kit/keys.ts";
import { RelayClient } from "../../kit/relay-client.ts";
import { CONTINUATION, frame, PING, RawSocket, UPGRADE, unfinishedFrame } from "./raw-socket.ts";
import type { Abuser } from "./sayers.ts";

const closedWith =
  (code: number, bytes: Buffer): Abuser =>
  async (server) => {
    const raw = await RawSocket.openRelay(server);
    raw.socket.write(bytes);
    await raw.closed;
    expect(raw.closeCode).toBe(code);
    raw.end();
  };

/** Held open until the well-behaved have finished beside it. */
const until = async (signal: AbortSignal, done: () => boolean = () => false): Promise<void> => {
  while (!signal.aborted && !done()) await delay(20);
};

/** Abuse below the level of messages: frames, sockets and HTTP. */
export const SENDERS: Readonly<Record<string, Abuser>> = {
  "a compressed frame that was not agreed on": closedWith(1002, frame("x", { reserved: 4 })),
  "a reserved opcode": closedWith(1002, frame("x", { opcode: 3 })),
  "a frame without a mask": closedWith(1002, frame("[]", { masked: false })),
  "bytes that are not UTF-8": closedWith(1007, frame(Uint8Array.of(0xff, 0xfe))),
  "a continuation of nothing": closedWith(1002, frame("x", { opcode: CONTINUATION })),
  "a length of 2^31": closedWith(1009, unfinishedFrame(2 ** 31, 0)),
  "a message in 20,000 fragments": closedWith(
    1008,
    Buffer.concat([
      frame("[", { final: false }),
      ...Array.from({ length: 20_000 }, () => frame("", { opcode: CONTINUATION, final: false })),
    ]),
  ),
  "pings without end, their answers never read": async (server, signal) => {
    const raw = await RawSocket.openRelay(server);
    raw.socket.pause();
    const gone = new Promise((resolve) => raw.socket.once("error", resolve).once("close", resolve));
    const pings = Buffer.concat(Array.from({ length: 500 }, () => frame("x".repeat(125), { opcode: PING })));
    await Promise.race([raw.flood(pings, signal), gone]);
    raw.socket.resume();
    await Promise.race([gone, raw.closed]);
    raw.end();
  },
  "20 messages of 4 MiB that never end": async (server, signal) => {
    const raws = await Promise.all(Array.from({ length: 20 }, () => RawSocket.openRelay(server)));
    for (const raw of raws) raw.socket.write(unfinishedFrame(5 * 1024 * 1024, 4 * 1024 * 1024));
    await until(signal);
    for (const raw of raws) raw.end();
  },
  "a message byte by byte": async (server, signal) => {
    const raws = await Promise.all(Array.from({ length: 20 }, () => RawSocket.openRelay(server)));
    for (const raw of raws) {
      raw.socket.setNoDelay(true);
      raw.socket.write(unfinishedFrame(5 * 1024 * 1024, 1));
    }
    while (!signal.aborted) {
      for (const raw of raws) raw.socket.write(" ");
      await delay(1);
    }
    for (const raw of raws) raw.end();
  },
  "large answers that nobody reads": async (server, signal) => {
    const raws = await Promise.all(Array.from({ length: 10 }, () => RawSocket.openRelay(server)));
    for (const raw of raws) {
      raw.socket.pause();
      for (let n = 0; n < 100; n++) raw.socket.write(frame(`["REQ","s${n}",{}]`));
    }
    await until(signal);
    for (const raw of raws) raw.end();
  },
  "a hundred subscriptions that nobody reads": async (server) => {
    const raw = await RawSocket.openRelay(server);
    for (let n = 0; n < 100; n++) raw.socket.write(frame(`["REQ","s${n}",{"kinds":[20001]}]`));
    while (raw.received.toString("latin1").split("EOSE").length <= 100) await delay(5);
    raw.socket.pause();
    // Ephemeral events are delivered and never stored: each is a hundred times its size for the one who does not read.
    const publisher = await RelayClient.connect(server.url);
    for (let n = 0; n < 100 && !raw.socket.destroyed; n++) {
      expect((await publisher.publish(sign(mallory, { kind: 20_001, content: `${n}${"x".repeat(50_000)}` }))).ok).toBe(true);
    }
    raw.socket.resume();
    await raw.closed;
    await publisher.close();
    raw.end();
  },
  "headers that arrive slowly": async (server) => {
    const raws = await Promise.all(Array.from({ length: 50 }, () => RawSocket.open(server)));
    for (const raw of raws) raw.socket.write("GET / HTTP/1.1\r\nHost: x\r\n");
    while (raws.some((raw) => !raw.isClosed)) {
      for (const raw of raws) if (!raw.isClosed) raw.socket.write("X: y\r\n");
      await delay(100);
    }
    for (const raw of raws) expect(raw.received.toString()).toMatch(/^HTTP\/1\.1 408 /);
    for (const raw of raws) raw.end();
  },
  "upgrades where there is nothing": async (server) => {
    const raws = await Promise.all(Array.from({ length: 50 }, () => RawSocket.open(server)));
    for (const raw of raws) raw.socket.write(`GET /nowhere HTTP/1.1\r\nHost: x\r\n${UPGRADE}\r\n`);
    for (const raw of raws) await raw.closed;
    for (const raw of raws) expect(raw.received.toString()).toMatch(/^HTTP\/1\.1 404 /);
    for (const raw of raws) raw.end();
  },
  "two requests in one body": async (server) => {
    const raw = await RawSocket.open(server);
    raw.socket.write(
      "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /metrics HTTP/1.1\r\nHost: x\r\n\r\n",
    );
    await raw.closed;
    expect(raw.received.toString()).toMatch(/^HTTP\/1\.1 400 /);
    expect(raw.received.toString()).not.toContain("ngit_");
    raw.end();
  },
  "a thousand requests sent ahead": async (server) => {
    const raws = await Promise.all(Array.from({ length: 5 }, () => RawSocket.open(server)));
    for (const raw of raws) raw.socket.write("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n".repeat(1_000));
    for (const raw of raws) await raw.closed;
    for (const raw of raws) raw.end();
  },
};
