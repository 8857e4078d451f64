import { expect } from "vitest";
import { note } from "../../kit/event-builder.ts";
import { actor } from "../../kit/keys.ts";
import { conformance } from "../suite.ts";

const villain = actor("somebody the operator blocked");
const { proves } = conformance({ env: { HOLDFAST_EVENT_BLOCK_LIST: villain.pubkey } });

proves("GRASP:3.6/blocked-author", "the block list holds where everybody else may write", async (t) => {
  const client = await t.connect();
  const event = note(villain, "x");
  expect(await client.publish(event)).toMatchObject({ ok: false, message: expect.stringMatching(/^blocked: /) });
  expect(await client.ids({ ids: [event.id] })).toEqual([]);
  await t.accepted(client, note(t.alice, `about ${villain.pubkey}`, { tags: [["p", villain.pubkey]] }));
});
