import { expect } from "vitest";
import { note, vanish } from "../../kit/event-builder.ts";
import { conformance } from "../suite.ts";

/** A relay that restricts who may write, by default to participants of repositories. */
const { proves } = conformance({ env: { HOLDFAST_ACCEPTANCE: "grasp" } });

proves("NIP-62:L39-everybody", "a relay that restricts writers obeys a request of anybody", async (t) => {
  const client = await t.connect();
  expect((await client.publish(note(t.alice, "a stranger's note"))).ok).toBe(false);
  const { ok, message } = await client.publish(vanish(t.alice, [t.server.url]));
  expect({ ok, message }).toMatchObject({ ok: true });
  const refused = await client.publish(note(t.alice, "older", { created_at: 1_700_000_000 }));
  expect(refused).toEqual({ ok: false, message: "invalid: this pubkey has requested to vanish" });
});
