/** Bytes that both the event files and the sockets speak: whole WebSocket client frames. */

const TEXT_FRAME = 0x81;
const PONG_FRAME = 0x8a;
const MASKED = 0x80;

/** RFC 6455 5.3 asks clients to mask; a mask key of four zeros is legal and leaves the payload as it is. */
function frame(opcode: number, payload: Buffer): Buffer {
  const size = payload.length;
  const head = size < 126 ? 6 : size < 65_536 ? 8 : 14;
  const out = Buffer.alloc(head + size);
  out[0] = opcode;
  if (head === 6) out[1] = MASKED | size;
  else if (head === 8) {
    out[1] = MASKED | 126;
    out.writeUInt16BE(size, 2);
  } else {
    out[1] = MASKED | 127;
    out.writeUInt32BE(size, 6);
  }
  payload.copy(out, head);
  return out;
}

export const textFrame = (text: string): Buffer => frame(TEXT_FRAME, Buffer.from(text));
export const pongFrame = (payload: Buffer): Buffer => frame(PONG_FRAME, payload);

/** The length of the client frame that starts at `at`, or 0 when its head is not all there. */
export function frameLength(bytes: Buffer, at: number): number {
  if (bytes.length - at < 2) return 0;
  const short = (bytes[at + 1] ?? 0) & 0x7f;
  if (short < 126) return 6 + short;
  if (short === 126) return bytes.length - at < 4 ? 0 : 8 + bytes.readUInt16BE(at + 2);
  return bytes.length - at < 10 ? 0 : 14 + bytes.readUInt32BE(at + 6);
}

export type Answer = "ok" | "event" | "eose" | "closed" | "notice" | "neg-msg" | "neg-err" | "other";

/** What a relay's message is, from its first letters alone: parsing JSON would cost the driver more than the relay spends. */
export function answerKind(bytes: Buffer, start: number): Answer {
  switch (bytes[start + 2] ?? 0) {
    case 0x4f: // O
      return "ok";
    case 0x45: // E
      return bytes[start + 3] === 0x56 ? "event" : "eose";
    case 0x43: // C
      return bytes[start + 3] === 0x4c ? "closed" : "other";
    case 0x4e: // N
      if (bytes[start + 3] === 0x4f) return "notice";
      return bytes[start + 6] === 0x4d ? "neg-msg" : "neg-err";
    default:
      return "other";
  }
}

const LETTER_F = 0x66;
const LETTER_T = 0x74;
/** `["OK","<64 hex digits>"` */
const OK_HEAD = 72;

/** Whether an OK message says true; white space after the commas is tolerated. */
export function okSaysTrue(bytes: Buffer, start: number, end: number): boolean {
  for (let at = start + OK_HEAD; at < end; at++) {
    if (bytes[at] === LETTER_T) return true;
    if (bytes[at] === LETTER_F) return false;
  }
  return false;
}
