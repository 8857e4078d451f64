import { describe, expect, test } from "vitest";
import { type EventParts, fakeEvent } from "../../test/kit/arbitrary/fake-event.ts";
import { unixSeconds } from "../base/time.ts";
import type { NostrEvent, VerifiedEvent } from "./event.ts";
import { type HttpAuthExpectation, httpAuthToken, readHttpAuth } from "./http-auth.ts";

const URL_ASKED = "https://ours.example/npub/x.git";
const expected: HttpAuthExpectation = { url: URL_ASKED, method: "GET", now: unixSeconds(1_000) };
const believe = (event: NostrEvent) => event as VerifiedEvent;
const TAGS = [
  ["u", URL_ASKED],
  ["method", "GET"],
];
const event = (parts: EventParts = {}) => fakeEvent({ kind: 27_235, created_at: 1_000, tags: TAGS, ...parts });
const token = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64");

describe("NIP-98", () => {
  test("the header", () => {
    expect(httpAuthToken("Nostr abc=")).toBe("abc=");
    expect(httpAuthToken("nostr  abc ")).toBe("abc");
    for (const header of ["", "Nostr", "Nostr ", "Basic abc", "Nostr a b", "XNostr abc"]) expect(httpAuthToken(header)).toBeUndefined();
  });

  test("a good one gives the key and the id, with padding or without", () => {
    const ok = { kind: "ok", pubkey: event().pubkey, id: event().id };
    expect(readHttpAuth(token(event()), expected, believe)).toEqual(ok);
    expect(readHttpAuth(token(event()).replace(/=+$/, ""), expected, believe)).toEqual(ok);
    for (const created_at of [940, 1_060])
      expect(readHttpAuth(token(event({ created_at })), expected, believe)).toMatchObject({ kind: "ok" });
  });

  test.each<[string, string | undefined]>([
    ["none", undefined],
    ["empty", ""],
    ["no base64", "{}"],
    ["no JSON", Buffer.from("{").toString("base64")],
    ["no event", token({ kind: 27_235 })],
    ["too long", "A".repeat(16_385)],
    ["kind", token(event({ kind: 1 }))],
    ["too old", token(event({ created_at: 939 }))],
    ["too new", token(event({ created_at: 1_061 }))],
    [
      "another address",
      token(
        event({
          tags: [
            ["u", `${URL_ASKED}/`],
            ["method", "GET"],
          ],
        }),
      ),
    ],
    [
      "another method",
      token(
        event({
          tags: [
            ["u", URL_ASKED],
            ["method", "POST"],
          ],
        }),
      ),
    ],
    ["no address", token(event({ tags: [["method", "GET"]] }))],
    ["two addresses", token(event({ tags: [...TAGS, ["u", "https://other.example"]] }))],
    [
      "an address of three elements",
      token(
        event({
          tags: [
            ["u", URL_ASKED, "x"],
            ["method", "GET"],
          ],
        }),
      ),
    ],
  ])("refused: %s", (_, given) => {
    expect(readHttpAuth(given, expected, believe)).toEqual({ kind: "refused", text: expect.any(String) });
  });

  test("the signature is asked for last, and its word is final", () => {
    const asked: string[] = [];
    const disbelieve = (given: NostrEvent) => {
      asked.push(given.id);
      return "signature is not valid";
    };
    expect(readHttpAuth(token(event({ kind: 1 })), expected, disbelieve)).toMatchObject({ kind: "refused" });
    expect(asked).toEqual([]);
    expect(readHttpAuth(token(event()), expected, disbelieve)).toEqual({ kind: "refused", text: "signature is not valid" });
  });

  test("NIP-86: where a body is bound, its hash must be there", () => {
    const bound = { ...expected, payload: "ab".repeat(32) };
    expect(readHttpAuth(token(event()), bound, believe)).toMatchObject({ kind: "refused" });
    expect(readHttpAuth(token(event({ tags: [...TAGS, ["payload", "cd".repeat(32)]] })), bound, believe)).toMatchObject({
      kind: "refused",
    });
    expect(readHttpAuth(token(event({ tags: [...TAGS, ["payload", bound.payload]] })), bound, believe)).toMatchObject({ kind: "ok" });
  });
});
