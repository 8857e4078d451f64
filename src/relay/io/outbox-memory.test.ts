import { EventEmitter } from "node:events";
import type { Socket } from "node:net";
import { expect, test } from "vitest";
import { Outbox } from "./outbox.ts";

/** A socket whose other side does not read. */
class StuckSocket extends EventEmitter {
  readonly written: Buffer[] = [];
  writableLength = 0;
  write(bytes: Buffer): boolean {
    this.written.push(bytes);
    this.writableLength += bytes.length;
    return false;
  }
}

test("grasp.md 3.3: small answers to a client that does not read hold no more memory than they weigh", () => {
  const socket = new StuckSocket();
  let held = 0;
  const outbox = new Outbox(socket as unknown as Socket, 1_000_000, {
    dirty: () => undefined,
    held: (bytes) => {
      held += bytes;
    },
    overflowed: () => expect.unreachable(),
  });
  for (let n = 0; n < 100; n++) {
    outbox.text(`["NOTICE","${n}"]`);
    outbox.flush();
  }
  const memory = new Set(socket.written.slice(1).map((bytes) => bytes.buffer));
  const bytes = [...memory].reduce((sum, buffer) => sum + buffer.byteLength, 0);
  expect(bytes, "all but the first, which takes the common buffer along").toBeLessThan(1_048_576);
  expect(Buffer.concat(socket.written).toString()).toContain('["NOTICE","99"]');
  expect(held).toBe(socket.writableLength);
});
