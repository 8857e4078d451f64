import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { runs } from "../../test/kit/arbitrary/runs.ts";
import { reason } from "./reason.ts";
import {
  authText,
  closedText,
  countText,
  eoseText,
  eventMessage,
  negErrText,
  negMsgText,
  noticeText,
  okText,
  parseRelayMessage,
  type RelayMessage,
} from "./relay-message.ts";

const sub = 's"\\\n\ud800ü';

describe("what we say is what a client hears", () => {
  test.each<[string, RelayMessage]>([
    [okText("ab", true, ""), { kind: "ok", id: "ab", accepted: true, message: "" }],
    [okText('"', false, reason("invalid", 'a "b"')), { kind: "ok", id: '"', accepted: false, message: 'invalid: a "b"' }],
    [okText("ab", true, "purgatory: x"), { kind: "ok", id: "ab", accepted: true, message: "purgatory: x" }],
    [eventMessage(JSON.stringify(sub), '{"id":"x"}'), { kind: "event", sub, event: { id: "x" } }],
    [eoseText(sub), { kind: "eose", sub, hints: [] }],
    [eoseText(sub, "finish"), { kind: "eose", sub, hints: ["finish"] }],
    [closedText(sub, reason("error", "x")), { kind: "closed", sub, message: "error: x" }],
    [noticeText('say "x"'), { kind: "notice", text: 'say "x"' }],
    [countText(sub, 7), { kind: "count", sub, count: 7, approximate: false, hll: undefined }],
    [countText(sub, 7, { approximate: true, hll: "00" }), { kind: "count", sub, count: 7, approximate: true, hll: "00" }],
    [authText("c"), { kind: "auth", challenge: "c" }],
    [negMsgText(sub, "6100"), { kind: "neg-msg", sub, message: "6100" }],
    [negErrText(sub, "closed: x"), { kind: "neg-err", sub, reason: "closed: x", max: undefined }],
    [negErrText(sub, reason("blocked", "x"), 9), { kind: "neg-err", sub, reason: "blocked: x", max: 9 }],
  ])("%s", (text, message) => {
    expect(parseRelayMessage(text)).toEqual(message);
  });

  test("NIP-01: an OK has four elements, the last one even when it is empty", () => {
    expect(okText("ab", true, "")).toBe('["OK","ab",true,""]');
  });

  test.each([
    "",
    "{}",
    "[]",
    "[1]",
    '["OK","ab"]',
    '["OK","ab","true",""]',
    '["EVENT","s"]',
    '["COUNT","s",{"count":-1}]',
    '["COUNT","s"]',
    '["NEG-MSG","s",1]',
    '["HELLO","s"]',
  ])("not a relay's message: %s", (text) => {
    expect(parseRelayMessage(text)).toBeUndefined();
  });

  test("no text makes it throw", () => {
    const anything = fc.oneof(
      fc.string(),
      fc.json(),
      fc.array(fc.oneof(fc.constantFrom("EVENT", "OK", "EOSE", "COUNT", "NEG-ERR"), fc.jsonValue())).map((items) => JSON.stringify(items)),
    );
    fc.assert(
      fc.property(anything, (text) => {
        parseRelayMessage(text);
      }),
      runs(300),
    );
  });
});
