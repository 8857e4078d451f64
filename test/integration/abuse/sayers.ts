import { createHash } from "node:crypto";
import { expect } from "vitest";
import { auth, deletion, note, sign } from "../../kit/event-builder.ts";
import { mallory } from "../../kit/keys.ts";
import { type Message, RelayClient } from "../../kit/relay-client.ts";
import type { ServerUnderTest } from "../../kit/server-under-test.ts";

/** Abuses the server until `signal`, and checks what it was told for it. */
export type Abuser = (server: ServerUnderTest, signal: AbortSignal) => Promise<void>;

const hex = (n: number): string => createHash("sha256").update(`${n}`).digest("hex");
const HEX_10000 = Array.from({ length: 10_000 }, (_, n) => hex(n));

const isAbout =
  (verb: string, words: string) =>
  (message: Message): boolean =>
    message[0] === verb && message.some((part) => typeof part === "string" && part.startsWith(words));

/** Says it more often than it is allowed to, with a breath now and then for whoever shares this process. */
async function repeat(client: RelayClient, count: number, saying: (n: number) => readonly unknown[]): Promise<void> {
  for (let n = 0; n < count; n++) {
    client.say(...saying(n));
    if (n % 50 === 49) await new Promise((resolve) => setImmediate(resolve));
  }
}

const withClient =
  (abuse: (client: RelayClient, server: ServerUnderTest) => Promise<void>): Abuser =>
  async (server) => {
    const client = await RelayClient.connect(server.url);
    await abuse(client, server);
    await client.close();
  };

/** A flood that is told to slow down in the place where its sender waits. */
const flood = (verb: string, count: number, saying: (n: number) => readonly unknown[]): Abuser =>
  withClient(async (client) => {
    await repeat(client, count, saying);
    await client.next(isAbout(verb, "rate-limited: "), `${verb} rate-limited`);
    expect(client.isClosed).toBe(false);
  });

/** One message that is refused, over and over. */
const refused = (text: string, verb: string, words: string, times: number): Abuser =>
  withClient(async (client) => {
    for (let n = 0; n < times; n++) client.send(text);
    for (let n = 0; n < times; n++) await client.next(isAbout(verb, words), `${verb} ${words}`);
    expect(client.isClosed, "a malformed message gets a NOTICE and the connection lives (grasp.md 3.2)").toBe(false);
  });

const manyKeys = `["REQ","x",{${Array.from({ length: 300_000 }, (_, n) => `"${n}":0`).join(",")}}]`;
const smallObjects = `["REQ","x",${Array.from({ length: 6_000 }, (_, n) => `{"${n}":0}`).join(",")}]`;
const tagged = (n: number, count: number) =>
  sign(mallory, { content: `${n}`, tags: Array.from({ length: count }, (_, t) => ["t", `${n}.${t}`]) });
/** Made before anything is measured: making them is work for the process that also plays the well-behaved client. */
const TAGGED = Array.from({ length: 10 }, (_, n) => tagged(n, 8_000));
const DELETIONS = Array.from({ length: 40 }, (_, n) => deletion(mallory, HEX_10000.slice(0, 2_000), { content: `${n}` }));
const REPLACEMENTS = Array.from({ length: 100 }, (_, n) => sign(mallory, { kind: 10_002, content: `${n}`, created_at: 1_700_000_000 + n }));
const BAD = { ...note(mallory, "never signed"), sig: "0".repeat(128) };
const ONCE = note(mallory, "once and again");

export const SAYERS: Readonly<Record<string, Abuser>> = {
  "garbage of every kind": withClient(async (client) => {
    const garbage = [
      "",
      "{}",
      "[]",
      "nonsense",
      "[1]",
      '["WHAT"]',
      '["REQ"]',
      '["REQ",""]',
      '["CLOSE"]',
      '["EVENT"]',
      '["EVENT",null]',
      '["AUTH",{}]',
      "\u0000",
      '["NOTICE","hello"]',
    ];
    for (let n = 0; n < 20; n++) for (const text of garbage) client.send(text);
    for (let n = 0; n < 20 * garbage.length; n++) await client.nextVerb("NOTICE");
    const refusals: readonly (readonly [text: string, verb: string])[] = [
      ['["REQ","a",{"__proto__":{"ids":[]}}]', "CLOSED"],
      ['["REQ","b",{"kinds":[1.5]}]', "CLOSED"],
      ['["REQ","c"]', "CLOSED"],
      ['["COUNT","d",{"limit":-1}]', "CLOSED"],
      ['["NEG-OPEN","e",{},"xyz"]', "NEG-ERR"],
      ['["NEG-MSG","f","61"]', "NEG-ERR"],
      [`["EVENT",{"id":"${"0".repeat(64)}"}]`, "OK"],
    ];
    for (const [text, verb] of refusals) {
      client.send(text);
      await client.nextVerb(verb);
    }
    expect(client.isClosed).toBe(false);
  }),
  "5 MiB of opening brackets": refused("[".repeat(5 * 1024 * 1024), "NOTICE", "invalid: ", 10),
  "300,000 keys": refused(manyKeys, "NOTICE", "invalid: ", 10),
  "6,000 small objects": refused(smallObjects, "NOTICE", "invalid: ", 30),
  "an event that is nested deep": refused(`["EVENT",${"[".repeat(190_000)}${"]".repeat(190_000)}]`, "NOTICE", "invalid: ", 50),
  "a message that is too large": withClient(async (client) => {
    client.send(" ".repeat(5 * 1024 * 1024 + 1));
    expect(await client.untilClosed()).toBe(1009);
  }),
  "queries for 10,000 values": flood("CLOSED", 100, (n) => ["REQ", `q${n % 7}`, { "#t": HEX_10000 }]),
  "queries without end": flood("CLOSED", 1_500, (n) => ["REQ", `q${n % 3}`, ...Array.from({ length: 20 }, () => ({}))]),
  "one subscription too many": withClient(async (client) => {
    for (let n = 0; n <= 500; n++) client.say("REQ", `s${n}`, ...Array.from({ length: 20 }, (_, k) => ({ kinds: [k + 2], limit: 0 })));
    expect((await client.collect("s500")).closed).toMatch(/^rate-limited: /);
    expect((await client.collect("s499")).eose).toBe(true);
  }),
  "the same subscription opened and closed": withClient(async (client) => {
    await repeat(client, 1_000, (n) => (n % 2 === 0 ? ["REQ", "again", {}] : ["CLOSE", "again"]));
    const last = await client.subscribe("the last", { limit: 1 });
    expect(last.eose || last.closed?.startsWith("rate-limited: ")).toBe(true);
  }),
  "counts of everything": flood("CLOSED", 1_500, (n) => ["COUNT", `c${n}`, {}, { kinds: [1] }]),
  "reconciliations without end": flood("NEG-ERR", 1_500, (n) => ["NEG-OPEN", `n${n % 20}`, { since: n }, "6100000200"]),
  "garbage in a reconciliation": withClient(async (client) => {
    for (const message of ["61ff", "6100000001", `61${"80".repeat(1_000)}`, `61${"ff".repeat(500_000)}`]) {
      const { error } = await client.negOpen("n", {}, message);
      expect(error).toMatch(/^invalid: /);
    }
  }),
  "authentications without end": withClient(async (client, server) => {
    client.say("AUTH", auth(mallory, server.url, "no challenge yet"));
    const wrong = auth(mallory, server.url, "the wrong challenge");
    await repeat(client, 200, () => ["AUTH", wrong]);
    await client.next((m) => m[0] === "OK" && m[2] === false && String(m[3]).startsWith("rate-limited: "), "OK false rate-limited");
  }),
  "events nobody signed": withClient(async (client) => {
    await repeat(client, 1_000, () => ["EVENT", BAD]);
    await client.next((m) => m[0] === "OK" && m[2] === false && String(m[3]).startsWith("invalid: "), "OK false invalid");
    await client.next((m) => m[0] === "OK" && m[2] === false && String(m[3]).startsWith("rate-limited: "), "OK false rate-limited");
  }),
  "the same event again and again": withClient(async (client) => {
    await repeat(client, 1_000, () => ["EVENT", ONCE]);
    await client.next((m) => m[0] === "OK" && m[2] === true && String(m[3]).startsWith("duplicate: "), "OK true duplicate");
    await client.next((m) => m[0] === "OK" && m[2] === false && String(m[3]).startsWith("rate-limited: "), "OK false rate-limited");
  }),
  "events of 8,000 tags": withClient(async (client) => {
    for (const event of TAGGED) client.say("EVENT", event);
    await client.next((m) => m[0] === "OK" && m[2] === true, "OK for the first");
    await client.next((m) => m[0] === "OK" && m[2] === false && String(m[3]).startsWith("rate-limited: "), "OK false rate-limited");
  }),
  "deletions of 2,000 targets": withClient(async (client) => {
    for (const event of DELETIONS) client.say("EVENT", event);
    await client.next((m) => m[0] === "OK" && m[2] === false && String(m[3]).startsWith("rate-limited: "), "OK false rate-limited");
  }),
  "a replaceable event replaced and replaced": withClient(async (client) => {
    const events = REPLACEMENTS;
    for (const event of events) client.say("EVENT", event);
    for (const event of events) expect(await client.nextOk(event.id)).toEqual({ ok: true, message: "" });
    expect(await client.ids({ kinds: [10_002], authors: [mallory.pubkey] })).toEqual([events.at(-1)?.id]);
  }),
  "messages without end": withClient(async (client) => {
    await repeat(client, 10_000, () => ["CLOSE", "nothing"]);
    await client.next(isAbout("NOTICE", "rate-limited: "), "NOTICE rate-limited");
    expect(client.isClosed).toBe(false);
  }),
};
