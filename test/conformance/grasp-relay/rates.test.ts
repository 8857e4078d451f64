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
  const refused = answers.filter(({ ok }) => !ok);
  expect(refused.length, "three came too many; a slow machine may have earned one back").toBeGreaterThanOrEqual(1);
  expect(refused.filter(({ message }) => !message.startsWith("rate-limited: "))).toEqual([]);
  expect(await client.ids({ authors: [t.alice.pubkey] }), "what was refused is not there").toHaveLength(events.length - refused.length);
  const other = await t.connect();
  expect(await other.publish(note(t.alice, "from elsewhere")), "another connection has its own rate").toEqual({ ok: true, message: "" });
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
  "messages beyond the rate are held back or refused, and the client is told",
  async (t) => {
    const client = await t.connect();
    for (let n = 0; n < 40; n++) client.say("CLOSE", "nothing");
    // NIP-01: a REQ and an EVENT are always answered. Held back until there is room, or refused; never left without a word.
    const late = [note(t.alice, "late 1"), note(t.alice, "late 2")] as const;
    client.say("REQ", "late", { limit: 0 });
    client.say("EVENT", late[0]);
    client.say("NEG-OPEN", "late", {}, "6100000200");
    client.say("EVENT", late[1]);
    const answer = await client.collect("late");
    expect(answer.closed ?? "rate-limited: (held back)").toMatch(/^rate-limited: /);
    for (const event of late) {
      const { ok, message } = await client.nextOk(event.id);
      if (!ok) expect(message).toMatch(/^rate-limited: /);
    }
    const neg = await client.negAnswer("late");
    expect(neg.error ?? "rate-limited: (held back)").toMatch(/^rate-limited: /);
    expect(client.isClosed).toBe(false);
    const texts = client.received.flatMap((m) => m.filter((part) => typeof part === "string"));
    expect(
      texts.some((text) => text.startsWith("rate-limited: ")),
      "the client is told",
    ).toBe(true);
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
  expect(answers.slice(0, 3).filter((text) => text.startsWith("rate-limited: "))).toEqual([]);
  expect(answers.filter((text) => text.startsWith("rate-limited: ")).length).toBeGreaterThanOrEqual(1);
});
