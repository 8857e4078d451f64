import { expect } from "vitest";
import { note } from "../../kit/event-builder.ts";
import { RelayClient } from "../../kit/relay-client.ts";
import { expectHarmlessWords } from "../answers.ts";
import { conformance } from "../suite.ts";

const MESSAGE_MAX = 65_536;
const EVENT_MAX = 4_096;
const { proves } = conformance({ env: { HOLDFAST_MAX_MESSAGE_BYTES: `${MESSAGE_MAX}`, HOLDFAST_MAX_EVENT_BYTES: `${EVENT_MAX}` } });

/** A note whose JSON has exactly this many bytes. */
function noteOfSize(who: Parameters<typeof note>[0], bytes: number) {
  const empty = JSON.stringify(note(who, "")).length;
  return note(who, "x".repeat(bytes - empty));
}

proves("GRASP:3.3/message-size", "a message of the limit is read; a longer one is refused and the server goes on", async (t) => {
  expect(t.info.limitation?.["max_message_length"]).toBe(MESSAGE_MAX);
  const client = await t.connect();
  const bare = '["REQ","fits",{"limit":0}]';
  client.send(bare.replace("]", `${" ".repeat(MESSAGE_MAX - bare.length)}]`));
  expect((await client.collect("fits")).eose).toBe(true);
  for (const excess of [1, 1_000, 5_000_000]) {
    const other = await t.connect();
    const text = bare.replace("fits", "long").replace("]", `${" ".repeat(MESSAGE_MAX + excess - bare.length)}]`);
    other.send(text);
    const told = new Promise<string>((resolve) => {
      other
        .next((m) => m[0] === "NOTICE", "NOTICE")
        .then(
          (m) => resolve(String(m[1])),
          () => {},
        );
    });
    const answer = await Promise.race([told, other.untilClosed()]);
    // Either it is told so, or the frame is not even read: 1009 is the protocol's word for "too big".
    if (typeof answer === "number") expect(answer).toBe(1009);
    else expect(answer).toMatch(/^[a-z-]+: ./);
    expect(other.received.filter((m) => m[0] === "EOSE")).toEqual([]);
    expectHarmlessWords(other);
  }
  await client.roundTrip();
});

proves("GRASP:3.3/event-size", "an event of the limit is accepted, one byte more is refused", async (t) => {
  const client = await t.connect();
  const [fits, tooLong] = [noteOfSize(t.alice, EVENT_MAX), noteOfSize(t.bob, EVENT_MAX + 1)];
  expect(JSON.stringify(fits)).toHaveLength(EVENT_MAX);
  await t.accepted(client, fits);
  const { ok, message } = await client.publish(tooLong);
  expect(ok).toBe(false);
  expect(message).toMatch(/^invalid: /);
  expect(await client.ids({ ids: [tooLong.id] })).toEqual([]);
  const inTags = note(t.carol, "", { tags: Array.from({ length: 400 }, (_, n) => ["t", `tag number ${n}`]) });
  expect((await client.publish(inTags)).ok, "tags count too").toBe(false);
  const multibyte = note(t.mallory, "é".repeat(EVENT_MAX / 2));
  expect((await client.publish(multibyte)).ok, "bytes count, not characters").toBe(false);
});

proves("GRASP:3.3/message-size", "many fragments of one message count together", async (t) => {
  // A message in a thousand small frames is still one message: the sum is limited, not the frame.
  const { WebSocket } = await import("ws");
  const socket = new WebSocket(t.server.url);
  await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
  const closed = new Promise<number>((resolve) => socket.once("close", resolve));
  const noticed = new Promise<string>((resolve) =>
    socket.on("message", (data) => {
      const [verb, text] = JSON.parse((data as Buffer).toString("utf8")) as string[];
      if (verb === "NOTICE") resolve(String(text));
    }),
  );
  socket.on("error", () => {});
  socket.send('["REQ","x"', { fin: false });
  for (let n = 0; n < 200 && socket.readyState === WebSocket.OPEN; n++) socket.send(" ".repeat(1_000), { fin: false });
  if (socket.readyState === WebSocket.OPEN) socket.send(',{"limit":0}]', { fin: true });
  const answer = await Promise.race([closed, noticed]);
  if (typeof answer === "number") expect([1009, 1006]).toContain(answer);
  else expect(answer).toMatch(/^[a-z-]+: ./);
  socket.terminate();
  const client = await RelayClient.connect(t.server.url);
  await client.roundTrip();
  await client.close();
});
