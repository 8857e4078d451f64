import { connect, type Socket } from "node:net";
import type { ServerUnderTest } from "../../kit/server-under-test.ts";

/** What no client library sends: the bytes are ours. */
export interface FrameShape {
  readonly opcode?: number;
  readonly final?: boolean;
  readonly reserved?: number;
  readonly masked?: boolean;
}

export const TEXT = 1;
export const CONTINUATION = 0;
export const PING = 9;

const MASK = 0x80;

/** One WebSocket frame; the mask is zero, so that the payload stands as it is. */
export function frame(payload: string | Uint8Array, { opcode = TEXT, final = true, reserved = 0, masked = true }: FrameShape = {}): Buffer {
  const bytes = Buffer.from(payload as string);
  const mask = masked ? MASK : 0;
  const head = [(final ? 0x80 : 0) | (reserved << 4) | opcode];
  if (bytes.length < 126) head.push(mask | bytes.length);
  else if (bytes.length < 65_536) head.push(mask | 126, bytes.length >> 8, bytes.length & 0xff);
  else head.push(mask | 127, 0, 0, 0, 0, bytes.length >>> 24, (bytes.length >> 16) & 0xff, (bytes.length >> 8) & 0xff, bytes.length & 0xff);
  return Buffer.concat([Buffer.from(head), Buffer.alloc(masked ? 4 : 0), bytes]);
}

/** The beginning of a frame that claims a length and does not bring it. */
export function unfinishedFrame(claims: number, brings: number): Buffer {
  const whole = frame(Buffer.alloc(brings, 0x20));
  const head = Buffer.from([0x81, MASK | 127, 0, 0, 0, 0, 0, 0, 0, 0]);
  head.writeUInt32BE(claims, 6);
  return Buffer.concat([head, Buffer.alloc(4), whole.subarray(whole.length - brings)]);
}

/** A TCP connection that remembers what came and when it ended. */
export class RawSocket {
  readonly socket: Socket;
  readonly closed: Promise<void>;
  received = Buffer.alloc(0);
  isClosed = false;

  private constructor(socket: Socket) {
    this.socket = socket;
    this.closed = new Promise((resolve) => {
      const end = () => {
        this.isClosed = true;
        resolve();
      };
      socket.once("end", end).once("close", end);
    });
    socket.on("error", () => undefined);
    socket.on("data", (bytes: Buffer) => {
      this.received = Buffer.concat([this.received, bytes]);
    });
  }

  static async open(server: ServerUnderTest): Promise<RawSocket> {
    const { hostname, port } = new URL(server.httpUrl);
    const socket = connect(Number(port), hostname);
    await new Promise((resolve, reject) => socket.once("connect", resolve).once("error", reject));
    return new RawSocket(socket);
  }

  /** Through the handshake; what was received begins after it. */
  static async openRelay(server: ServerUnderTest): Promise<RawSocket> {
    const raw = await RawSocket.open(server);
    raw.socket.write(`GET / HTTP/1.1\r\nHost: x\r\n${UPGRADE}\r\n`);
    while (!raw.received.includes("\r\n\r\n")) await new Promise((resolve) => raw.socket.once("data", resolve));
    raw.received = Buffer.alloc(0);
    return raw;
  }

  /** Writes as fast as the other side takes it, until it hangs up or `signal` says so. */
  async flood(bytes: Uint8Array, signal: AbortSignal): Promise<void> {
    while (!signal.aborted && !this.isClosed && !this.socket.destroyed) {
      if (this.socket.write(bytes)) await new Promise((resolve) => setImmediate(resolve));
      else await Promise.race([new Promise((resolve) => this.socket.once("drain", resolve)), this.closed, aborted(signal)]);
    }
  }

  /** The code of the closing frame, when that is all that came. */
  get closeCode(): number | undefined {
    return this.received[0] === 0x88 ? this.received.readUInt16BE(2) : undefined;
  }

  end(): void {
    this.socket.destroy();
  }
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => (signal.aborted ? resolve() : signal.addEventListener("abort", () => resolve(), { once: true })));

export const UPGRADE =
  "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n";
