import { expect } from "vitest";
import { deletion, note, now, sign, vanish } from "../../kit/event-builder.ts";
import { RelayClient } from "../../kit/relay-client.ts";
import { startOwn } from "../../kit/server-under-test.ts";
import { conformance } from "../suite.ts";

const { proves } = conformance({ own: true });

proves("GRASP:3.2/survives-restart", "events, deletions and vanish requests are there after a restart", async (t) => {
  const at = now() - 100;
  const kept = [note(t.alice, "kept", { created_at: at }), sign(t.alice, { kind: 30_023, tags: [["d", "a"]], created_at: at + 1 })];
  const [gone, hers] = [note(t.alice, "deleted", { created_at: at }), note(t.bob, "vanished", { created_at: at })];
  const request = deletion(t.alice, [gone.id]);
  const first = await startOwn();
  const before = await RelayClient.connect(first.url);
  for (const event of [...kept, gone, hers, request]) expect(await before.publish(event)).toEqual({ ok: true, message: "" });
  expect((await before.publish(vanish(t.bob, ["ALL_RELAYS"]))).ok).toBe(true);
  await before.close();
  await first.stop({ keepData: true });

  const second = await startOwn({ dataDir: first.dataDir ?? "" });
  const client = await RelayClient.connect(second.url);
  try {
    expect((await client.request({ authors: [t.alice.pubkey] })).events).toEqual([request, kept[1], kept[0]]);
    expect(await client.publish(kept[0] as typeof gone)).toEqual({ ok: true, message: "duplicate: already have this event" });
    expect(await client.publish(gone)).toEqual({ ok: false, message: "invalid: this event is deleted" });
    expect(await client.publish(hers)).toEqual({ ok: false, message: "invalid: this pubkey has requested to vanish" });
  } finally {
    await client.close();
    await second.stop();
  }
});
