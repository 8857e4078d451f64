import fc from "fast-check";
import { expect, test } from "vitest";
import { runs } from "../../test/kit/arbitrary/runs.ts";
import { concatBytes, toHex, toUtf8 } from "../base/bytes.ts";
import { DELIM, FLUSH, PktDecoder, pktBytes, RESPONSE_END } from "./pkt-line.ts";

type Told = string;

/** `bytes` cut at the given places, in turn, until they are used up. */
function* cut(bytes: Uint8Array, sizes: readonly number[]): Generator<Uint8Array> {
  let at = 0;
  for (let i = 0; at < bytes.length; i++) {
    const size = sizes.length === 0 ? bytes.length : Math.max(1, sizes[i % sizes.length] as number);
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

function decode(chunks: Iterable<Uint8Array>): Told[] {
  const decoder = new PktDecoder();
  const told: Told[] = [];
  let fed = 0;
  for (const chunk of chunks) {
    decoder.feed(chunk);
    fed += chunk.length;
    for (let pkt = decoder.next(); pkt !== undefined; pkt = decoder.next()) {
      told.push(pkt.kind === "data" ? toHex(pkt.data) : pkt.kind);
      if (pkt.kind === "malformed") return told;
      expect(decoder.consumed + decoder.rest.length).toBe(fed);
    }
    expect(decoder.consumed).toBe(fed);
  }
  return told;
}

const special = fc.constantFrom(["flush", FLUSH], ["delim", DELIM], ["response-end", RESPONSE_END]);
const pkt = fc.oneof(
  special.map(([kind = "", text = ""]) => ({ told: kind, bytes: toUtf8(text) })),
  fc.uint8Array({ maxLength: 60 }).map((data) => ({ told: toHex(data), bytes: pktBytes(data) })),
);
const sizes = fc.array(fc.integer({ min: 1, max: 12 }), { maxLength: 8 });

test("what is encoded is decoded, however it is cut into chunks", () => {
  fc.assert(
    fc.property(fc.array(pkt, { maxLength: 12 }), sizes, (pkts, pieces) => {
      const bytes = concatBytes(pkts.map((one) => one.bytes));
      expect(decode(cut(bytes, pieces))).toEqual(pkts.map((one) => one.told));
    }),
    runs(500),
  );
});

test("any bytes are lines or a problem, without a throw, and cutting them changes nothing", () => {
  const digit = fc.constantFrom(...toUtf8("0000000123456789abcdefABCDEFg "));
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 80 }),
    fc.array(digit, { maxLength: 80 }).map((codes) => Uint8Array.from(codes)),
  );
  fc.assert(
    fc.property(bytes, sizes, (given, pieces) => {
      expect(decode(cut(given, pieces))).toEqual(decode([given]));
    }),
    runs(1_000),
  );
});
