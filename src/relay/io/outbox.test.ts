import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import { settled } from "../../../test/kit/test-clock.ts";
import { Outbox, type OutboxPorts, SharedText } from "./outbox.ts";

const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const clean of cleanups.splice(0)) clean();
});

interface Pair {
  readonly outbox: Outbox;
  readonly socket: Socket;
  readonly client: WebSocket;
  readonly received: string[];
  readonly reports: { held: number; dirty: number; overflowed: number };
  /** Resolves when so many messages have come. */
  readonly heard: (count: number) => Promise<void>;
}

/** A real server socket with an outbox on it, and a real client that checks every frame. */
async function pair(bytesMax = 64 * 1024 * 1024): Promise<Pair> {
  const server = createServer();
  const sockets = new WebSocketServer({ noServer: true });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const reports = { held: 0, dirty: 0, overflowed: 0 };
  const ports: OutboxPorts = {
    dirty: () => void reports.dirty++,
    held: (bytes) => void (reports.held += bytes),
    overflowed: () => void reports.overflowed++,
  };
  const opened = new Promise<Socket>((resolve) => {
    server.on("upgrade", (request, stream, head) => {
      const socket = stream as Socket;
      sockets.handleUpgrade(request, socket, head, () => resolve(socket));
    });
  });
  const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`, { maxPayload: 0 });
  const socket = await opened;
  socket.on("error", () => undefined);
  await once(client, "open");
  const received: string[] = [];
  let wake = (): void => undefined;
  client.on("message", (data: Buffer, isBinary) => {
    received.push(isBinary ? "binary!" : data.toString("utf8"));
    wake();
  });
  client.on("error", (error) => received.push(`error: ${error.message}`));
  cleanups.push(() => {
    client.terminate();
    socket.destroy();
    server.close();
  });
  const heard = async (count: number): Promise<void> => {
    while (received.length < count) await new Promise<void>((resolve) => (wake = resolve));
  };
  return { outbox: new Outbox(socket, bytesMax, ports), socket, client, received, reports, heard };
}

/** Texts whose frames lie around every border of the header, in characters of one, two, three and four bytes. */
const BORDERS = [0, 1, 41, 42, 62, 63, 124, 125, 126, 127, 21_844, 21_845, 21_846, 32_767, 32_768, 65_534, 65_535, 65_536, 65_537];

describe("frames, as a WebSocket client decodes them (RFC 6455 5.2)", () => {
  test.each(["a", "é", "水", "🐦"])("of %s near the borders of the header", async (character) => {
    const { outbox, received, heard } = await pair();
    const texts = BORDERS.flatMap((bytes) => {
      const width = Buffer.byteLength(character);
      return [
        character.repeat(bytes),
        character.repeat(Math.floor(bytes / width)),
        `${"a".repeat(Math.max(0, bytes - width))}${character}`,
      ];
    });
    for (const text of texts) outbox.text(text);
    outbox.flush();
    await heard(texts.length);
    expect(received.map((text) => text.length)).toEqual(texts.map((text) => text.length));
    expect(received.every((text, n) => text === texts[n])).toBe(true);
  });

  test("larger than the scratch buffer, alone and between small ones", async () => {
    const { outbox, received, heard } = await pair();
    const texts = ["first", "a".repeat(1_048_577), "between", "水".repeat(400_000), "🐦".repeat(600_000), "last"];
    for (const text of texts) outbox.text(text);
    outbox.flush();
    await heard(texts.length);
    expect(received.every((text, n) => text === texts[n])).toBe(true);
  });

  test("shared pieces: the head of each subscriber, one text, and the closing bracket; in order with other text", async () => {
    const { outbox, received, heard } = await pair();
    const expected: string[] = [];
    for (const length of [0, 100, 125, 126, 65_520, 65_536, 1_048_576, 1_200_000]) {
      const shared = new SharedText(`"${"ü".repeat(length / 2)}"`);
      const head = `["EVENT","sub ${length} 🐦",`;
      outbox.shared(head, shared);
      outbox.text(`after ${length}`);
      outbox.shared("[", shared);
      expected.push(`${head}"${"ü".repeat(length / 2)}"]`, `after ${length}`, `["${"ü".repeat(length / 2)}"]`);
    }
    outbox.flush();
    await heard(expected.length);
    expect(received.every((text, n) => text === expected[n])).toBe(true);
  });

  test.each(["a", "é", "水", "🐦"])("a head and a body of %s, joined where they are written, near the borders", async (character) => {
    const { outbox, received, heard } = await pair();
    const head = '["EVENT","s🐦",';
    const bodies = BORDERS.flatMap((bytes) => {
      const room = Math.max(0, bytes - Buffer.byteLength(head) - 1);
      return [character.repeat(bytes), character.repeat(Math.floor(room / Buffer.byteLength(character))), `${"a".repeat(room)}`];
    });
    for (const body of [...bodies, "a".repeat(1_100_000), "水".repeat(350_000)]) outbox.event(head, body);
    outbox.flush();
    await heard(bodies.length + 2);
    expect(received.every((text, n) => text === `${head}${[...bodies, "a".repeat(1_100_000), "水".repeat(350_000)][n]}]`)).toBe(true);
  });

  test("what cannot be UTF-8 is replaced, and the frame is still whole", async () => {
    const { outbox, received, heard } = await pair();
    outbox.text(`${"\ud83d".repeat(60)} and more`);
    outbox.text("next");
    outbox.flush();
    await heard(2);
    expect(received).toEqual([`${"\ufffd".repeat(60)} and more`, "next"]);
  });

  test("many turns while the kernel is behind: nothing that waits is overwritten by what comes after", async () => {
    const { outbox, client, received, heard } = await pair();
    client.pause();
    const texts = Array.from({ length: 60 }, (_, n) => `${n} ${String.fromCharCode(97 + (n % 26)).repeat(200_000)}`);
    for (const text of texts) {
      outbox.text(text);
      outbox.flush();
    }
    client.resume();
    await heard(texts.length);
    expect(received.every((text, n) => text === texts[n])).toBe(true);
  });
});

describe("who is behind", () => {
  test("asks for one flush a turn, and for another after it", async () => {
    const { outbox, reports, received, heard } = await pair();
    outbox.text("a");
    outbox.text("b");
    expect(reports.dirty).toBe(1);
    outbox.flush();
    outbox.flush();
    outbox.text("c");
    expect(reports.dirty).toBe(2);
    outbox.flush();
    await heard(3);
    expect(received).toEqual(["a", "b", "c"]);
    expect(outbox.waiting).toBe(0);
  });

  test("back-pressure: room comes only when a client that did not read reads, and what is held is given back", async () => {
    const { outbox, client, reports, heard } = await pair();
    client.pause();
    let sent = 0;
    // The kernel's buffers on both sides are of unknown size: fill them until something stays with us.
    while (outbox.waiting < 4_000_000) {
      outbox.text("x".repeat(500_000));
      outbox.flush();
      sent++;
      await settled();
    }
    expect(reports.held).toBe(outbox.waiting);
    let hasRoom = false;
    const room = outbox.roomFor(262_144).then(() => {
      hasRoom = true;
    });
    await settled();
    expect(hasRoom).toBe(false);
    client.resume();
    await room;
    await heard(sent);
    await expect.poll(() => [outbox.waiting, reports.held]).toEqual([0, 0]);
    await outbox.roomFor(1);
  });

  test("grasp.md 3.3: more than may wait ends it, once; nothing is written afterwards and nobody waits for room", async () => {
    const { outbox, client, reports, socket } = await pair(1_000_000);
    client.pause();
    const before = () => reports.overflowed;
    for (let n = 0; n < 200 && before() === 0; n++) {
      outbox.text("x".repeat(100_000));
      outbox.flush();
      await settled();
    }
    expect(reports.overflowed).toBe(1);
    expect(reports.held, "given back").toBe(0);
    const written = socket.bytesWritten + socket.writableLength;
    outbox.text("more");
    outbox.shared("[", new SharedText("1"));
    outbox.flush();
    expect(socket.bytesWritten + socket.writableLength).toBe(written);
    expect(reports.overflowed).toBe(1);
    await outbox.roomFor(1);
  });

  test("what was never flushed counts too", () => {
    const reports = { overflowed: 0 };
    const idle = connect({ port: 9, host: "127.0.0.1", autoSelectFamily: false });
    idle.on("error", () => undefined);
    cleanups.push(() => void idle.destroy());
    const outbox = new Outbox(idle, 100, { dirty: () => undefined, held: () => undefined, overflowed: () => void reports.overflowed++ });
    outbox.shared('["EVENT",', new SharedText("x".repeat(80)));
    expect([outbox.waiting, reports.overflowed]).toEqual([90, 0]);
    outbox.text("y".repeat(20));
    expect([outbox.waiting, reports.overflowed]).toEqual([0, 1]);
  });

  test("whoever waits for room when the client goes is let go", async () => {
    const { outbox, client } = await pair();
    client.pause();
    while (outbox.waiting < 1_000_000) {
      outbox.text("x".repeat(500_000));
      outbox.flush();
      await settled();
    }
    const room = outbox.roomFor(10);
    outbox.close();
    await room;
  });

  test("writing to a client that has said goodbye disturbs nobody", async () => {
    const { outbox, client, socket } = await pair();
    client.close();
    await once(client, "close");
    for (let n = 0; n < 3; n++) {
      outbox.text("late");
      outbox.flush();
      await settled();
    }
    expect(socket.writableEnded || socket.destroyed).toBe(true);
  });
});
