import { expect } from "vitest";
import { deletion, note, now, sign } from "../../kit/event-builder.ts";
import { conformance } from "../suite.ts";

const { proves } = conformance();

proves("NIP-09:L31-own NIP-09:L33-request-served", "named events of the author go, the request stays", async (t) => {
  const client = await t.connect();
  const [first, second, kept] = ["first", "second", "kept"].map((text, n) => note(t.alice, text, { created_at: now() - 50 + n })) as [
    ReturnType<typeof note>,
    ReturnType<typeof note>,
    ReturnType<typeof note>,
  ];
  await t.accepted(client, first, second, kept);
  const request = deletion(t.alice, [first.id, second.id], { content: "by accident", tags: [["k", "1"]] });
  await t.accepted(client, request);
  expect(await client.ids({ ids: [first.id, second.id, kept.id] })).toEqual([kept.id]);
  expect(await client.ids({ authors: [t.alice.pubkey] })).toEqual([request.id, kept.id]);
  expect((await client.request({ kinds: [5], authors: [t.alice.pubkey] })).events).toEqual([request]);
  expect(await client.ids({ "#e": [first.id] })).toEqual([request.id]);
});

proves("NIP-09:L33-request-served", "the request is sent to live subscribers", async (t) => {
  const [writer, reader] = [await t.connect(), await t.connect()];
  const event = note(t.alice, "x", { created_at: now() - 5 });
  await t.accepted(writer, event);
  await reader.subscribe("live", { kinds: [5], authors: [t.alice.pubkey] });
  const request = deletion(t.alice, [event.id]);
  await t.accepted(writer, request);
  expect(await reader.nextEvent("live")).toEqual(request);
});

proves("NIP-09:L31-not-others NIP-09:L49-validate", "other people's events stay; the request is taken and does its own part", async (t) => {
  const client = await t.connect();
  const [hers, his] = [note(t.alice, "hers", { created_at: now() - 9 }), note(t.mallory, "his own", { created_at: now() - 9 })];
  const article = sign(t.alice, { kind: 30_023, tags: [["d", "a"]], created_at: now() - 9 });
  await t.accepted(client, hers, his, article);
  const request = deletion(t.mallory, [hers.id, his.id, "0".repeat(64), `30023:${t.alice.pubkey}:a`]);
  await t.accepted(client, request);
  expect(await client.ids({ ids: [hers.id] })).toEqual([hers.id]);
  expect(await client.ids({ ids: [article.id] })).toEqual([article.id]);
  expect(await client.ids({ ids: [his.id] })).toEqual([]);
  expect(await client.ids({ ids: [request.id] })).toEqual([request.id]);
});

proves("NIP-09:L33-gate", "a deleted event does not come back, whoever publishes it and also when the request came first", async (t) => {
  const [client, other] = [await t.connect(), await t.connect()];
  const event = note(t.alice, "gone", { created_at: now() - 9 });
  const unseen = note(t.alice, "never seen", { created_at: now() - 9 });
  await t.accepted(client, event, deletion(t.alice, [event.id, unseen.id]));
  await other.subscribe("live", { authors: [t.alice.pubkey] });
  for (const dead of [event, unseen]) {
    await other.publish(dead);
    expect(await other.ids({ ids: [dead.id] })).toEqual([]);
  }
  // A request by somebody else for an event that is not here yet must not shut it out.
  const honest = note(t.bob, "bob's", { created_at: now() - 9 });
  await t.accepted(client, deletion(t.mallory, [honest.id]), honest);
  expect(await client.ids({ ids: [honest.id] })).toEqual([honest.id]);
});

for (const { kind, d } of [
  { kind: 30_023, d: "post" },
  { kind: 10_002, d: "" },
]) {
  proves("NIP-09:L35-address NIP-09:L35-newer-stays", `kind ${kind}: an address deletes versions up to the request's time`, async (t) => {
    const client = await t.connect();
    const at = now() - 100;
    const tags = d === "" ? [] : [["d", d]];
    const version = (created_at: number) => sign(t.alice, { kind, tags, content: `${created_at}`, created_at });
    const address = `${kind}:${t.alice.pubkey}:${d}`;
    const mine = { kinds: [kind], authors: [t.alice.pubkey] };
    await t.accepted(client, version(at));
    await t.accepted(client, deletion(t.alice, [address], { created_at: at + 10 }));
    expect(await client.ids(mine)).toEqual([]);
    for (const old of [at - 1, at, at + 10]) await client.publish(version(old));
    expect(await client.ids(mine), "no version up to the request comes back").toEqual([]);
    const newer = version(at + 11);
    await t.accepted(client, newer);
    expect(await client.ids(mine)).toEqual([newer.id]);
    await t.accepted(client, deletion(t.alice, [address], { created_at: at + 5, content: "older request" }));
    expect(await client.ids(mine), "an older request leaves a newer version").toEqual([newer.id]);
  });
}

proves("NIP-09:L35-address", "an identifier that holds colons is taken whole, and only that one", async (t) => {
  const client = await t.connect();
  const at = now() - 100;
  const colons = sign(t.alice, { kind: 30_023, tags: [["d", "a:b:c"]], created_at: at });
  const short = sign(t.alice, { kind: 30_023, tags: [["d", "a"]], created_at: at });
  await t.accepted(client, colons, short, deletion(t.alice, [`30023:${t.alice.pubkey}:a:b:c`]));
  expect(await client.ids({ kinds: [30_023], authors: [t.alice.pubkey] })).toEqual([short.id]);
});

proves("NIP-09:L53-no-undo", "deleting a deletion request changes nothing", async (t) => {
  const client = await t.connect();
  const event = note(t.alice, "gone", { created_at: now() - 9 });
  const request = deletion(t.alice, [event.id], { created_at: now() - 5 });
  await t.accepted(client, event, request);
  await client.publish(deletion(t.alice, [request.id]));
  expect(await client.ids({ ids: [request.id] }), "the request is still served").toEqual([request.id]);
  await client.publish(event);
  expect(await client.ids({ ids: [event.id] })).toEqual([]);
});
