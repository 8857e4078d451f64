import { expect } from "vitest";
import { note, sign } from "../../kit/event-builder.ts";
import type { Message, RelayClient } from "../../kit/relay-client.ts";
import { expectHarmlessWords, expectWellFormed } from "../answers.ts";
import { conformance } from "../suite.ts";

const { proves } = conformance();

const PREFIXED = /^[a-z-]+: ./;
/** Deep enough to end any parser that calls itself. */
const DEPTH = 100_000;

const isRefusal = (m: Message): boolean => ["NOTICE", "CLOSED", "NEG-ERR"].includes(String(m[0])) || (m[0] === "OK" && m[2] === false);
const textOf = (m: Message): string => String(m[0] === "NOTICE" ? m[1] : m[0] === "OK" ? m[3] : m[2]);

/** Sends each input on one and the same connection: it must answer each with a refusal and live to the end. */
async function allRefused(client: RelayClient, inputs: Readonly<Record<string, string | Uint8Array>>): Promise<void> {
  for (const [what, input] of Object.entries(inputs)) {
    client.send(input);
    const answer = await client.next((m) => m[0] !== "AUTH", `refusal of ${what}`);
    expect(isRefusal(answer), `${what} was answered by ${JSON.stringify(answer).slice(0, 200)}`).toBe(true);
    expect(textOf(answer), what).toMatch(PREFIXED);
    await client.roundTrip();
  }
  expectWellFormed(client);
  expectHarmlessWords(client);
}

proves("GRASP:3.2/malformed-notice GRASP:3.4/notice-words", "what is no JSON array gets a NOTICE", async (t) => {
  const client = await t.connect();
  await allRefused(client, {
    empty: "",
    space: " ",
    word: "hello",
    "half an array": '["REQ","x"',
    "two values": '["CLOSE","x"]["CLOSE","x"]',
    "trailing comma": '["CLOSE","x",]',
    "single quotes": "['CLOSE','x']",
    object: '{"REQ":1}',
    string: '"REQ"',
    number: "42",
    null: "null",
    true: "true",
    NaN: "NaN",
    "empty array": "[]",
    "control character in a string": '["CLOSE","a\u0001b"]',
    "a NUL": "\u0000",
  });
  expect(client.notices().length).toBeGreaterThanOrEqual(16);
});

proves("GRASP:3.2/malformed-notice GRASP:3.4/notice-words", "unknown verbs and verbs of other types get a NOTICE", async (t) => {
  const client = await t.connect();
  await allRefused(client, {
    unknown: '["HELLO","x"]',
    "lower case": '["req","x",{}]',
    "a relay's verb": '["EOSE","x"]',
    "another relay's verb": '["NOTICE","x"]',
    number: '[1,"x",{}]',
    null: "[null]",
    array: '[["REQ"],"x",{}]',
    object: '[{"REQ":1},"x",{}]',
    "empty verb": '["","x"]',
    "prototype name": '["__proto__","x"]',
    "method name": '["constructor","x",{}]',
    "similar to a known one": '["NEG-","x"]',
    "unknown with a hostile name": '["NEG-WHAT negentropy envelope blocked restricted","x"]',
  });
});

proves("GRASP:3.2/malformed-notice", "wrong types at each place of REQ, CLOSE and COUNT are refused", async (t) => {
  const client = await t.connect();
  const inputs: Record<string, string> = {
    "REQ alone": '["REQ"]',
    "COUNT alone": '["COUNT"]',
    "CLOSE alone": '["CLOSE"]',
    "REQ without filter": '["REQ","a"]',
  };
  for (const value of ["1", "null", "true", "{}", "[]", "1.5"]) {
    inputs[`REQ id ${value}`] = `["REQ",${value},{}]`;
    inputs[`CLOSE id ${value}`] = `["CLOSE",${value}]`;
    inputs[`COUNT id ${value}`] = `["COUNT",${value},{}]`;
    if (value !== "{}") inputs[`filter ${value}`] = `["REQ","a",${value}]`;
    if (value !== "[]")
      for (const list of ["ids", "authors", "kinds", "#t"]) inputs[`${list} ${value}`] = `["REQ","a",{"${list}":${value}}]`;
    if (value !== "1")
      for (const scalar of ["since", "until", "limit"]) inputs[`${scalar} ${value}`] = `["REQ","a",{"${scalar}":${value}}]`;
    if (value !== "1") inputs[`kind ${value}`] = `["REQ","a",{"kinds":[${value}]}]`;
    inputs[`author ${value}`] = `["REQ","a",{"authors":[${value}]}]`;
    inputs[`tag value ${value}`] = `["REQ","a",{"#t":["x",${value}]}]`;
    inputs[`second filter ${value}`] = value === "{}" ? '["REQ","a",{},5]' : `["REQ","a",{},${value}]`;
  }
  await allRefused(client, inputs);
});

proves("GRASP:3.2/malformed-notice", "wrong types at each place of an event are refused", async (t) => {
  const client = await t.connect();
  // None of the values below is what this event has there.
  const good = sign(t.alice, { kind: 1000, content: "good", tags: [["t", "good"]] });
  const inputs: Record<string, string> = { "EVENT alone": '["EVENT"]', "EVENT of an event list": JSON.stringify(["EVENT", [good]]) };
  for (const value of [1, null, true, {}, [], 1.5, "x", -1]) {
    const name = JSON.stringify(value);
    if (typeof value !== "object" || value === null || Array.isArray(value)) inputs[`event ${name}`] = JSON.stringify(["EVENT", value]);
    for (const field of ["id", "pubkey", "created_at", "kind", "tags", "content", "sig"]) {
      inputs[`${field} ${name}`] = JSON.stringify(["EVENT", { ...good, [field]: value }]);
    }
  }
  for (const field of ["id", "pubkey", "created_at", "kind", "tags", "content", "sig"]) {
    inputs[`without ${field}`] = JSON.stringify(["EVENT", { ...good, [field]: undefined }]);
  }
  // A few of them are well-formed: their id tells that they are not the signed event.
  await allRefused(client, inputs);
  await t.accepted(client, good);
});

proves(
  "GRASP:3.2/malformed-notice GRASP:3.4/neg-err-only",
  "wrong types at each place of AUTH and NEG are refused, NEG's by NEG-ERR where it has an id",
  async (t) => {
    const client = await t.connect();
    const inputs: Record<string, string> = {};
    for (const value of ["1", "null", "true", "{}", "[]", '"x"']) {
      inputs[`AUTH ${value}`] = `["AUTH",${value}]`;
      if (value !== '"x"') inputs[`NEG-OPEN id ${value}`] = `["NEG-OPEN",${value},{},"6100000200"]`;
      if (value !== '"x"') inputs[`NEG-MSG id ${value}`] = `["NEG-MSG",${value},"6100000200"]`;
      if (value !== '"x"') inputs[`NEG-CLOSE id ${value}`] = `["NEG-CLOSE",${value}]`;
    }
    inputs["AUTH alone"] = '["AUTH"]';
    inputs["NEG-OPEN alone"] = '["NEG-OPEN"]';
    inputs["NEG-MSG alone"] = '["NEG-MSG"]';
    inputs["NEG-CLOSE alone"] = '["NEG-CLOSE"]';
    await allRefused(client, inputs);
    for (const value of ["1", "null", "[]", '"x"', "{}"]) {
      const withId: Record<string, string> = {
        [`filter ${value}`]: value === "{}" ? '["NEG-OPEN","n",{"kinds":"x"},"6100000200"]' : `["NEG-OPEN","n",${value},"6100000200"]`,
        [`message ${value}`]: `["NEG-OPEN","n",{},${value}]`,
        [`later message ${value}`]: `["NEG-MSG","n",${value}]`,
      };
      for (const [what, input] of Object.entries(withId)) {
        client.send(input);
        const answer = await client.next((m) => m[0] !== "AUTH", what);
        expect([answer[0], answer[1]], what).toEqual(["NEG-ERR", "n"]);
        expect(String(answer[2]), what).toMatch(PREFIXED);
      }
    }
    client.send('["NEG-OPEN","n",{}]');
    expect((await client.next((m) => m[0] !== "AUTH", "no message"))[0]).toBe("NEG-ERR");
    await client.roundTrip();
    expectHarmlessWords(client);
  },
);

proves("GRASP:3.2/malformed-notice", "deep nesting ends nothing", async (t) => {
  const client = await t.connect();
  const event = note(t.alice, "x");
  const nested = `${"[".repeat(DEPTH)}${"]".repeat(DEPTH)}`;
  await allRefused(client, {
    "open brackets": "[".repeat(DEPTH),
    "balanced brackets": nested,
    "open braces": '{"a":'.repeat(DEPTH),
    "in a filter": `["REQ","x",{"#t":${nested}}]`,
    "in a filter list": `["REQ","x",{"kinds":[${nested}]}]`,
    "in tags": JSON.stringify(["EVENT", event]).replace('"tags":[]', `"tags":[${nested}]`),
    "in content": JSON.stringify(["EVENT", event]).replace('"content":"x"', `"content":${nested}`),
    "in AUTH": `["AUTH",${nested}]`,
    "as NEG message": `["NEG-OPEN","x",{},${nested}]`,
    "as verb": `[${nested}]`,
  });
});

proves("GRASP:3.2/malformed-notice", "binary frames get a NOTICE", async (t) => {
  const client = await t.connect();
  await allRefused(client, {
    "no bytes": new Uint8Array(0),
    zeros: new Uint8Array(1000),
    "bytes that are no UTF-8": Uint8Array.from([0xff, 0xfe, 0x80, 0xc0, 0xaf]),
    "a broken message": Buffer.from('["REQ"', "utf8"),
  });
});

proves("GRASP:3.2/malformed-notice", "numbers out of range are refused or mean nothing, and harm nobody", async (t) => {
  const client = await t.connect();
  const event = note(t.alice, "x");
  const raw = (field: string, text: string): string =>
    JSON.stringify(["EVENT", { ...event, [field]: 0 }]).replace(`"${field}":0`, `"${field}":${text}`);
  const inputs: Record<string, string> = {};
  for (const number of ["-1", "1.5", "9007199254740992", "1e400", "-1e400", `${"9".repeat(400)}`, "-0.5"]) {
    inputs[`created_at ${number.slice(0, 20)}`] = raw("created_at", number);
    inputs[`kind ${number.slice(0, 20)}`] = raw("kind", number);
  }
  await allRefused(client, inputs);
  for (const number of ["-1", "1.5", "9007199254740992", "1e400", "65536"]) {
    for (const condition of [`"since":${number}`, `"until":${number}`, `"limit":${number}`, `"kinds":[${number}]`]) {
      client.send(`["REQ","n",{"authors":["${t.bob.pubkey}"],${condition}}]`);
      const answer = await client.collect("n");
      if (answer.closed !== undefined) expect(answer.closed, condition).toMatch(/^invalid: /);
      expect(answer.events).toEqual([]);
    }
  }
  await client.roundTrip();
});

proves("GRASP:3.2/malformed-notice", "NUL and lone surrogates in every string harm nobody", async (t) => {
  const client = await t.connect();
  for (const escape of ["\\u0000", "\\ud800", "\\udfff\\ud800", "\\uffff"]) {
    const good = sign(t.alice, { content: "MARK", tags: [["t", "MARK"]] });
    client.send(JSON.stringify(["EVENT", good]).replaceAll("MARK", escape));
    const answer = await client.next((m) => m[0] === "OK" || m[0] === "NOTICE", `event with ${escape}`);
    expect(isRefusal(answer), "its id is not that of the changed text").toBe(true);
    const sub = JSON.parse(`"s${escape}"`) as string;
    client.send(`["REQ","s${escape}",{"#t":["${escape}"],"authors":["${t.alice.pubkey}"]}]`);
    const req = await client.next((m) => ["EOSE", "CLOSED", "NOTICE"].includes(String(m[0])), `REQ with ${escape}`);
    if (req[0] === "EOSE") expect(req[1]).toBe(sub);
    client.send(`["CLOSE","s${escape}"]`);
    client.send(`["COUNT","c${escape}",{"#t":["${escape}"]}]`);
    await client.next((m) => ["COUNT", "CLOSED", "NOTICE"].includes(String(m[0])), `COUNT with ${escape}`);
    await client.roundTrip();
  }
  const text = "before\u0000after";
  const withNul = sign(t.bob, { content: text, tags: [["t", text]] });
  const { ok } = await client.publish(withNul);
  expect((await client.request({ ids: [withNul.id] })).events, "accepted whole or not at all").toEqual(ok ? [withNul] : []);
  if (ok) expect(await client.ids({ "#t": [text], authors: [t.bob.pubkey] })).toEqual([withNul.id]);
  if (ok) expect(await client.ids({ "#t": ["before"], authors: [t.bob.pubkey] })).toEqual([]);
});

proves("GRASP:3.2/malformed-notice", "huge subscription ids are refused in a short answer", async (t) => {
  const client = await t.connect();
  for (const size of [10_000, 1_000_000]) {
    const id = "i".repeat(size);
    for (const input of [`["REQ","${id}",{}]`, `["COUNT","${id}",{}]`, `["NEG-OPEN","${id}",{},"6100000200"]`]) {
      client.send(input);
      const answer = await client.next((m) => m[0] !== "AUTH", "refusal of a huge id");
      expect(isRefusal(answer)).toBe(true);
      expect(textOf(answer)).toMatch(PREFIXED);
    }
    client.send(`["CLOSE","${id}"]`);
    await client.roundTrip();
  }
  expectHarmlessWords(client);
});

proves("GRASP:3.2/malformed-notice", "keys of an object that mean something to a language mean nothing here", async (t) => {
  t.needsOpenWrites();
  const client = await t.connect();
  const event = note(t.alice, "proto");
  client.send(JSON.stringify(["EVENT", event]).replace('"kind":1', '"__proto__":{"kind":5},"constructor":1,"kind":1'));
  expect((await client.nextOk(event.id)).ok).toBe(true);
  const [served] = (await client.request({ ids: [event.id] })).events;
  expect(served).toEqual(event);
  const odd = await client.request(JSON.parse('{"__proto__":{"kinds":[1]},"toString":[1],"#tt":["x"],"##":["x"],"search":5}'));
  if (odd.closed !== undefined) expect(odd.closed).toMatch(PREFIXED);
});
