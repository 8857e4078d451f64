import { expect } from "vitest";
import { note } from "../../kit/event-builder.ts";
import { conformance } from "../suite.ts";

/** Nobody is trusted here: what the headers say must not count. */
const { proves } = conformance({ env: { HOLDFAST_MAX_CONNECTIONS_PER_ADDRESS: "1", HOLDFAST_EVENTS_PER_MINUTE_PER_ADDRESS: "3" } });

proves("GRASP:2.3/untrusted", "a client cannot give itself an address, to use up another's share or to escape its own", async (t) => {
  for (const name of ["X-Forwarded-For", "X-Real-IP"]) {
    for (let n = 0; n < 3; n++) {
      const client = await t.connect({ headers: { [name]: "203.0.113.1" } });
      await client.roundTrip();
    }
  }
  const answers: string[] = [];
  for (let n = 0; n < 5; n++) {
    const client = await t.connect({ headers: { "X-Forwarded-For": `203.0.113.${n}` } });
    answers.push((await client.publish(note(t.alice, `${n}`))).message);
  }
  // Loopback may be free of limits; then nothing is limited. What must not be is a share for every made-up address.
  expect(answers.filter((text) => text !== "" && !text.startsWith("rate-limited: "))).toEqual([]);
});
