import { expect } from "vitest";
import { note, now, sign, tied } from "../../kit/event-builder.ts";
import { conformance } from "../suite.ts";

const { proves } = conformance();

proves("NIP-01:L96-regular", "regular kinds are stored, every one of them", async (t) => {
  const client = await t.connect();
  const events = [1, 2, 4, 44, 1000, 9999].map((kind) => sign(t.alice, { kind, content: `kind ${kind}` }));
  const twins = [sign(t.alice, { kind: 1000, content: "first" }), sign(t.alice, { kind: 1000, content: "second" })];
  await t.accepted(client, ...events, ...twins);
  const stored = await client.ids({ authors: [t.alice.pubkey] });
  expect(stored.toSorted()).toEqual([...events, ...twins].map((event) => event.id).toSorted());
});

for (const kind of [0, 3, 10_000, 19_999]) {
  proves(
    "NIP-01:L97-replaceable NIP-01:L103-latest-only",
    `kind ${kind}: the latest by a key is kept, in either order of arrival`,
    async (t) => {
      const client = await t.connect();
      const at = now() - 100;
      const older = sign(t.alice, { kind, content: "older", created_at: at });
      const newer = sign(t.alice, { kind, content: "newer", created_at: at + 10 });
      await t.accepted(client, older, newer);
      expect(await client.ids({ kinds: [kind], authors: [t.alice.pubkey] })).toEqual([newer.id]);
      const newerFirst = sign(t.bob, { kind, content: "newer", created_at: at + 10 });
      await t.accepted(client, newerFirst);
      await client.publish(sign(t.bob, { kind, content: "older", created_at: at }));
      expect(await client.ids({ kinds: [kind], authors: [t.bob.pubkey] })).toEqual([newerFirst.id]);
      expect(await client.ids({ kinds: [kind], authors: [t.alice.pubkey] }), "another key's is untouched").toEqual([newer.id]);
    },
  );
}

proves("NIP-01:L97-replaceable", "a d tag makes no second place for a replaceable kind", async (t) => {
  const client = await t.connect();
  const at = now() - 100;
  const one = sign(t.alice, { kind: 10_002, tags: [["d", "one"]], created_at: at });
  const two = sign(t.alice, { kind: 10_002, tags: [["d", "two"]], created_at: at + 1 });
  await t.accepted(client, one, two);
  expect(await client.ids({ kinds: [10_002], authors: [t.alice.pubkey] })).toEqual([two.id]);
});

for (const kind of [30_000, 39_999]) {
  proves("NIP-01:L99-addressable", `kind ${kind}: the latest by key and d is kept, in either order of arrival`, async (t) => {
    const client = await t.connect();
    const at = now() - 100;
    const version = (d: string, created_at: number) => sign(t.alice, { kind, tags: [["d", d]], content: `${d} ${created_at}`, created_at });
    const [a1, a2, b1, b2] = [version("a", at), version("a", at + 5), version("b", at + 7), version("b", at)];
    await t.accepted(client, a1, a2, b1);
    await client.publish(b2);
    expect(await client.ids({ kinds: [kind], authors: [t.alice.pubkey] })).toEqual([b1.id, a2.id]);
    expect(await client.ids({ kinds: [kind], "#d": ["a"], authors: [t.alice.pubkey] })).toEqual([a2.id]);
    const bobs = sign(t.bob, { kind, tags: [["d", "a"]], created_at: at - 50 });
    await t.accepted(client, bobs);
    expect(await client.ids({ kinds: [kind], authors: [t.bob.pubkey] })).toEqual([bobs.id]);
  });
}

proves("NIP-01:L99-addressable", "the first d tag counts, and none is the same as an empty one", async (t) => {
  const client = await t.connect();
  const at = now() - 100;
  const bare = sign(t.alice, { kind: 30_001, created_at: at });
  const empty = sign(t.alice, { kind: 30_001, tags: [["d", ""]], created_at: at + 1 });
  const lonely = sign(t.alice, { kind: 30_001, tags: [["d"]], created_at: at + 2 });
  await t.accepted(client, bare, empty, lonely);
  expect(await client.ids({ kinds: [30_001], authors: [t.alice.pubkey] })).toEqual([lonely.id]);
  const first = sign(t.bob, {
    kind: 30_001,
    tags: [
      ["d", "x"],
      ["d", "y"],
    ],
    created_at: at,
  });
  const second = sign(t.bob, { kind: 30_001, tags: [["d", "y"]], created_at: at + 1 });
  await t.accepted(client, first, second);
  expect(await client.ids({ kinds: [30_001], authors: [t.bob.pubkey] })).toEqual([second.id, first.id]);
});

for (const { kind, tags } of [
  { kind: 0, tags: [] },
  { kind: 10_002, tags: [] },
  { kind: 30_023, tags: [["d", "tie"]] },
]) {
  proves("NIP-01:L101-tie", `kind ${kind}: of one second the lower id stays, whatever came first`, async (t) => {
    const client = await t.connect();
    const [lower, higher] = tied(t.alice, { kind, tags });
    await t.accepted(client, higher, lower);
    expect(await client.ids({ kinds: [kind], authors: [t.alice.pubkey] })).toEqual([lower.id]);
    const [low, high] = tied(t.bob, { kind, tags });
    await t.accepted(client, low);
    await client.publish(high);
    expect(await client.ids({ kinds: [kind], authors: [t.bob.pubkey] })).toEqual([low.id]);
  });
}

for (const kind of [20_000, 29_999]) {
  proves("NIP-01:L98-ephemeral", `kind ${kind} reaches subscribers and is not stored`, async (t) => {
    const [writer, reader] = [await t.connect(), await t.connect()];
    expect((await reader.subscribe("live", { kinds: [kind], authors: [t.alice.pubkey] })).eose).toBe(true);
    const event = sign(t.alice, { kind, content: "now or never" });
    await t.accepted(writer, event);
    expect(await reader.nextEvent("live")).toEqual(event);
    expect(await writer.ids({ ids: [event.id] })).toEqual([]);
    expect(await writer.ids({ kinds: [kind], authors: [t.alice.pubkey] })).toEqual([]);
  });
}

proves("NIP-01:L84-letters-indexed", "each letter, lower and upper case, is an index of its own", async (t) => {
  const client = await t.connect();
  // e, p, a, q and their capitals carry references elsewhere; here any string of theirs that is hex serves.
  const letters = [..."abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"];
  const hex = "c".repeat(64);
  const events = letters.map((letter, n) => note(t.alice, letter, { tags: [[letter, hex]], created_at: now() - n }));
  await t.accepted(client, ...events);
  const live = await t.connect();
  for (const [n, letter] of letters.entries()) {
    const found = await client.ids({ [`#${letter}`]: [hex], authors: [t.alice.pubkey] });
    expect(found, `#${letter}`).toEqual([events[n]?.id]);
  }
  expect((await live.subscribe("r", { "#R": [hex], authors: [t.bob.pubkey] })).eose).toBe(true);
  const [small, capital] = [note(t.bob, "r", { tags: [["r", hex]] }), note(t.bob, "R", { tags: [["R", hex]] })];
  await t.accepted(client, small, capital);
  expect((await live.nextEvent("r")).id, "live subscriptions are as exact").toBe(capital.id);
});

proves("NIP-01:L84-first-value", "only the first value of a tag is found, but of every tag of that name", async (t) => {
  const client = await t.connect();
  const event = note(t.alice, "x", { tags: [["t", "first", "second"], ["t", "other"], ["t"]] });
  await t.accepted(client, event);
  const find = (value: string) => client.ids({ "#t": [value], authors: [t.alice.pubkey] });
  expect(await find("first")).toEqual([event.id]);
  expect(await find("other")).toEqual([event.id]);
  expect(await find("second")).toEqual([]);
});
