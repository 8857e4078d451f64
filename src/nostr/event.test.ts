import { describe, expect, test } from "vitest";
import { fakeEvent } from "../../test/kit/arbitrary/fake-event.ts";
import { canonicalText, eventText, isEventId, readEvent, verbatimText } from "./event.ts";

const good = { ...fakeEvent({ tags: [["e", "x"], ["-"]], content: "hé\n" }) };

describe("NIP-01: the shape of an event", () => {
  test("a good one is read, without fields that nobody knows", () => {
    expect(readEvent({ ...good, extra: 1, __proto__: { kind: 9 } })).toEqual(good);
  });

  test.each<[string, unknown]>([
    ["no object", null],
    ["a list", [good]],
    ["upper-case id", { ...good, id: "A".repeat(64) }],
    ["short id", { ...good, id: good.id.slice(1) }],
    ["id with a line break", { ...good, id: `${good.id}\n` }],
    ["pubkey missing", { ...good, pubkey: undefined }],
    ["sig too long", { ...good, sig: `${good.sig}0` }],
    ["kind 65536", { ...good, kind: 65_536 }],
    ["kind as text", { ...good, kind: "1" }],
    ["kind 1.5", { ...good, kind: 1.5 }],
    ["created_at negative", { ...good, created_at: -1 }],
    ["created_at 2^53", { ...good, created_at: 2 ** 53 }],
    ["content null", { ...good, content: null }],
    ["tags no list", { ...good, tags: {} }],
    ["an empty tag", { ...good, tags: [[]] }],
    ["a number in a tag", { ...good, tags: [["e", 1]] }],
    ["null in a tag", { ...good, tags: [["e", null]] }],
  ])("refused with a sentence: %s", (_, value) => {
    expect(readEvent(value)).toEqual(expect.any(String));
  });

  test("grasp.md 3.2: created_at from 0 to 2^53-1, kind to 65535", () => {
    for (const created_at of [0, Number.MAX_SAFE_INTEGER]) expect(readEvent({ ...good, created_at })).toMatchObject({ created_at });
    expect(readEvent({ ...good, kind: 65_535 })).toMatchObject({ kind: 65_535 });
  });

  test("the stored text is the event again, keys in NIP-01's order", () => {
    expect(readEvent(JSON.parse(eventText(good)))).toEqual(good);
    expect(Object.keys(JSON.parse(eventText(good)))).toEqual(["id", "pubkey", "created_at", "kind", "tags", "content", "sig"]);
  });

  test("isEventId takes exactly 64 lower-case hex digits", () => {
    expect(isEventId("0".repeat(64))).toBe(true);
    for (const text of ["0".repeat(63), "0".repeat(65), `${"0".repeat(63)}G`, `${"0".repeat(63)}A`]) expect(isEventId(text)).toBe(false);
  });
});

describe("NIP-01: the text that is hashed", () => {
  test("no white space, seven escapes, the rest as it is", () => {
    const text = canonicalText({ ...good, tags: [["t", "ü\t"]], content: '\n"\\\r\b\f/\u007f\u2028😀' });
    expect(text).toBe(`[0,"${good.pubkey}",100,1,[["t","ü\\t"]],"\\n\\"\\\\\\r\\b\\f/\u007f\u2028😀"]`);
  });

  test("verbatim: control characters stand for themselves, an escaped backslash before u0001 does not become one", () => {
    expect(verbatimText(JSON.stringify("a\u0001\u001f\n\\u0001\\\u0002"))).toBe('"a\u0001\u001f\\n\\\\u0001\\\\\u0002"');
  });
});
