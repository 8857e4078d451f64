import { expect } from "vitest";
import { auth, note } from "../../kit/event-builder.ts";
import { expectHarmlessWords, expectWellFormed } from "../answers.ts";
import { conformance } from "../suite.ts";

const { proves } = conformance({
  env: {
    HOLDFAST_EVENTS_PER_MINUTE: "10",
    HOLDFAST_QUERIES_PER_MINUTE: "10",
    HOLDFAST_MESSAGES_PER_MINUTE: "40",
    HOLDFAST_AUTHS_PER_MINUTE: "3",
  },
});

proves("GRASP:3.3/events-per-minute GRASP:3.4/overload", "events beyond the rate are refused as rate-limited, reads go on", async (t) => {
  const client = await t.connect();
  const events = Array.from({ length: 13 }, (_, n) => note(t.alice, `${n}`));
  const answers = [];
  for (const event of events) answers.push(await client.publish(event));
  expect(answers.slice(0, 10)).toEqual(Array.from({ length: 10 }, () => ({ ok: true, message: "" })));
  for (const { ok, message } of answers.slice(10)) {
    expect(ok).toBe(false);
    expect(message).toMatch(/^rate-limited: /);
  }
  expect(await client.ids({ authors: [t.alice.pubkey] }), "what was refused is not there").toHaveLength(10);
  const other = await t.connect();
  expect(await other.publish(events[10] as (typeof events)[0]), "another connection has its own rate").toEqual({ ok: true, message: "" });
});

proves(
  "GRASP:3.3/queries-per-minute GRASP:3.4/overload GRASP:3.4/closed-words",
  "queries beyond the rate are closed as rate-limited",
  async (t) => {
    const client = await t.connect();
    for (let n = 0; n < 10; n++) expect((await client.request({ limit: 0 })).eose).toBe(true);
    expect((await client.request({ limit: 0 })).closed).toMatch(/^rate-limited: /);
    expect((await client.count({ kinds: [1] })).closed).toMatch(/^rate-limited: /);
    expect((await client.negOpen("n", { kinds: [1] }, "6100000200")).error).toMatch(/^rate-limited: /);
    expect(await client.publish(note(t.alice, "writes go on"))).toEqual({ ok: true, message: "" });
    expectHarmlessWords(client);
  },
);

proves(
  "GRASP:3.3/messages-per-minute GRASP:3.4/overload GRASP:3.4/notice-words",
  "messages beyond the rate are told rate-limited, each in its own way",
  async (t) => {
    const client = await t.connect();
    for (let n = 0; n < 40; n++) client.say("CLOSE", "nothing");
    client.say("REQ", "late", { limit: 0 });
    const answer = await client.next((m) => ["CLOSED", "NOTICE", "EOSE"].includes(String(m[0])), "rate-limited");
    expect(String(answer[0] === "NOTICE" ? answer[1] : answer[2])).toMatch(/^rate-limited: /);
    client.say("EVENT", note(t.alice, "late"));
    const event = await client.next((m) => ["OK", "NOTICE"].includes(String(m[0])), "rate-limited");
    expect(String(event[0] === "NOTICE" ? event[1] : event[3])).toMatch(/^rate-limited: /);
    client.say("NEG-OPEN", "late", {}, "6100000200");
    const neg = await client.next((m) => ["NEG-ERR", "NOTICE", "NEG-MSG"].includes(String(m[0])), "rate-limited");
    expect(neg[0]).toBe("NEG-ERR");
    expect(client.isClosed).toBe(false);
    expectWellFormed(client);
    expectHarmlessWords(client);
  },
);

proves("GRASP:3.4/overload", "AUTH beyond the rate is rate-limited", async (t) => {
  const client = await t.connect();
  const answers: string[] = [];
  for (let n = 0; n < 5; n++) {
    const event = auth(t.alice, t.server.url, `guess ${n}`);
    client.say("AUTH", event);
    answers.push((await client.nextOk(event.id)).message);
  }
  expect(answers.filter((text) => text.startsWith("rate-limited: "))).toHaveLength(2);
});
