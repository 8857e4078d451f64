import { type Bound, ORIGIN } from "./bound.ts";
import { fingerprint, sameBytes } from "./fingerprint.ts";
import type { ItemSet } from "./items.ts";
import { MessageReader, VERSION } from "./message-reader.ts";
import { FRAME_BYTES_MAX, MessageWriter } from "./message-writer.ts";
import { type NegProblem, problem } from "./problem.ts";
import { writeSplit } from "./split.ts";

export interface Reply {
  readonly kind: "reply";
  readonly message: Uint8Array;
}

const reply = (message: Uint8Array): Reply => ({ kind: "reply", message });

/**
 * The relay's side of NIP-77: the answer to one message, from the set alone. Nothing is remembered between two messages.
 * It ends when the answer's frame is full, or when enough of the message was read; what it did not come to is told as one last fingerprint.
 */
export function respond(items: ItemSet, message: Uint8Array, frameBytesMax: number = FRAME_BYTES_MAX): Reply | NegProblem {
  if (message.length === 0) return problem("empty");
  // NIP-77: a version we cannot handle is answered with the highest that we can.
  if (message[0] !== VERSION) return reply(Uint8Array.of(VERSION));

  const reader = new MessageReader(message);
  const out = new MessageWriter(frameBytesMax);
  let lower: Bound = ORIGIN;
  let low = 0;

  for (let range = reader.next(); range !== undefined; range = reader.next()) {
    if (range.kind === "problem") return range;
    // Places are looked up only for ranges that need them, so a message of skips costs next to nothing.
    if (range.kind !== "skip") {
      low = items.lowerBound(lower, low);
      const high = items.lowerBound(range.upper, low);
      const same =
        range.kind === "ids" ? sameBytes(range.ids, items.idBytes(low, high)) : sameBytes(range.fingerprint, fingerprint(items, low, high));
      if (!same) {
        out.skipTo(lower);
        const cutAt = range.kind === "ids" ? tellIds(out, items, low, high, range.upper) : tellParts(out, items, low, high, range.upper);
        if (cutAt !== undefined) {
          out.rest(fingerprint(items, cutAt, items.length));
          break;
        }
      }
      low = high;
    }
    lower = range.upper;
    if (reader.isSpent) {
      out.skipTo(lower);
      out.rest(fingerprint(items, items.lowerBound(lower, low), items.length));
      break;
    }
  }
  return reply(out.finish());
}

/** The item at which the frame was full; undefined when all was told. */
function tellParts(out: MessageWriter, items: ItemSet, low: number, high: number, upper: Bound): number | undefined {
  return writeSplit(out, items, low, high, upper) ? undefined : low;
}

/** As many ids as fit. The list's range ends where the list does, so that what was left out is still asked about. */
function tellIds(out: MessageWriter, items: ItemSet, low: number, high: number, upper: Bound): number | undefined {
  const room = out.idsRoom;
  if (high - low <= room) {
    out.ids(upper, items.idBytes(low, high));
    return undefined;
  }
  if (room <= 0) return low;
  out.ids(items.boundBefore(low + room), items.idBytes(low, low + room));
  return low + room;
}
