import { createHash, randomBytes } from "node:crypto";
import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { pongFrame, textFrame } from "./wire.ts";

/** One whole text message of the relay, as a range of a buffer that is only valid during the call. */
export type OnMessage = (bytes: Buffer, start: number, end: number) => void;

/** A relay that neither accepts nor refuses within this is not going to. */
const HANDSHAKE_MS = 15_000;
const OPCODE_CONTINUATION = 0;
const OPCODE_TEXT = 1;
const OPCODE_CLOSE = 8;
const OPCODE_PING = 9;
const EMPTY = Buffer.alloc(0);

/** One for all sockets: reads are handled to their end before the next one begins, and thousands of subscribers then need no memory of their own. */
const READ_BUFFER = Buffer.alloc(256 * 1024);

/** A WebSocket client with as little in it as possible, since driver and relay share the machine that is measured. */
export class RawClient {
  readonly #socket: Socket;
  #onMessage: OnMessage;
  #rest: Buffer = EMPTY;
  #parts: Buffer[] = [];
  #closed: string | undefined;
  #onClosed: ((reason: string) => void) | undefined;

  private constructor(socket: Socket, onMessage: OnMessage) {
    this.#socket = socket;
    this.#onMessage = onMessage;
  }

  static async connect(url: string, onMessage: OnMessage): Promise<RawClient> {
    const { hostname, port, protocol, pathname, host } = new URL(url);
    let sink: (chunk: Buffer) => void = () => undefined;
    const socket = openSocket(protocol === "wss:", hostname, port, (chunk) => sink(chunk));
    const client = new RawClient(socket, onMessage);
    const first = await handshake(socket, host, pathname, (handler) => {
      sink = handler;
    });
    sink = (chunk) => client.#receive(chunk);
    socket.on("close", () => client.#end("connection closed"));
    socket.on("error", (error) => client.#end(error.message));
    if (first.length > 0) client.#receive(first);
    return client;
  }

  set onMessage(handler: OnMessage) {
    this.#onMessage = handler;
  }

  set onClosed(handler: (reason: string) => void) {
    this.#onClosed = handler;
    if (this.#closed !== undefined) handler(this.#closed);
  }

  get closed(): string | undefined {
    return this.#closed;
  }

  send(frame: Buffer): void {
    this.#socket.write(frame);
  }

  sendText(text: string): void {
    this.#socket.write(textFrame(text));
  }

  close(): void {
    this.#onClosed = undefined;
    this.#closed ??= "closed by us";
    this.#socket.destroy();
  }

  #end(reason: string): void {
    if (this.#closed !== undefined) return;
    this.#closed = reason;
    this.#socket.destroy();
    this.#onClosed?.(reason);
  }

  /** Corked while it runs, so that what the handler sends in answer to many messages leaves in one write. */
  #receive(chunk: Buffer): void {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    this.#socket.cork();
    let at = 0;
    while (bytes.length - at >= 2) {
      let size = (bytes[at + 1] ?? 0) & 0x7f;
      let head = 2;
      if (size === 126) {
        if (bytes.length - at < 4) break;
        size = bytes.readUInt16BE(at + 2);
        head = 4;
      } else if (size === 127) {
        if (bytes.length - at < 10) break;
        size = bytes.readUInt32BE(at + 2) * 2 ** 32 + bytes.readUInt32BE(at + 6);
        head = 10;
      }
      const end = at + head + size;
      if (bytes.length < end) break;
      this.#frame(bytes[at] ?? 0, bytes, at + head, end);
      at = end;
    }
    this.#rest = at === bytes.length ? EMPTY : Buffer.from(bytes.subarray(at));
    this.#socket.uncork();
  }

  #frame(first: number, bytes: Buffer, start: number, end: number): void {
    const opcode = first & 0x0f;
    const last = (first & 0x80) !== 0;
    if (opcode === OPCODE_TEXT && last) this.#onMessage(bytes, start, end);
    else if (opcode === OPCODE_TEXT || opcode === OPCODE_CONTINUATION) {
      this.#parts.push(Buffer.from(bytes.subarray(start, end)));
      if (!last) return;
      const whole = Buffer.concat(this.#parts);
      this.#parts = [];
      this.#onMessage(whole, 0, whole.length);
    } else if (opcode === OPCODE_PING) this.#socket.write(pongFrame(bytes.subarray(start, end)));
    else if (opcode === OPCODE_CLOSE) this.#end(`relay closed: ${bytes.subarray(start + 2, end).toString() || "no reason given"}`);
  }
}

/** The chunks are only valid during the call. */
function openSocket(secure: boolean, host: string, port: string, onChunk: (chunk: Buffer) => void): Socket {
  if (secure) {
    const socket = connectTls({ host, port: Number(port || 443), servername: host });
    socket.on("data", onChunk);
    return socket.setNoDelay(true);
  }
  const callback = (size: number, buffer: Uint8Array): boolean => {
    onChunk(Buffer.from(buffer.buffer, buffer.byteOffset, size));
    return true;
  };
  return connect({ host, port: Number(port || 80), noDelay: true, onread: { buffer: READ_BUFFER, callback } });
}

/** Resolves with what came after the response's head. */
function handshake(socket: Socket, host: string, path: string, listen: (onChunk: (chunk: Buffer) => void) => void): Promise<Buffer> {
  const key = randomBytes(16).toString("base64");
  const accept = createHash("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");
  return new Promise((resolve, reject) => {
    let head = EMPTY;
    const fail = (reason: string): void => {
      settle();
      socket.destroy();
      reject(new Error(reason));
    };
    const timer = setTimeout(() => fail("no handshake in time"), HANDSHAKE_MS);
    const onError = (error: Error): void => fail(error.message);
    const onClose = (): void => fail("closed during the handshake");
    const onData = (chunk: Buffer): void => {
      head = Buffer.concat([head, chunk]);
      const end = head.indexOf("\r\n\r\n");
      if (end < 0) return;
      const text = head.toString("latin1", 0, end);
      if (!text.startsWith("HTTP/1.1 101") || !text.includes(accept)) return fail(`no upgrade: ${text.split("\r\n")[0] ?? ""}`);
      settle();
      resolve(head.subarray(end + 4));
    };
    const settle = (): void => {
      clearTimeout(timer);
      socket.off("error", onError).off("close", onClose);
    };
    listen(onData);
    socket.on("error", onError).on("close", onClose);
    socket.write(
      `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: ${key}\r\nSec-WebSocket-Version: 13\r\n\r\n`,
    );
  });
}
