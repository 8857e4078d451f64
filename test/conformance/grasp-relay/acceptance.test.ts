import { expect } from "vitest";
import { deletion, note, repositoryAnnouncement, sign, vanish } from "../../kit/event-builder.ts";
import { actor } from "../../kit/keys.ts";
import { conformance } from "../suite.ts";

const villain = actor("somebody the operator blocked");
const { proves } = conformance({ env: { HOLDFAST_ACCEPTANCE: "grasp", HOLDFAST_EVENT_BLOCK_LIST: villain.pubkey } });

proves("GRASP:3.6/orphan", "what names nothing that is accepted here is refused in the agreed words", async (t) => {
  const client = await t.connect();
  const coordinate = `30617:${t.alice.pubkey}:unknown`;
  const orphans = [
    note(t.alice, "names nothing"),
    note(t.alice, "names an unknown event", { tags: [["e", "0".repeat(64)]] }),
    sign(t.alice, { kind: 1621, tags: [["a", coordinate]] }),
    sign(t.alice, { kind: 1617, tags: [["a", coordinate]] }),
    sign(t.alice, {
      kind: 1111,
      tags: [
        ["A", coordinate],
        ["E", "0".repeat(64)],
      ],
    }),
    sign(t.alice, {
      kind: 30_023,
      tags: [
        ["d", "x"],
        ["q", coordinate],
      ],
    }),
    sign(t.alice, { kind: 20_001 }),
  ];
  for (const event of orphans) {
    const { ok, message } = await client.publish(event);
    expect(ok, `kind ${event.kind}`).toBe(false);
    expect(message).toMatch(/^restricted: .*must reference an accepted repository or accepted event$/);
  }
  expect(await client.ids({ authors: [t.alice.pubkey] })).toEqual([]);
});

proves("GRASP:3.6/participants", "profiles and lists of strangers are refused", async (t) => {
  const client = await t.connect();
  for (const kind of [0, 10_002, 10_317]) {
    const { ok, message } = await client.publish(sign(t.alice, { kind, content: kind === 0 ? "{}" : "" }));
    expect(ok, `kind ${kind}`).toBe(false);
    expect(message).toMatch(/^restricted: /);
  }
});

proves("GRASP:3.6/blocked-author", "a blocked author is refused before anything else, by EVENT only", async (t) => {
  const client = await t.connect();
  const events = [note(villain, "x"), sign(villain, { kind: 0 }), repositoryAnnouncement(villain, "repo"), sign(villain, { kind: 20_001 })];
  for (const event of events) {
    const { ok, message } = await client.publish(event);
    expect(ok, `kind ${event.kind}`).toBe(false);
    expect(message).toMatch(/^blocked: /);
  }
  expect((await client.request({ authors: [villain.pubkey] })).eose, "reading about them is nobody's fault").toBe(true);
});

proves("GRASP:3.6/deletion", "deletion and vanish requests are taken from strangers, and remembered", async (t) => {
  const client = await t.connect();
  const unseen = note(t.alice, "not here yet");
  const request = deletion(t.alice, [unseen.id]);
  expect(await client.publish(request)).toEqual({ ok: true, message: "" });
  expect(await client.ids({ ids: [request.id] })).toEqual([request.id]);
  expect(await client.publish(unseen)).toEqual({ ok: false, message: "invalid: this event is deleted" });
  expect(await client.publish(vanish(t.bob, [t.server.url]))).toMatchObject({ ok: true });
});
