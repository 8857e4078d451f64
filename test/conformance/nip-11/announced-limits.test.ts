import { expect } from "vitest";
import { note } from "../../kit/event-builder.ts";
import { conformance } from "../suite.ts";

const { proves } = conformance({
  env: {
    HOLDFAST_MAX_SUBSCRIPTIONS: "3",
    HOLDFAST_MIN_POW_DIFFICULTY: "8",
    HOLDFAST_RELAY_CONTACT: "mailto:admin@relay.example",
    HOLDFAST_RELAY_NAME: "a relay with a name",
  },
});

proves("NIP-11:L123-max-subscriptions", "as many subscriptions as announced, and no more", async (t) => {
  expect(t.info.limitation?.["max_subscriptions"]).toBe(3);
  const client = await t.connect();
  for (const sub of ["a", "b", "c"]) expect((await client.subscribe(sub, { limit: 0 })).eose).toBe(true);
  expect((await client.subscribe("d", { limit: 0 })).closed).toMatch(/^rate-limited: /);
  expect((await client.subscribe("b", { limit: 0, kinds: [1] })).eose, "an open one can be replaced").toBe(true);
  client.say("CLOSE", "a");
  expect((await client.subscribe("d", { limit: 0 })).eose, "a closed one makes room").toBe(true);
});

proves("NIP-11:L142-min-pow", "the announced difficulty is asked for", async (t) => {
  expect(t.info.limitation?.["min_pow_difficulty"]).toBe(8);
  const client = await t.connect();
  const { ok, message } = await client.publish(note(t.alice, "no work"));
  expect(ok).toBe(false);
  expect(message).toMatch(/^pow: /);
});

proves("NIP-11:L69-contact", "contact is a URI", async (t) => {
  expect(t.info["contact"]).toBe("mailto:admin@relay.example");
  expect(t.info["name"]).toBe("a relay with a name");
});
