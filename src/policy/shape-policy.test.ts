import { expect, test } from "vitest";
import { fakeEvent, fakeId, fakeKey } from "../../test/kit/arbitrary/fake-event.ts";
import { rulesWith } from "../../test/kit/rules.ts";
import { unixSeconds } from "../base/time.ts";
import type { EventId, NostrEvent } from "../nostr/event.ts";
import { formatReason } from "../nostr/reason.ts";
import type { Rules } from "./rules.ts";
import { judgeShape } from "./shape-policy.ts";

const RULES = rulesWith({ places: [], eventBytesMax: 1_000, deletionTargetsMax: 2, unusedDeletionsMax: 3 });
const NOW = 1_000;
const alice = fakeKey("alice");
const bob = fakeKey("bob");
const protectedNote = fakeEvent({ tags: [["-"]] });
const zeros = (digits: number): EventId => `${"0".repeat(digits)}${"f".repeat(64 - digits)}` as EventId;
const deletion = (count: number) => fakeEvent({ kind: 5, tags: Array.from({ length: count }, (_, n) => ["e", fakeId(n)]) });

test.each<[what: string, event: NostrEvent, rules: Partial<Rules>, authenticated: (typeof alice)[], objection: string | undefined]>([
  ["an ordinary event", fakeEvent(), {}, [], undefined],
  [
    "NIP-42: an authentication as an event",
    fakeEvent({ kind: 22_242 }),
    {},
    [alice],
    "invalid: kind 22242 authenticates a connection and is sent with AUTH",
  ],
  ["NIP-40: over", fakeEvent({ tags: [["expiration", "1000"]] }), {}, [], "invalid: this event has expired"],
  ["NIP-40: not over", fakeEvent({ tags: [["expiration", "1001"]] }), {}, [], undefined],
  ["NIP-40: no time", fakeEvent({ tags: [["expiration", "soon"]] }), {}, [], undefined],
  ["NIP-13: none asked", fakeEvent({ id: zeros(0) }), {}, [], undefined],
  ["NIP-13: too little", fakeEvent({ id: zeros(1), tags: [["nonce", "1", "8"]] }), { minPow: 8 }, [], "pow: difficulty 4 is less than 8"],
  ["NIP-13: enough", fakeEvent({ id: zeros(2), tags: [["nonce", "1", "8"]] }), { minPow: 8 }, [], undefined],
  [
    "NIP-13: lucky, not committed",
    fakeEvent({ id: zeros(2) }),
    { minPow: 8 },
    [],
    "pow: the nonce tag must commit to a difficulty of at least 8",
  ],
  [
    "NIP-13: committed to less",
    fakeEvent({ id: zeros(2), tags: [["nonce", "1", "7"]] }),
    { minPow: 8 },
    [],
    "pow: committed difficulty 7 is less than 8",
  ],
  ["NIP-70: by nobody", protectedNote, {}, [], "auth-required: this event may only be published by its author"],
  ["NIP-70: by somebody else", protectedNote, {}, [bob], "auth-required: this event may only be published by its author"],
  ["NIP-70: by its author", protectedNote, {}, [bob, alice], undefined],
  [
    "NIP-70: a repost that embeds one",
    fakeEvent({ kind: 6, content: '{"tags":[["-"]]}' }),
    {},
    [alice],
    "invalid: a repost must not embed a protected event",
  ],
  ["NIP-70: a repost of something else", fakeEvent({ kind: 16, content: '{"tags":[["t","-"]]}' }), {}, [], undefined],
  ["grasp.md 11.1: so many targets", deletion(2), {}, [], undefined],
  ["grasp.md 11.1: too many", deletion(3), {}, [], "invalid: too many deletion targets"],
])("%s", (_, event, rules, authenticated, objection) => {
  const found = judgeShape(event, { ...RULES, ...rules }, { authenticated }, unixSeconds(NOW));
  expect(found === undefined ? undefined : formatReason(found)).toBe(objection);
});
