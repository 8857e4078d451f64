import type { UnixSeconds } from "../base/time.ts";
import { type EventId, type NostrEvent, type PublicKey, readEvent, type VerifiedEvent } from "./event.ts";
import { HTTP_AUTH } from "./kinds.ts";

export interface HttpAuthExpectation {
  /** Absolute, from configuration and never from headers of the request; compared letter by letter. */
  readonly url: string;
  readonly method: string;
  readonly now: UnixSeconds;
  readonly windowSeconds?: number | undefined;
  /** sha256 of the body in lower-case hex: then the event must commit to it (NIP-86). Absent: a `payload` tag is not looked at. */
  readonly payload?: string | undefined;
}

/** The id is there for those who must not take one credential twice. */
export type HttpAuth =
  | { readonly kind: "ok"; readonly pubkey: PublicKey; readonly id: EventId }
  | { readonly kind: "refused"; readonly text: string };

/** NIP-98's suggestion, and grasp.md 13.2. */
export const HTTP_AUTH_WINDOW_SECONDS = 60;

/** The event is a few hundred bytes; this is as much as an HTTP header may hold. */
const TOKEN_CHARS_MAX = 16_384;
const NOT_BASE64 = /[^A-Za-z0-9+/=]/;

/** The token of `Authorization: Nostr <token>`; schemes are compared without case, as HTTP has it. */
export const httpAuthToken = (header: string): string | undefined => /^nostr +([^ ]+) *$/i.exec(header)?.[1];

/** Every check of NIP-98, the dear one (the signature, by `verify`) last. */
export function readHttpAuth(
  token: string | undefined,
  expected: HttpAuthExpectation,
  verify: (event: NostrEvent) => VerifiedEvent | string,
): HttpAuth {
  const event = readToken(token);
  if (typeof event === "string") return { kind: "refused", text: event };
  const problem = checkHttpAuth(event, expected);
  if (problem !== undefined) return { kind: "refused", text: problem };
  const verified = verify(event);
  return typeof verified === "string" ? { kind: "refused", text: verified } : { kind: "ok", pubkey: verified.pubkey, id: verified.id };
}

function readToken(token: string | undefined): NostrEvent | string {
  if (token === undefined || token === "") return "there is no Nostr authorization";
  if (token.length > TOKEN_CHARS_MAX || NOT_BASE64.test(token)) return "the authorization is not base64";
  try {
    return readEvent(JSON.parse(Buffer.from(token, "base64").toString("utf8")));
  } catch {
    return "the authorization is not JSON";
  }
}

/** Everything but id and signature; `undefined` when nothing is wrong. */
export function checkHttpAuth(event: NostrEvent, expected: HttpAuthExpectation): string | undefined {
  if (event.kind !== HTTP_AUTH) return "an HTTP authorization event has kind 27235";
  if (Math.abs(event.created_at - expected.now) > (expected.windowSeconds ?? HTTP_AUTH_WINDOW_SECONDS)) {
    return "the authorization is too far from the current time";
  }
  if (onlyValue(event, "u") !== expected.url) return "the u tag is not the address that was asked for";
  if (onlyValue(event, "method") !== expected.method) return "the method tag is not the method that was used";
  if (expected.payload !== undefined && onlyValue(event, "payload") !== expected.payload) {
    return "the payload tag is not the hash of the body";
  }
  return undefined;
}

/** Two `u` tags would authorise two things with one signature: then none counts. */
function onlyValue(event: NostrEvent, name: string): string | undefined {
  const tags = event.tags.filter((tag) => tag[0] === name);
  return tags.length === 1 && tags[0]?.length === 2 ? tags[0][1] : undefined;
}
