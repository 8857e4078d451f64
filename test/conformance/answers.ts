import { expect } from "vitest";
import type { Message, RelayClient } from "../kit/relay-client.ts";

/** NIP-01's prefixes and NIP-42's. */
export const STANDARD_PREFIX = /^(duplicate|pow|blocked|rate-limited|invalid|restricted|mute|error|auth-required|unsupported): /;
/** grasp.md 3.2 knows these eight. */
export const OUR_PREFIX = /^(invalid|blocked|restricted|rate-limited|duplicate|pow|auth-required|error): /;

/** OK, CLOSED, NOTICE and so on: does each message have the form that its NIP gives it? */
export function wellFormed(message: Message): boolean {
  const [verb, first, second, third] = message;
  switch (verb) {
    case "EVENT":
      return message.length === 3 && typeof first === "string" && typeof second === "object" && second !== null;
    case "OK":
      return message.length === 4 && typeof first === "string" && typeof second === "boolean" && typeof third === "string";
    case "EOSE":
      return message.length === 2 && typeof first === "string";
    case "CLOSED":
      return message.length === 3 && typeof first === "string" && typeof second === "string";
    case "NOTICE":
    case "AUTH":
      return message.length === 2 && typeof first === "string";
    case "COUNT":
      return message.length === 3 && typeof first === "string" && typeof second === "object" && second !== null;
    case "NEG-MSG":
      return message.length === 3 && typeof first === "string" && typeof second === "string";
    case "NEG-ERR":
      return message.length >= 3 && typeof first === "string" && typeof second === "string";
    default:
      return false;
  }
}

export function expectWellFormed(client: RelayClient): void {
  expect(client.received.filter((message) => !wellFormed(message))).toEqual([]);
}

/** grasp.md 3.4: words that make peers stop for a day or for good, in places where nothing lasting is meant. */
export function expectHarmlessWords(client: RelayClient): void {
  const notices = client.notices();
  expect(notices.filter((text) => /envelope|NEG-|negentropy/i.test(text))).toEqual([]);
  const closed = client.received.filter((message) => message[0] === "CLOSED").map((message) => String(message[2]));
  expect(closed.filter((text) => /blocked|restricted/i.test(text))).toEqual([]);
}
