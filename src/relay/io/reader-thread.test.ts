import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fakeEvent, fakeId, fakeKey } from "../../../test/kit/arbitrary/fake-event.ts";
import { filterOf } from "../../../test/kit/arbitrary/filter.ts";
import { unixSeconds } from "../../base/time.ts";
import { eventText, type VerifiedEvent } from "../../nostr/event.ts";
import { openWriter } from "../../store/io/sqlite-store.ts";
import type { Reconciled } from "../reader-messages.ts";
import { ReaderThread } from "./reader-thread.ts";

const NOW = unixSeconds(1_000);
/** NIP-77: "I have nothing in the whole range": the answer lists everything. */
const NOTHING = "6100000200";
const ITEMS_MAX = 20;
const LANE = 1;

const events = Array.from({ length: 25 }, (_, n) =>
  fakeEvent({ id: fakeId(n), pubkey: fakeKey(n % 5), kind: n < 20 ? 1 : 7, tags: [["e", fakeId("target")]], created_at: 100 + n }),
);

let directory = "";
let thread: ReaderThread;
const deaths: Error[] = [];

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "holdfast-reader-"));
  const store = openWriter(directory, () => 7);
  await store.writer.transact((tx) =>
    tx.apply(
      events.map((event: VerifiedEvent) => ({
        kind: "put",
        event,
        text: eventText(event),
        expiresAt: undefined,
        provenance: { how: "direct" },
      })),
    ),
  );
  await store.close();
  thread = await ReaderThread.start({ directory, negentropyItemsMax: ITEMS_MAX }, (error) => deaths.push(error));
});
afterAll(async () => {
  await thread[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true, force: true });
  expect(deaths).toEqual([]);
});

/** A session and its outcomes, one after the other. */
function session(lane = LANE) {
  const outcomes: Reconciled[] = [];
  const number = thread.open(lane, (outcome) => outcomes.push(outcome));
  const say = async (message: string, filter?: Parameters<ReaderThread["reconcile"]>[1]): Promise<Reconciled> => {
    const before = outcomes.length;
    thread.reconcile(number, filter, message, NOW);
    await expect.poll(() => outcomes.length).toBe(before + 1);
    return outcomes[before] as Reconciled;
  };
  return { number, outcomes, say };
}

describe("counts (NIP-45)", () => {
  test("an event that several filters match counts once; limit does not count", async () => {
    const filters = [filterOf({ kinds: [1], limit: 1 }), filterOf({ authors: [fakeKey(0)] })];
    expect(await thread.count(LANE, filters, NOW)).toMatchObject({ count: 21, hll: undefined });
  });

  test("where NIP-45 has a HyperLogLog for the filter, it comes along: one register a distinct author at most", async () => {
    const counted = await thread.count(LANE, [filterOf({ kinds: [7], tags: { e: [fakeId("target")] } })], NOW);
    expect(counted).toMatchObject({ count: 5, hll: expect.stringMatching(/^[0-9a-f]{512}$/) });
    const registers = typeof counted === "object" ? (counted.hll?.match(/../g) ?? []).filter((register) => register !== "00") : [];
    expect(registers.length).toBeGreaterThan(0);
    expect(registers.length).toBeLessThanOrEqual(5);
  });
});

describe("reconciliations (NIP-77)", () => {
  test("a peer that has nothing is told every id of the filter, and no other", async () => {
    const { say, number } = session();
    const outcome = await say(NOTHING, filterOf({ kinds: [7] }));
    const reply = outcome.kind === "reply" ? outcome.message : "";
    for (const [n, event] of events.entries()) expect(reply.includes(event.id)).toBe(n >= 20);
    thread.end(number);
  });

  test("a set larger than allowed is refused with the number, and the next session starts anew", async () => {
    const { say } = session();
    expect(await say(NOTHING, filterOf())).toEqual({ kind: "too-many", max: ITEMS_MAX });
    expect((await session().say(NOTHING, filterOf({ kinds: [1] }))).kind, "as many as are allowed").toBe("reply");
  });

  test("nonsense ends the session with a word; what comes after it finds none", async () => {
    const { say, number, outcomes } = session();
    expect((await say("61ff", filterOf({ kinds: [7] }))).kind).toBe("malformed");
    thread.reconcile(number, undefined, NOTHING, NOW);
    await thread.count(LANE, [filterOf()], NOW);
    expect(outcomes).toHaveLength(1);
  });

  test("a session that was ended hears nothing more; others do", async () => {
    const [one, other] = [session(), session(2)];
    await one.say(NOTHING, filterOf({ kinds: [7] }));
    thread.reconcile(one.number, undefined, NOTHING, NOW);
    thread.end(one.number);
    expect((await other.say(NOTHING, filterOf({ kinds: [7] }))).kind).toBe("reply");
    expect(one.outcomes).toHaveLength(1);
  });
});

test("a lane that has left costs nothing more, and the others are answered", async () => {
  const lost = Array.from({ length: 20 }, () => thread.count(9, [filterOf()], NOW));
  thread.leave(9);
  expect(await thread.count(LANE, [filterOf()], NOW)).toMatchObject({ count: 25 });
  // At most the one that was under way was still answered; waiting for the others would be for ever.
  const answered = await Promise.all(
    lost.map((count) => Promise.race([count.then(() => 1), new Promise<number>((resolve) => setImmediate(() => resolve(0)))])),
  );
  expect(answered.reduce((sum, one) => sum + one, 0)).toBeLessThan(20);
});

test("a directory that is no store is a failed start", async () => {
  const empty = mkdtempSync(join(tmpdir(), "holdfast-reader-"));
  await expect(ReaderThread.start({ directory: empty, negentropyItemsMax: 1 }, () => undefined)).rejects.toThrow();
  rmSync(empty, { recursive: true, force: true });
});
