import { describe, expect, test } from "vitest";
import { type ClientMessage, type MessageProblem, PROBLEM_TEXTS, parseClientMessage } from "./client-message.ts";

describe("what a client says", () => {
  test.each<[string, ClientMessage]>([
    ['["EVENT",{"id":1}]', { kind: "event", event: { id: 1 } }],
    ['["EVENT",null]', { kind: "event", event: null }],
    ['["AUTH",{}]', { kind: "auth", event: {} }],
    [' [ "REQ" , "s" , {} , 7 ] ', { kind: "req", sub: "s", filters: [{}, 7] }],
    ['["COUNT","s",{}]', { kind: "count", sub: "s", filters: [{}] }],
    ['["CLOSE","s","more"]', { kind: "close", sub: "s" }],
    ['["NEG-OPEN","s",{},"61aB"]', { kind: "neg-open", sub: "s", filter: {}, message: "61aB" }],
    ['["NEG-MSG","s","61"]', { kind: "neg-msg", sub: "s", message: "61" }],
    ['["NEG-CLOSE","s"]', { kind: "neg-close", sub: "s" }],
  ])("%s", (text, message) => {
    expect(parseClientMessage(text)).toEqual(message);
  });

  test.each<[string, Omit<MessageProblem, "kind">]>([
    ["", { text: PROBLEM_TEXTS.notJson }],
    ['["REQ","s",{}', { text: PROBLEM_TEXTS.notJson }],
    ["{}", { text: PROBLEM_TEXTS.notList }],
    ["null", { text: PROBLEM_TEXTS.notList }],
    ["[]", { text: PROBLEM_TEXTS.noVerb }],
    ['[["EVENT"]]', { text: PROBLEM_TEXTS.noVerb }],
    ['["event",{}]', { text: PROBLEM_TEXTS.unknownVerb }],
    ['["NEG-WHAT","s"]', { text: PROBLEM_TEXTS.unknownVerb }],
    ['["EVENT"]', { text: PROBLEM_TEXTS.noEvent, verb: "EVENT" }],
    ['["AUTH"]', { text: PROBLEM_TEXTS.noEvent, verb: "AUTH" }],
    ['["REQ"]', { text: PROBLEM_TEXTS.noSub, verb: "REQ" }],
    ['["REQ","",{}]', { text: PROBLEM_TEXTS.noSub, verb: "REQ" }],
    ['["CLOSE",1]', { text: PROBLEM_TEXTS.noSub, verb: "CLOSE" }],
    ['["NEG-OPEN",{},"61"]', { text: PROBLEM_TEXTS.noSub, verb: "NEG-OPEN" }],
    ['["REQ","s"]', { text: PROBLEM_TEXTS.noFilter, verb: "REQ", sub: "s" }],
    ['["COUNT","s"]', { text: PROBLEM_TEXTS.noFilter, verb: "COUNT", sub: "s" }],
    ['["NEG-OPEN","s"]', { text: PROBLEM_TEXTS.noFilter, verb: "NEG-OPEN", sub: "s" }],
    ['["NEG-OPEN","s",{}]', { text: PROBLEM_TEXTS.noReconciliation, verb: "NEG-OPEN", sub: "s" }],
    ['["NEG-OPEN","s",{},16,"61"]', { text: PROBLEM_TEXTS.noReconciliation, verb: "NEG-OPEN", sub: "s" }],
    ['["NEG-OPEN","s",{},"6"]', { text: PROBLEM_TEXTS.noReconciliation, verb: "NEG-OPEN", sub: "s" }],
    ['["NEG-MSG","s",""]', { text: PROBLEM_TEXTS.noReconciliation, verb: "NEG-MSG", sub: "s" }],
    ['["NEG-MSG","s","zz"]', { text: PROBLEM_TEXTS.noReconciliation, verb: "NEG-MSG", sub: "s" }],
  ])("grasp.md 3.2, 3.4: malformed, and answered where the client waits: %s", (text, problem) => {
    expect(parseClientMessage(text)).toEqual({ kind: "problem", ...problem });
  });

  test("a million brackets are survived, closed or not", () => {
    const depth = 1_000_000;
    expect(parseClientMessage("[".repeat(depth)).kind).toBe("problem");
    expect(parseClientMessage(`["REQ","s",${"[".repeat(depth)}${"]".repeat(depth)}]`).kind).toBe("req");
    expect(parseClientMessage(`["EVENT",${'{"a":'.repeat(depth)}1${"}".repeat(depth)}]`).kind).toBe("event");
  });

  test("five MiB of digits are one message", () => {
    expect(parseClientMessage(`["NEG-MSG","s","${"61".repeat(2_621_440)}"]`)).toMatchObject({ kind: "neg-msg" });
  });

  test("grasp.md 3.4: no sentence has a word that peers act on", () => {
    for (const text of Object.values(PROBLEM_TEXTS)) {
      expect(text).not.toMatch(
        /envelope|neg-|negentropy|blocked|restricted|too many|slow down|throttl|rate.*limit|not support|unsupported/i,
      );
    }
  });
});
