import { expect } from "vitest";
import { note } from "../../kit/event-builder.ts";
import { conformance } from "../suite.ts";

/** Nobody is pinged here: who is dropped is dropped for what it does not read. */
const { proves } = conformance({ env: { HOLDFAST_MAX_OUTGOING_BYTES: "1MiB", HOLDFAST_IDLE_PING: "3600s" } });

proves("GRASP:3.3/slow-reader", "who does not read is dropped, and the others never notice", async (t) => {
  const [writer, slow, quick] = [await t.connect(), await t.connect(), await t.connect()];
  for (const reader of [slow, quick]) await reader.subscribe("live", { authors: [t.alice.pubkey] });
  slow.pauseReading();
  const size = 150_000;
  const count = 250;
  for (let n = 0; n < count; n++) {
    const event = note(t.alice, `${n}`.padEnd(size, "x"));
    await t.accepted(writer, event);
    expect((await quick.nextEvent("live")).id).toBe(event.id);
  }
  slow.resumeReading();
  await slow.untilClosed();
  expect(slow.seen("live").length, "what fitted the network's own buffers").toBeLessThan(count);
  await quick.roundTrip();
});
