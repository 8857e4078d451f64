import { expect } from "vitest";
import { deletion, note, protectedNote, sign } from "../../kit/event-builder.ts";
import { expectHarmlessWords, expectWellFormed } from "../answers.ts";
import { conformance } from "../suite.ts";

const { proves } = conformance({
  env: {
    HOLDFAST_ACCEPTANCE: "grasp",
    HOLDFAST_MAX_SUBSCRIPTIONS: "3",
    HOLDFAST_MAX_NEGENTROPY_SESSIONS: "1",
    HOLDFAST_QUERIES_PER_MINUTE: "30",
  },
});

proves(
  "GRASP:3.4/notice-words GRASP:3.4/closed-words GRASP:3.4/overload",
  "a whole conversation full of mistakes holds no word that stops a peer",
  async (t) => {
    const client = await t.connect();
    const inputs = [
      "envelope",
      '["NEG-OPEN"]',
      '["NEG-OPEN","x"]',
      '["NEG-OPEN","x",{}]',
      '["NEG-OPEN","x",{},"zz"]',
      '["NEG-MSG","unknown","61"]',
      '["NEG-MSG"]',
      '["NEG-CLOSE"]',
      '["NEG-CLOSE","unknown"]',
      '["NEG-NONSENSE","x"]',
      '["NEG-OPEN",5,{},"61"]',
      '["REQ","a",{"kinds":"blocked"}]',
      '["REQ","restricted",5]',
      '["REQ","negentropy"]',
      '["negentropy"]',
      '["COUNT","a",{"since":"envelope"}]',
      "[",
    ];
    for (const input of inputs) client.send(input);
    for (let n = 0; n < 6; n++) client.say("REQ", `sub ${n}`, { limit: 0 });
    for (let n = 0; n < 3; n++) client.say("NEG-OPEN", `neg ${n}`, { kinds: [1] }, "6100000200");
    for (const event of [
      note(t.alice, "off topic"),
      protectedNote(t.alice, "x"),
      sign(t.alice, { kind: 0 }),
      deletion(t.alice, ["0".repeat(64)]),
    ]) {
      await client.publish(event);
    }
    for (let n = 0; n < 40; n++) client.say("REQ", "q", { ids: ["0".repeat(64)] });
    client.say("COUNT", "last", { kinds: [1] });
    await client.next((m) => m[1] === "last", "answer to the last message");
    expectWellFormed(client);
    expectHarmlessWords(client);
    const closed = client.received.filter((m) => m[0] === "CLOSED").map((m) => String(m[2]));
    expect(closed.some((text) => text.startsWith("rate-limited: "))).toBe(true);
  },
);
