import { hash } from "node:crypto";
import { schnorr } from "@noble/curves/secp256k1.js";
import { describe, expect, test } from "vitest";
import { sign, signWithId } from "../../test/kit/event-builder.ts";
import { alice, bob, mallory, signHash } from "../../test/kit/keys.ts";
import { canonicalText, type NostrEvent, readEvent } from "./event.ts";
import { eventId, type SchnorrVerifier, VERIFY_TEXTS, verifyEvent } from "./verify.ts";

const noble: SchnorrVerifier = { name: "noble", verify: (sig, message, pubkey) => schnorr.verify(sig, message, pubkey) };

function read(value: unknown): NostrEvent {
  const event = readEvent(value);
  if (typeof event === "string") throw new Error(event);
  return event;
}

describe("NIP-01: id and signature", () => {
  const event = read(sign(alice, { created_at: 1_700_000_000, content: 'a\n"b" \\ ü 😀 \u007f \u2028', tags: [["t", "x\ty"]] }));

  test("an honest event is verified", () => {
    expect(eventId(event)).toBe(event.id);
    expect(verifyEvent(event, noble)).toBe(event);
  });

  test("a forged copy is not: content, author, time, kind, tags", () => {
    const forgeries: readonly Partial<NostrEvent>[] = [
      { content: "other" },
      { pubkey: read(sign(bob)).pubkey },
      { created_at: read(sign(bob, { created_at: 5 })).created_at },
      { kind: 2 },
      { tags: [] },
    ];
    for (const forgery of forgeries) expect(verifyEvent({ ...event, ...forgery }, noble)).toBe(VERIFY_TEXTS.id);
  });

  test("another's signature, or one under an id of the forger's choice, is not", () => {
    expect(verifyEvent({ ...event, sig: signHash(mallory, Buffer.from(event.id, "hex")) }, noble)).toBe(VERIFY_TEXTS.signature);
    expect(verifyEvent(read(signWithId(alice, { content: "x" }, event.id)), noble)).toBe(VERIFY_TEXTS.id);
  });

  test("control characters: verbatim as NIP-01 says, or escaped as JSON libraries do", () => {
    const template = { created_at: 1_700_000_000, content: "a\u0001b\\u0001\u001f", tags: [["t", "\u0000"]] };
    const verbatim = read(sign(alice, template));
    const id = hash("sha256", canonicalText(verbatim), "hex");
    const escaped = read(signWithId(alice, template, id));
    expect(escaped.id).not.toBe(verbatim.id);
    expect(verifyEvent(verbatim, noble)).toBe(verbatim);
    expect(verifyEvent(escaped, noble)).toBe(escaped);
  });
});
