import { expect } from "vitest";
import { note, now } from "../../kit/event-builder.ts";
import { ask } from "../http.ts";
import { conformance, fetchInfo } from "../suite.ts";

const { proves } = conformance();

const HEX_KEY = /^[0-9a-f]{64}$/;
/** NIPs that ask nothing of a relay: key derivation, browser and signer interfaces, text formats. */
const CLIENT_NIPS = [6, 7, 10, 14, 18, 19, 21, 24, 27, 30, 31, 36, 44, 46, 47, 49, 55, 92];

proves("NIP-11:L9-same-uri NIP-11:L11-document", "the relay's own URI answers with the document", async (t) => {
  const response = await ask(t.server.httpUrl, { headers: { Accept: "application/nostr+json" } });
  expect(response.status).toBe(200);
  expect(response.headers["content-type"]).toMatch(/^application\/(nostr\+)?json/);
  expect(JSON.parse(response.body)).toEqual(t.info);
});

proves("NIP-11:L29-cors", "the CORS headers are there", async (t) => {
  const { headers } = await ask(t.server.httpUrl, { headers: { Accept: "application/nostr+json", Origin: "https://client.example" } });
  expect(["*", "https://client.example"]).toContain(headers["access-control-allow-origin"]);
  expect(headers["access-control-allow-headers"]).toBeTruthy();
  expect(headers["access-control-allow-methods"]).toMatch(/GET|\*/);
});

proves("NIP-11:L36-name NIP-11:L81-version", "name and version are strings, the name is short", async (t) => {
  const { name, version } = t.info;
  expect(typeof name).toBe("string");
  expect([...String(name)].length).toBeLessThan(30);
  if (version !== undefined) expect(typeof version).toBe("string");
});

proves("NIP-11:L59-pubkey NIP-11:L65-self", "keys are hex", async (t) => {
  for (const field of ["pubkey", "self"]) if (t.info[field] != null) expect(t.info[field], field).toMatch(HEX_KEY);
});

proves(
  "NIP-11:L73-integers NIP-11:L73-no-client-nips",
  "supported_nips are whole numbers, each once, none for clients alone",
  async (t) => {
    const nips = t.info.supported_nips ?? [];
    expect(nips.filter((nip) => !Number.isInteger(nip))).toEqual([]);
    expect(new Set(nips).size).toBe(nips.length);
    expect(nips.filter((nip) => CLIENT_NIPS.includes(nip))).toEqual([]);
    expect(nips).toContain(11);
  },
);

proves("NIP-11:L77-software", "software is a URL", async (t) => {
  const { software } = t.info;
  if (software !== undefined) expect(["http:", "https:", "git+https:"]).toContain(new URL(software as string).protocol);
});

proves("NIP-11:L145-auth-required", "who need not authenticate is served without", async (t) => {
  if (t.info.limitation?.["auth_required"] === true) t.skip("this relay asks everybody to authenticate");
  const client = await t.connect();
  await client.roundTrip();
  await t.accepted(client, note(t.alice, "no questions asked"));
});

proves("NIP-11:L153-restricted-writes", "restricted_writes is not set where any valid event is taken", async (t) => {
  const client = await t.connect();
  const { ok } = await client.publish(note(t.alice, "anybody may"));
  if (ok) expect(t.info.limitation?.["restricted_writes"] ?? false).toBe(false);
  else expect(t.info.limitation?.["restricted_writes"]).toBe(true);
});

proves("NIP-11:L127-max-subid", "ids of the announced length work and longer ones are refused", async (t) => {
  const max = Number(t.info.limitation?.["max_subid_length"] ?? 64);
  const client = await t.connect();
  expect((await client.subscribe("i".repeat(max), { ids: ["0".repeat(64)] })).eose).toBe(true);
  if (t.info.limitation?.["max_subid_length"] === undefined) return;
  client.say("REQ", "j".repeat(max + 1), { ids: ["0".repeat(64)] });
  const answer = await client.next(
    (m) => m[0] === "CLOSED" || m[0] === "NOTICE" || (m[0] === "EOSE" && m[1] !== "i".repeat(max)),
    "refusal",
  );
  expect(answer[0]).not.toBe("EOSE");
  await client.roundTrip();
});

proves("NIP-11:L117-max-message", "a message of the announced size is read, a longer one is not acted upon", async (t) => {
  const max = Number(t.info.limitation?.["max_message_length"] ?? 0);
  if (!(max > 0 && max <= 16 * 1024 * 1024)) t.skip("this relay announces no usable max_message_length");
  const padded = (sub: string, size: number): string => {
    const bare = JSON.stringify(["REQ", sub, { ids: ["0".repeat(64)] }]);
    return `${bare.slice(0, -1)}${" ".repeat(size - bare.length)}]`;
  };
  const client = await t.connect();
  client.send(padded("fits", max));
  expect((await client.collect("fits")).eose).toBe(true);
  const other = await t.connect();
  other.send(padded("too-long", max + 1));
  const heard = other.next((m) => m[0] === "NOTICE" || m[0] === "EOSE" || m[0] === "CLOSED", "refusal").catch(() => undefined);
  const answer = await Promise.race([heard, other.untilClosed()]);
  if (Array.isArray(answer)) expect(answer[0]).not.toBe("EOSE");
});

proves("NIP-11:L129-max-limit NIP-11:L161-default-limit", "no more events than announced come, with and without a limit", async (t) => {
  const [max, fallback] = [t.info.limitation?.["max_limit"], t.info.limitation?.["default_limit"]].map(Number) as [number, number];
  if (!(max > 0 && max <= 1000)) t.skip("this relay announces no max_limit that can be tried");
  const client = await t.connect();
  const at = now() - 100_000;
  const events = Array.from({ length: max + 5 }, (_, n) => note(t.alice, `${n}`, { created_at: at + n }));
  for (const event of events) client.say("EVENT", event);
  for (const event of events) {
    const { ok, message } = await client.nextOk(event.id);
    if (!ok && t.server.external) t.skip(`this relay does not take so many events: ${message}`);
    expect({ ok, message }).toMatchObject({ ok: true });
  }
  const newest = events
    .slice(-max)
    .reverse()
    .map((event) => event.id);
  expect(await client.ids({ authors: [t.alice.pubkey], limit: max + 5 })).toEqual(newest);
  if (fallback > 0) expect(await client.ids({ authors: [t.alice.pubkey] })).toEqual(newest.slice(0, fallback));
});

proves("NIP-11:L11-document", "the document is the same for every asker", async (t) => {
  expect(await fetchInfo(t.server.httpUrl)).toEqual(t.info);
});
