import { describe, expect, test } from "vitest";
import { fakeEvent, fakeKey } from "../../test/kit/arbitrary/fake-event.ts";
import { instant } from "../base/time.ts";
import { eventText, type NostrEvent } from "../nostr/event.ts";
import { reason } from "../nostr/reason.ts";
import { normaliseRelayUrl, type RelayUrl } from "../nostr/relay-url.ts";
import { connectionMachine, openConnection, termsOf } from "./connection.ts";
import { AUTHENTICATED_MAX } from "./connection-auth.ts";
import type { Connection, Effect, Input } from "./connection-state.ts";
import type { RelayLimits } from "./limits.ts";

const START = 1_700_000_000_000;
const CHALLENGE = "c".repeat(32);
const RELAY = "wss://relay.example";

const LIMITS: RelayLimits = {
  subscriptions: 3,
  subscriptionBytes: 2_000,
  subscriptionIdLength: 250,
  filtersPerRequest: 3,
  valuesPerRequest: 10,
  resultsMax: 50,
  resultsDefault: 20,
  messageBytes: 100_000,
  eventBytes: 1_000,
  negentropySessions: 2,
  negentropyItems: 100,
  eventsPerMinute: 0,
  queriesPerMinute: 0,
  messagesPerMinute: 0,
  authsPerMinute: 0,
  unansweredEvents: 4,
  pingAfterMs: 25_000,
  pongWithinMs: 20_000,
};

/** A connection and everything it said: `say` feeds a message, `tell` anything else, and both return what came of it. */
class Talk {
  readonly #machine;
  state: Connection;
  now = START;

  constructor(limits: Partial<RelayLimits> = {}) {
    const terms = termsOf({ ...LIMITS, ...limits }, [normaliseRelayUrl(RELAY) as RelayUrl]);
    this.#machine = connectionMachine(terms);
    this.state = openConnection(terms, CHALLENGE, instant(START));
  }

  tell(input: Input): readonly Effect[] {
    const { state, effects } = this.#machine.step(this.state, input, instant(this.now));
    this.state = state;
    return effects;
  }

  say(...message: readonly unknown[]): readonly unknown[] {
    return this.text(JSON.stringify(message));
  }

  /** What was said as parsed messages, and other effects by name. */
  text(text: string): readonly unknown[] {
    return readable(this.tell({ kind: "frame", text }));
  }

  after(ms: number): readonly unknown[] {
    this.now += ms;
    return readable(this.tell({ kind: "wake" }));
  }

  get wakeAt(): number {
    return this.#machine.wakeAt(this.state);
  }
}

const readable = (effects: readonly Effect[]): readonly unknown[] => effects.map((e) => (e.kind === "say" ? JSON.parse(e.text) : e.kind));

const event = (n = 0): NostrEvent => fakeEvent({ content: `${n}` });
const eventFrame = (n = 0): string => `["EVENT",${eventText(event(n))}]`;
const answerTo = (n: number, message = ""): Input => ({
  kind: "answered",
  text: JSON.stringify(["OK", event(n).id, message === "", message]),
});

const authEvent = (parts: { key?: string; challenge?: string; relay?: string; kind?: number; at?: number } = {}): NostrEvent =>
  fakeEvent({
    pubkey: fakeKey(parts.key ?? "alice"),
    kind: parts.kind ?? 22_242,
    created_at: parts.at ?? START / 1_000,
    tags: [
      ["relay", parts.relay ?? RELAY],
      ["challenge", parts.challenge ?? CHALLENGE],
    ],
  });

describe("what each message comes to", () => {
  test("a conversation", () => {
    const talk = new Talk();
    expect(talk.say("REQ", "a", { kinds: [1] })).toEqual(["query"]);
    expect(talk.text(eventFrame())).toEqual(["submit"]);
    expect(readable(talk.tell(answerTo(0)))).toEqual([["OK", event(0).id, true, ""]]);
    expect(talk.say("COUNT", "n", { kinds: [1] })).toEqual(["count"]);
    expect(talk.say("NEG-OPEN", "r", { kinds: [1] }, "6100000200")).toEqual(["reconcile"]);
    expect(talk.say("NEG-MSG", "r", "61")).toEqual(["reconcile"]);
    expect(talk.say("NEG-CLOSE", "r")).toEqual(["reconcile-end"]);
    expect(talk.say("CLOSE", "a")).toEqual(["forget"]);
    expect(talk.state.subscriptions.size + talk.state.reconciliations.size + talk.state.subscriptionBytes + talk.state.unanswered).toBe(0);
  });

  test.each<[what: string, text: string, answer: unknown]>([
    ["no JSON", "hello", ["NOTICE", "invalid: could not read the message: it is not JSON"]],
    ["no list", "{}", ["NOTICE", "invalid: could not read the message: it is not a JSON list"]],
    ["an unknown verb", '["PUSH","x"]', ["NOTICE", "invalid: this relay does not know that verb"]],
    ["a REQ without an id", '["REQ"]', ["NOTICE", "invalid: the subscription id must be a string that is not empty"]],
    ["a REQ without filters", '["REQ","s"]', ["CLOSED", "s", "invalid: a filter is missing after the subscription id"]],
    ["a filter that is none", '["REQ","s",7]', ["CLOSED", "s", "invalid: a filter is a JSON object"]],
    ["a filter with unknown parts", '["REQ","s",{"search":"x"}]', ["CLOSED", "s", "unsupported: filter contains unknown elements"]],
    ["too many filters", '["REQ","s",{},{},{},{}]', ["CLOSED", "s", "invalid: at most 3 filters may be asked at once"]],
    [
      "too many values",
      `["REQ","s",{"kinds":[${[...Array(11).keys()].join()}]}]`,
      ["CLOSED", "s", "invalid: at most 10 values may be asked at once"],
    ],
    ["a COUNT without filters", '["COUNT","s"]', ["CLOSED", "s", "invalid: a filter is missing after the subscription id"]],
    ["a COUNT with a bad one", '["COUNT","s",{"ids":1}]', ["CLOSED", "s", "invalid: ids must be a list of 64 lower-case hex digits each"]],
    ["a NEG-OPEN without hex", '["NEG-OPEN","s",{},"xy"]', ["NEG-ERR", "s", "invalid: the last element must be a string of hex digits"]],
    [
      "a NEG-OPEN with unknown parts",
      '["NEG-OPEN","s",{"search":"x"},"61"]',
      ["NEG-ERR", "s", "invalid: filter contains unknown elements"],
    ],
    ["a NEG-MSG out of the blue", '["NEG-MSG","s","61"]', ["NEG-ERR", "s", "closed: no reconciliation of this id is open"]],
    ["an EVENT without an event", '[ "EVENT"]', ["NOTICE", "invalid: an event is missing after the verb"]],
    ["an AUTH that is no event", '["AUTH",1]', ["NOTICE", "invalid: an event is a JSON object"]],
    [
      "an AUTH with a readable id",
      `["AUTH",{"id":"${"a".repeat(64)}"}]`,
      ["OK", "a".repeat(64), false, "invalid: pubkey must be 64 lower-case hex digits"],
    ],
    ["nesting", `[ ${"[".repeat(70_000)}`, ["NOTICE", "invalid: the message is nested too deep or holds too many parts"]],
  ])("grasp.md 3.2: %s is refused where the client waits, and the connection lives", (_, text, answer) => {
    const talk = new Talk();
    expect(talk.text(text)).toEqual([answer]);
    expect(talk.state).toEqual(new Talk().state);
  });

  test("grasp.md 3.2: binary is no message", () => {
    expect(readable(new Talk().tell({ kind: "binary" }))).toEqual([["NOTICE", "invalid: messages are text, not binary"]]);
  });

  test("an event is handed on unread, however it is spaced", () => {
    const spaced = ` [ "EVENT" , ${eventText(event())} ] `;
    expect(new Talk().tell({ kind: "frame", text: spaced })).toEqual([{ kind: "submit", frame: spaced }]);
    expect(new Talk().tell({ kind: "frame", text: eventFrame() })).toEqual([{ kind: "submit", frame: eventFrame() }]);
  });

  test("grasp.md 3.3: a frame that no event can fill is refused by its id; a bomb too", () => {
    const long = `["EVENT",${eventText(fakeEvent({ content: "x".repeat(4_000) }))}]`;
    expect(new Talk().text(long)).toEqual([
      ["OK", expect.stringMatching(/^[0-9a-f]{64}$/), false, "invalid: the event is larger than 1000 bytes"],
    ]);
    expect(new Talk().text(`["EVENT",{"content":"${"x".repeat(5_000)}"}]`)).toEqual([
      ["NOTICE", "invalid: the event is larger than 1000 bytes"],
    ]);
    const bomb = `["EVENT",{"id":"${"b".repeat(64)}","tags":${"[".repeat(3_000)}`;
    expect(new Talk().text(bomb)).toEqual([
      ["OK", "b".repeat(64), false, "invalid: the message is nested too deep or holds too many parts"],
    ]);
  });
});

describe("subscriptions", () => {
  test("NIP-01: a REQ with a known id replaces the old one, even when it is refused itself", () => {
    const talk = new Talk();
    talk.say("REQ", "s", { kinds: [1] });
    const first = talk.state.subscriptions.get("s")?.epoch;
    expect(talk.say("REQ", "s", { kinds: [2] })).toEqual(["forget", "query"]);
    expect(talk.state.subscriptions.get("s")?.epoch).not.toBe(first);
    expect(talk.say("REQ", "s", 7)).toEqual(["forget", ["CLOSED", "s", "invalid: a filter is a JSON object"]]);
    talk.say("REQ", "s", { kinds: [1] });
    expect(talk.say("REQ", "s"), "what is said to be closed is closed").toEqual(["forget", ["CLOSED", "s", expect.any(String)]]);
    expect(talk.state.subscriptionBytes).toBe(0);
  });

  test("limits of the answer: ours by default, never more than ours, 0 stays 0", () => {
    const limitOf = (filter: object) => {
      const [effect] = new Talk().tell({ kind: "frame", text: JSON.stringify(["REQ", "s", filter]) });
      return effect?.kind === "query" ? effect.filters[0]?.limit : undefined;
    };
    expect([limitOf({}), limitOf({ limit: 5 }), limitOf({ limit: 500 }), limitOf({ limit: 0 })]).toEqual([20, 5, 50, 0]);
  });

  test("grasp.md 3.3, 3.4: too many and too much are rate-limited, and closing one makes room", () => {
    const talk = new Talk();
    for (const sub of ["a", "b", "c"]) talk.say("REQ", sub, {});
    expect(talk.say("REQ", "d", {})).toEqual([["CLOSED", "d", "rate-limited: at most 3 subscriptions may be open at once"]]);
    expect(talk.say("REQ", "a", {}), "a replacement needs no more room").toEqual(["forget", "query"]);
    talk.say("CLOSE", "a");
    expect(talk.say("REQ", "d", {})).toEqual(["query"]);
    const large = { "#t": ["x".repeat(1_500)] };
    const other = new Talk();
    expect(other.say("REQ", "a", large)).toEqual(["query"]);
    expect(other.say("REQ", "b", large)).toEqual([["CLOSED", "b", "rate-limited: open subscriptions may hold 2000 bytes in all"]]);
    expect(other.say("REQ", "a", large), "its own room is free for its successor").toEqual(["forget", "query"]);
  });

  test("NIP-11: ids have 250 characters and no more", () => {
    expect(new Talk().say("REQ", "x".repeat(250), {})).toEqual(["query"]);
    const [answer] = new Talk().say("REQ", "x".repeat(251), {});
    expect(answer).toEqual(["CLOSED", "x".repeat(251), "invalid: a subscription id has at most 250 characters"]);
  });

  test("one that we end is closed once, and its end does not hit its successor", () => {
    const talk = new Talk();
    talk.say("REQ", "s", {});
    const old = talk.state.subscriptions.get("s")?.epoch as number;
    talk.say("REQ", "s", {});
    const why = reason("error", "it takes too long");
    expect(talk.tell({ kind: "ended", sub: "s", epoch: old, reason: why })).toEqual([]);
    const epoch = talk.state.subscriptions.get("s")?.epoch as number;
    expect(readable(talk.tell({ kind: "ended", sub: "s", epoch, reason: why }))).toEqual([
      "forget",
      ["CLOSED", "s", "error: it takes too long"],
    ]);
    expect(talk.tell({ kind: "ended", sub: "s", epoch, reason: why })).toEqual([]);
  });
});

describe("reconciliations (NIP-77)", () => {
  const open = (talk: Talk, sub: string) => talk.say("NEG-OPEN", sub, {}, "6100000200");
  const reconciled = (sub: string, epoch: number, over: boolean): Input => ({
    kind: "reconciled",
    sub,
    epoch,
    text: `["NEG-MSG","${sub}","61"]`,
    over,
  });

  test("an open one of the same id is closed first; there are so many and no more", () => {
    const talk = new Talk();
    expect(open(talk, "a")).toEqual(["reconcile"]);
    expect(open(talk, "a")).toEqual(["reconcile-end", "reconcile"]);
    open(talk, "b");
    expect(open(talk, "c")).toEqual([["NEG-ERR", "c", "rate-limited: at most 2 reconciliations may be open at once"]]);
    expect(open(talk, "b")).toEqual(["reconcile-end", "reconcile"]);
    talk.say("NEG-CLOSE", "a");
    expect(open(talk, "c")).toEqual(["reconcile"]);
  });

  test("the filter comes with the first message, without a limit", () => {
    const talk = new Talk();
    const [first] = talk.tell({ kind: "frame", text: '["NEG-OPEN","a",{"kinds":[1],"limit":5},"61"]' });
    expect(first).toMatchObject({ kind: "reconcile", message: "61", filter: { kinds: [1], limit: undefined } });
    const [second] = talk.tell({ kind: "frame", text: '["NEG-MSG","a","6102"]' });
    expect(second).toMatchObject({ kind: "reconcile", message: "6102", filter: undefined });
  });

  test("answers of a closed one are not passed on, and one that is over frees its place", () => {
    const talk = new Talk();
    open(talk, "a");
    const old = talk.state.reconciliations.get("a") as number;
    open(talk, "a");
    const epoch = talk.state.reconciliations.get("a") as number;
    expect(talk.tell(reconciled("a", old, false))).toEqual([]);
    expect(readable(talk.tell(reconciled("a", epoch, false)))).toEqual([["NEG-MSG", "a", "61"]]);
    expect(readable(talk.tell(reconciled("a", epoch, true)))).toEqual(["reconcile-end", ["NEG-MSG", "a", "61"]]);
    expect(talk.tell(reconciled("a", epoch, true))).toEqual([]);
  });

  test("grasp.md 3.4: a malformed message ends it by NEG-ERR, never by NOTICE", () => {
    const talk = new Talk();
    open(talk, "a");
    expect(talk.say("NEG-MSG", "a", "not hex")).toEqual(["reconcile-end", ["NEG-ERR", "a", expect.stringMatching(/^invalid: /)]]);
    expect(talk.state.reconciliations.size).toBe(0);
  });
});

describe("rates (grasp.md 3.3, 3.4)", () => {
  test("events, queries and authentications beyond theirs are refused where the client waits; a minute gives them back", () => {
    const talk = new Talk({ eventsPerMinute: 1, queriesPerMinute: 2, authsPerMinute: 1 });
    talk.text(eventFrame(0));
    expect(talk.text(eventFrame(1))).toEqual([["OK", event(1).id, false, "rate-limited: too many events in a minute, slow down"]]);
    talk.say("REQ", "a", {});
    talk.say("NEG-OPEN", "n", {}, "61");
    const slow = "rate-limited: too many queries in a minute, slow down";
    expect(talk.say("REQ", "a", {})).toEqual(["forget", ["CLOSED", "a", slow]]);
    expect(talk.say("COUNT", "c", {})).toEqual([["CLOSED", "c", slow]]);
    expect(talk.say("NEG-MSG", "n", "61")).toEqual(["reconcile-end", ["NEG-ERR", "n", slow]]);
    talk.say("AUTH", authEvent());
    expect(talk.say("AUTH", authEvent())).toEqual([
      ["OK", authEvent().id, false, "rate-limited: too many authentications in a minute, slow down"],
    ]);
    talk.now += 60_000;
    expect([talk.text(eventFrame(2)), talk.say("REQ", "b", {})]).toEqual([["submit"], ["query"]]);
  });

  test("messages beyond theirs: reading stops; what was read is refused where its sender waits, and closing is done", () => {
    const talk = new Talk({ messagesPerMinute: 3 });
    talk.say("REQ", "a", {});
    talk.say("REQ", "b", {});
    talk.say("NEG-OPEN", "n", {}, "61");
    const slow = "rate-limited: too many messages in a minute, slow down";
    expect(talk.text("junk")).toEqual(["pause", ["NOTICE", slow]]);
    expect(talk.text("junk"), "said once").toEqual([]);
    expect(talk.text(eventFrame(1))).toEqual([["OK", event(1).id, false, slow]]);
    expect(talk.say("AUTH", authEvent())).toEqual([["OK", authEvent().id, false, slow]]);
    expect(talk.say("REQ", "a", {})).toEqual(["forget", ["CLOSED", "a", slow]]);
    expect(talk.say("COUNT", "c", {})).toEqual([["CLOSED", "c", slow]]);
    expect(talk.say("NEG-MSG", "n", "61")).toEqual(["reconcile-end", ["NEG-ERR", "n", slow]]);
    expect(talk.say("CLOSE", "b")).toEqual(["forget"]);
    expect(talk.tell({ kind: "binary" })).toEqual([]);
    expect(talk.wakeAt).toBe(START + 20_000);
    expect(talk.after(19_999)).toEqual([]);
    expect(talk.after(1)).toEqual(["resume"]);
    expect(talk.say("REQ", "a", {})).toEqual(["query"]);
  });

  test("an address that said too much altogether rests a second, on whichever connection it speaks", () => {
    const talk = new Talk();
    const crowd = (text: string) => readable(talk.tell({ kind: "crowding-frame", text }));
    expect(crowd(eventFrame(1))).toEqual(["pause", ["OK", event(1).id, false, expect.stringMatching(/^rate-limited: /)]]);
    expect(crowd('["REQ","s",{}]')).toEqual([["CLOSED", "s", expect.stringMatching(/^rate-limited: /)]]);
    expect(talk.after(1_000)).toEqual(["resume"]);
  });
});

describe("events that wait for their answer", () => {
  test("reading stops at the limit, before the last is handed in, and goes on when half are answered", () => {
    const talk = new Talk();
    for (let n = 0; n < 3; n++) expect(talk.text(eventFrame(n))).toEqual(["submit"]);
    expect(talk.text(eventFrame(3))).toEqual(["pause", "submit"]);
    expect(talk.text(eventFrame(4)), "what was read already").toEqual(["submit"]);
    const resumed = [0, 1, 2].map((n) => readable(talk.tell(answerTo(n))).includes("resume"));
    expect(resumed).toEqual([false, false, true]);
    expect(readable(talk.tell(answerTo(3)))).toEqual([["OK", event(3).id, true, ""]]);
  });

  test("with a limit of one, an answer given at once leaves it reading", () => {
    const talk = new Talk({ unansweredEvents: 1 });
    expect(talk.text(eventFrame(0))).toEqual(["pause", "submit"]);
    expect(readable(talk.tell(answerTo(0)))).toEqual([["OK", event(0).id, true, ""], "resume"]);
    expect(talk.state.paused).toBe(false);
  });

  test("a rest is not cut short by answers, and the end of a rest not by events that still wait", () => {
    const talk = new Talk({ messagesPerMinute: 4 });
    for (let n = 0; n < 4; n++) talk.text(eventFrame(n));
    expect(talk.text(eventFrame(4))).toEqual([["OK", event(4).id, false, expect.stringMatching(/^rate-limited/)]]);
    expect(talk.after(15_000), "all four still wait").toEqual([]);
    expect([0, 1].flatMap((n) => readable(talk.tell(answerTo(n)))).at(-1)).toBe("resume");
    for (let n = 0; n < 3; n++) talk.text(eventFrame(n));
    for (let n = 0; n < 3; n++) expect(readable(talk.tell(answerTo(n)))).not.toContain("resume");
    expect(talk.after(60_000)).toContain("resume");
  });
});

describe("authentication (NIP-42)", () => {
  const challenged = (limits: Partial<RelayLimits> = {}): Talk => {
    const talk = new Talk(limits);
    talk.text(eventFrame(0));
    talk.tell(answerTo(0, "auth-required: this event may only be published by its author"));
    return talk;
  };

  test("the challenge comes before the first OK that asks for it, once", () => {
    const talk = new Talk();
    const refusal = "auth-required: this event may only be published by its author";
    expect(readable(talk.tell(answerTo(0, refusal)))).toEqual([
      ["AUTH", CHALLENGE],
      ["OK", event(0).id, false, refusal],
    ]);
    expect(readable(talk.tell(answerTo(1, refusal)))).toEqual([["OK", event(1).id, false, refusal]]);
  });

  test("an AUTH without a challenge gets one", () => {
    expect(new Talk().say("AUTH", authEvent())).toEqual([
      ["AUTH", CHALLENGE],
      ["OK", authEvent().id, false, expect.stringMatching(/^invalid: no challenge/)],
    ]);
  });

  test.each<[what: string, parts: Parameters<typeof authEvent>[0], problem: string | undefined, ok: boolean, message: string]>([
    ["right", {}, undefined, true, ""],
    ["ten minutes old", { at: START / 1_000 - 600 }, undefined, true, ""],
    ["older", { at: START / 1_000 - 601 }, undefined, false, "invalid: the authentication event is too far from the current time"],
    [
      "from the future",
      { at: START / 1_000 + 601 },
      undefined,
      false,
      "invalid: the authentication event is too far from the current time",
    ],
    ["another challenge", { challenge: "x" }, undefined, false, "invalid: the challenge is not the one that was sent on this connection"],
    ["another relay", { relay: "wss://relay.example.evil.example" }, undefined, false, "invalid: the relay tag does not name this relay"],
    ["another kind", { kind: 1 }, undefined, false, "invalid: an authentication event has kind 22242"],
    ["forged", {}, "signature is not valid", false, "invalid: signature is not valid"],
  ])("%s", (_, parts, problem, ok, message) => {
    const talk = challenged();
    const proof = authEvent(parts);
    expect(talk.say("AUTH", proof)).toEqual(["prove"]);
    expect(readable(talk.tell({ kind: "proved", event: proof, problem }))).toEqual([["OK", proof.id, ok, message]]);
    expect(talk.state.authenticated).toEqual(ok ? [proof.pubkey] : []);
  });

  test("several keys may prove themselves, each counts once, and not without end", () => {
    const talk = challenged();
    const prove = (key: string) => readable(talk.tell({ kind: "proved", event: authEvent({ key }), problem: undefined }));
    prove("alice");
    prove("alice");
    expect(talk.state.authenticated).toHaveLength(1);
    for (let n = 1; n < AUTHENTICATED_MAX; n++) prove(`key ${n}`);
    expect(prove("one more")).toEqual([["OK", expect.any(String), false, expect.stringMatching(/^rate-limited: /)]]);
    expect(prove("alice")).toEqual([["OK", expect.any(String), true, ""]]);
    expect(talk.state.authenticated).toHaveLength(AUTHENTICATED_MAX);
  });
});

describe("silence (grasp.md 3.3)", () => {
  test("a silent client is pinged after 25 s and hung up on 20 s later", () => {
    const talk = new Talk();
    expect(talk.after(24_999)).toEqual([]);
    expect(talk.after(1)).toEqual(["ping"]);
    expect(talk.after(19_999)).toEqual([]);
    expect(talk.after(1)).toEqual(["hang-up"]);
  });

  test("whoever is heard is there", () => {
    const talk = new Talk();
    talk.after(25_000);
    talk.tell({ kind: "heard", at: instant(talk.now + 5) });
    expect(talk.wakeAt).toBe(START + 25_000 + 5 + 25_000);
    talk.tell({ kind: "heard", at: instant(START) });
    expect(talk.wakeAt, "old news").toBe(START + 25_000 + 5 + 25_000);
  });

  test("a client that we do not read is not to blame for its silence, and has its time again afterwards", () => {
    const talk = new Talk();
    for (let n = 0; n < 4; n++) talk.text(eventFrame(n));
    expect(talk.after(25_000)).toEqual(["ping"]);
    expect(talk.after(20_000), "not read, not heard").toEqual([]);
    expect(talk.after(25_000)).toEqual(["ping"]);
    talk.now += 19_999;
    for (let n = 0; n < 4; n++) talk.tell(answerTo(n));
    expect(talk.after(1), "its pong may just be in the socket").toEqual([]);
    expect(talk.after(24_999)).toEqual(["ping"]);
  });
});
