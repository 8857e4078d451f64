import type { Socket } from "node:net";

/** Frames of one turn are built here and handed to the kernel in one write. Larger than nearly every answer; what is larger goes in several. */
const SCRATCH_BYTES = 1_048_576;
/** Text frame, final. */
const TEXT_FRAME = 0x81;
const HEADER_MAX = 10;
/** UTF-8 needs at most three bytes for each of a string's characters. */
const BYTES_A_CHARACTER = 3;

let scratch = Buffer.allocUnsafeSlow(SCRATCH_BYTES);

/** A piece of text that many subscribers are sent: encoded once. */
export class SharedText {
  readonly bytes: Buffer;
  constructor(text: string) {
    this.bytes = Buffer.from(text, "utf8");
  }
}

/** A frame of `head`, the body and `]`. */
type Piece = { readonly head: string; readonly body: SharedText | string };

export interface OutboxPorts {
  /** Somebody has to call `flush` at the end of this turn. */
  dirty(outbox: Outbox): void;
  /** Bytes that wait in memory for this client grew or shrank by so many. */
  held(bytes: number): void;
  /** More waits for this client than it may hold back (grasp.md 3.3). */
  overflowed(outbox: Outbox): void;
}

/**
 * What one client will be sent. It writes WebSocket frames straight to the socket: all frames of a turn in one write, built without a copy in between.
 * (The WebSocket library on the same socket only ever writes whole frames too: pongs and the closing handshake.)
 */
export class Outbox {
  readonly #socket: Socket;
  readonly #ports: OutboxPorts;
  readonly #bytesMax: number;
  #pieces: (string | Piece)[] = [];
  #pending = 0;
  #buffered = 0;
  #waiters: (() => void)[] = [];
  #isDirty = false;
  #closed = false;

  constructor(socket: Socket, bytesMax: number, ports: OutboxPorts) {
    this.#socket = socket;
    this.#bytesMax = bytesMax;
    this.#ports = ports;
    socket.on("drain", () => this.#onDrain());
  }

  /** Bytes that wait: not yet written, or written and not yet taken by the kernel. */
  get waiting(): number {
    return this.#pending + this.#socket.writableLength;
  }

  text(text: string): void {
    this.#push(text, text.length);
    this.#markDirty();
  }

  /** A frame that is `head`, then `body`, then `]`: joined where it is written, not before. */
  event(head: string, body: string): void {
    this.#push({ head, body }, head.length + body.length + 1);
    this.#markDirty();
  }

  /** The same with a text that others are sent too. Whoever delivers live events also sees to the flush. */
  shared(head: string, shared: SharedText): void {
    this.#push({ head, body: shared }, head.length + shared.bytes.length + 1);
  }

  #markDirty(): void {
    if (this.#isDirty || this.#closed) return;
    this.#isDirty = true;
    this.#ports.dirty(this);
  }

  #push(piece: string | Piece, bytes: number): void {
    if (this.#closed) return;
    this.#pieces.push(piece);
    this.#pending += bytes;
    if (this.waiting > this.#bytesMax) {
      this.close();
      this.#ports.overflowed(this);
    }
  }

  /** Resolves when less than `bytes` wait, or the client is gone. */
  async roomFor(bytes: number): Promise<void> {
    if (this.#pending > bytes) this.flush();
    while (!this.#closed && this.#socket.writableLength > bytes) {
      await new Promise<void>((resolve) => this.#waiters.push(resolve));
    }
  }

  flush(): void {
    this.#isDirty = false;
    if (this.#closed || this.#pieces.length === 0) return;
    const pieces = this.#pieces;
    this.#pieces = [];
    this.#pending = 0;
    let end = 0;
    for (const piece of pieces) {
      const most = HEADER_MAX + bytesMost(piece);
      if (end + most > SCRATCH_BYTES) {
        if (end > 0) this.#write(scratch, end);
        end = 0;
        if (most > SCRATCH_BYTES) {
          const own = Buffer.allocUnsafeSlow(most);
          const length = frame(own, 0, piece);
          this.#socket.write(own.subarray(0, length));
          continue;
        }
      }
      end = frame(scratch, end, piece);
    }
    if (end > 0) this.#write(scratch, end);
    this.#account();
  }

  close(): void {
    this.#closed = true;
    this.#pieces = [];
    this.#pending = 0;
    this.#ports.held(-this.#buffered);
    this.#buffered = 0;
    this.#wake();
  }

  #write(buffer: Buffer, end: number): void {
    if (this.#socket.writableLength > 0) {
      // It will wait behind others for a client that does not read: a copy of its own size, or a small answer would hold on to the whole buffer.
      this.#socket.write(Buffer.from(buffer.subarray(0, end)));
      return;
    }
    this.#socket.write(buffer.subarray(0, end));
    // What the kernel did not take at once stays with the socket: that buffer is no longer ours to write into.
    if (this.#socket.writableLength > 0) scratch = Buffer.allocUnsafeSlow(SCRATCH_BYTES);
  }

  #onDrain(): void {
    this.#account();
    this.#wake();
  }

  #account(): void {
    if (this.#closed) return;
    const now = this.#socket.writableLength;
    if (now !== this.#buffered) this.#ports.held(now - this.#buffered);
    this.#buffered = now;
  }

  #wake(): void {
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const wake of waiters) wake();
  }
}

function bytesMost(piece: string | Piece): number {
  if (typeof piece === "string") return piece.length * BYTES_A_CHARACTER;
  const { head, body } = piece;
  return head.length * BYTES_A_CHARACTER + (typeof body === "string" ? body.length * BYTES_A_CHARACTER : body.bytes.length) + 1;
}

/** Writes one frame at `at` and returns where it ends. Nearly all text is ASCII, one byte a character; where it is not, the payload moves if its header turns out larger. */
function frame(buffer: Buffer, at: number, piece: string | Piece): number {
  const guess = headerSize(typeof piece === "string" ? piece.length : piece.head.length + lengthOf(piece.body) + 1);
  const length = payload(buffer, at + guess, piece);
  const size = headerSize(length);
  if (size !== guess) buffer.copyWithin(at + size, at + guess, at + guess + length);
  return header(buffer, at, length) + length;
}

const lengthOf = (body: SharedText | string): number => (typeof body === "string" ? body.length : body.bytes.length);

function payload(buffer: Buffer, at: number, piece: string | Piece): number {
  if (typeof piece === "string") return buffer.write(piece, at);
  const { head, body } = piece;
  let end = at + buffer.write(head, at);
  end += typeof body === "string" ? buffer.write(body, end) : body.bytes.copy(buffer, end);
  buffer[end] = 0x5d; // ]
  return end + 1 - at;
}

const headerSize = (length: number): number => (length < 126 ? 2 : length < 65_536 ? 4 : 10);

function header(buffer: Buffer, at: number, length: number): number {
  buffer[at] = TEXT_FRAME;
  if (length < 126) {
    buffer[at + 1] = length;
    return at + 2;
  }
  if (length < 65_536) {
    buffer[at + 1] = 126;
    buffer[at + 2] = length >>> 8;
    buffer[at + 3] = length & 0xff;
    return at + 4;
  }
  buffer[at + 1] = 127;
  buffer.writeUInt32BE(0, at + 2);
  buffer.writeUInt32BE(length, at + 6);
  return at + 10;
}
