import { schnorr } from "@noble/curves/secp256k1.js";
import { expect, test } from "vitest";
import { note, protectedNote, sign, signWithId, type WireEvent } from "../../test/kit/event-builder.ts";
import { alice, bob } from "../../test/kit/keys.ts";
import { rulesWith } from "../../test/kit/rules.ts";
import { instant } from "../base/time.ts";
import type { PublicKey } from "../nostr/event.ts";
import type { SchnorrVerifier } from "../nostr/verify.ts";
import { type Inspection, inspect } from "./inspect.ts";
import { ANONYMOUS, type Origin } from "./origin.ts";

const RULES = rulesWith({ places: [], eventBytesMax: 600, deletionTargetsMax: 10, unusedDeletionsMax: 3 });
const AT = 1_700_000_000;
const NOW = instant(AT * 1_000);

let checks = 0;
const verifier: SchnorrVerifier = {
  name: "counting",
  verify: (sig, message, pubkey) => {
    checks++;
    return schnorr.verify(sig, message, pubkey);
  },
};

function look(frame: string, origin: Origin = ANONYMOUS, known: readonly string[] = []): Inspection {
  return inspect(frame, origin, { rules: RULES, schnorr: verifier, isKnown: (id) => known.includes(id) }, NOW);
}
const frame = (event: unknown): string => JSON.stringify(["EVENT", event]);
const made = (content = "x", tags: string[][] = []): WireEvent => note(alice, content, { created_at: AT, tags });
const refusal = (event: WireEvent, message: string, eventKind = event.kind) => ({
  kind: "ok",
  id: event.id,
  eventKind,
  accepted: false,
  message,
});

test("a good one becomes a candidate: known fields, our order, no white space", () => {
  const event = made();
  const { sig, id, ...rest } = event;
  const found = look(` [ "EVENT" , ${JSON.stringify({ extra: 1, sig, ...rest, id }, undefined, 2)} ] `);
  expect(found).toEqual({
    kind: "candidate",
    event,
    text: JSON.stringify({ id, pubkey: rest.pubkey, created_at: AT, kind: 1, tags: [], content: "x", sig }),
  });
});

test.each<[what: string, frame: () => string, expected: () => unknown]>([
  ["no JSON", () => "x", () => ({ kind: "notice", text: expect.stringMatching(/^invalid: could not read/) })],
  ["another verb", () => '["CLOSE","x"]', () => ({ kind: "notice", text: "invalid: this is not an EVENT message" })],
  ["no event", () => '["EVENT"]', () => ({ kind: "notice", text: expect.any(String) })],
  ["no object", () => '["EVENT",[]]', () => ({ kind: "notice", text: "invalid: an event is a JSON object" })],
  [
    "no readable id",
    () => frame({ ...made(), id: "X".repeat(64) }),
    () => ({ kind: "notice", text: "invalid: id must be 64 lower-case hex digits" }),
  ],
  [
    "a bad field under a readable id",
    () => frame({ ...made(), kind: "1" }),
    () => refusal(made(), "invalid: kind must be a whole number from 0 to 65535", -1),
  ],
  [
    "grasp.md 3.3: too long",
    () => frame(made("x".repeat(400))),
    () => refusal(made("x".repeat(400)), "invalid: the event is larger than 600 bytes"),
  ],
  [
    "too long in bytes",
    () => frame(made("水".repeat(120))),
    () => refusal(made("水".repeat(120)), "invalid: the event is larger than 600 bytes"),
  ],
  [
    "NIP-40: expired",
    () => frame(made("", [["expiration", `${AT}`]])),
    () => refusal(made("", [["expiration", `${AT}`]]), "invalid: this event has expired"),
  ],
  ["a changed word", () => frame({ ...made(), content: "y" }), () => refusal(made(), "invalid: event id does not match its content")],
  [
    "a wrong id, well signed",
    () => frame(signWithId(alice, { created_at: AT }, "ab".repeat(32))),
    () => ({ kind: "ok", id: "ab".repeat(32), accepted: false, eventKind: 1, message: "invalid: event id does not match its content" }),
  ],
  [
    "another's signature",
    () => frame({ ...made(), sig: note(bob, "x", { created_at: AT }).sig }),
    () => refusal(made(), "invalid: signature is not valid"),
  ],
])("%s", (_, text, expected) => expect(look(text())).toEqual(expected()));

test("grasp.md 8.21: what is known or refused at a look costs no signature; a forged copy of what is known changes nothing", () => {
  checks = 0;
  const event = made();
  expect(look(frame(event), ANONYMOUS, [event.id])).toEqual({
    kind: "ok",
    id: event.id,
    eventKind: 1,
    accepted: true,
    message: "duplicate: already have this event",
  });
  look(frame({ ...event, sig: "0".repeat(128) }), ANONYMOUS, [event.id]);
  look(frame(made("x".repeat(400))));
  look(frame({ ...event, content: "y" }));
  expect(checks).toBe(0);
  look(frame(event));
  expect(checks).toBe(1);
});

test("NIP-70: whose connection it is decides; what our sync brings has no connection", () => {
  const event = protectedNote(alice, "x", { created_at: AT });
  const direct = (pubkey: string): Origin => ({ kind: "direct", authenticated: [pubkey as PublicKey] });
  expect(look(frame(event), direct(alice.pubkey)).kind).toBe("candidate");
  const words = "auth-required: this event may only be published by its author";
  for (const origin of [ANONYMOUS, direct(bob.pubkey), { kind: "synced", relay: "wss://x.example", how: "live" } as const]) {
    expect(look(frame(event), origin)).toEqual(refusal(event, words));
  }
});

test("NIP-42: an authentication is no event to publish", () => {
  expect(look(frame(sign(alice, { kind: 22_242, created_at: AT })))).toMatchObject({
    accepted: false,
    message: expect.stringMatching(/^invalid: /),
  });
});
