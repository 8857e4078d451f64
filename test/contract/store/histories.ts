import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { instant, unixSeconds } from "../../../src/base/time.ts";
import type { NostrEvent } from "../../../src/nostr/event.ts";
import type { Filter } from "../../../src/nostr/filter.ts";
import { addressOf } from "../../../src/nostr/replaceable.ts";
import type { Batch } from "../../../src/store/batch.ts";
import { type FeedChange, type Seq, seq, type Transaction, type View } from "../../../src/store/event-store.ts";
import type { HeldReader } from "../../../src/store/held.ts";
import { MemoryStore } from "../../../src/store/memory-store.ts";
import { AUTHORS, IDENTIFIERS, IDS, TIME_MAX } from "../../kit/arbitrary/event.ts";
import { fakeId } from "../../kit/arbitrary/fake-event.ts";
import { filterNear } from "../../kit/arbitrary/filter.ts";
import { anyHistory, type History, REPOSITORIES, type Turn } from "../../kit/arbitrary/history.ts";
import { propertyFactor, runs } from "../../kit/arbitrary/runs.ts";
import { feedAfter, found, gather, idsOf, type OpenFunction, type OpenStore, sorted, withStore } from "./bench.ts";
import { PlainModel } from "./plain-model.ts";

/** Enough that every pair of conditions meets; a disk store opens that many files in a few seconds. */
const RUNS = 80;
const TIMEOUT_MS = 60_000 * propertyFactor();

const anyView = fc.record({
  now: fc.integer({ min: 0, max: TIME_MAX + 1 }).map(unixSeconds),
  upTo: fc.option(fc.nat({ max: 60 }).map(seq), { nil: undefined, freq: 3 }),
});
const historyAndQuestions = anyHistory.chain((history) =>
  fc.tuple(fc.constant(history), fc.array(fc.tuple(filterNear(history.events), anyView), { minLength: 1, maxLength: 12, size: "max" })),
);

class ChangedItsMind extends Error {}

/** One transaction; a failing one is carried out to its end first. Gives the changes that `apply` told of. */
async function perform(store: OpenStore, batches: readonly Batch[], fails: boolean): Promise<FeedChange[]> {
  const made: FeedChange[] = [];
  const work = store.writer.transact(async (tx) => {
    for (const batch of batches) made.push(...(await tx.apply(batch)));
    if (fails) throw new ChangedItsMind();
  });
  if (!fails) await work;
  else await expect(work).rejects.toBeInstanceOf(ChangedItsMind);
  return made;
}

async function live(store: OpenStore, history: History, each: (batches: readonly Batch[], turn: Turn) => Promise<unknown>) {
  let model = new PlainModel();
  for (const turn of history.turns) {
    const draft = model.copy();
    const batches = turn.batches.map((steps) => draft.perform(history.events, steps));
    const made = await perform(store, batches, turn.fails);
    const numbered = draft.changes.slice(model.changes.length);
    expect(made.map((change) => change.seq)).toEqual(numbered.map((_, n) => model.changes.length + n + 1));
    await each(batches, turn);
    if (!turn.fails) model = draft;
  }
  return model;
}

/** Everything a store can be asked beside queries, as one value. Lists without a promised order are sorted. */
async function facts(store: OpenStore, { events }: History): Promise<unknown> {
  const ids = Array.from({ length: IDS }, (_, n) => fakeId(n));
  const ask = (tx: Transaction) => async (event: NostrEvent) => {
    const address = addressOf(event);
    const { pubkey } = event;
    return {
      serves: await tx.serves(event.id),
      incumbent: address && (await tx.incumbent(address)),
      gate: await tx.gateFor(event),
      remembered: await tx.gate(event.id),
      named: await tx.isNamed(event),
      own: (await tx.ownServed(pubkey, ids)).toSorted((a, b) => (a.id < b.id ? -1 : 1)),
      any: await tx.servesAny([event.id], address === undefined ? [] : [address]),
      has: await tx.hasServed(pubkey),
      named30617: await tx.servedByIdentifier(30_617, IDENTIFIERS[event.content.length % IDENTIFIERS.length] ?? "", 3),
      unused: await tx.unusedGates(pubkey),
      provenance: await store.reader.provenance(event.id),
    };
  };
  const perEvent = await store.writer.transact(async (tx) => {
    const answers = [];
    for (const event of events) answers.push(await ask(tx)(event));
    return answers;
  });
  const gates = await store.writer.gates(undefined, 1000);
  const requests = AUTHORS.map((author) => ({ request: fakeId(3), author, vanishUntil: unixSeconds(TIME_MAX / 2) }));
  const toVanish = await store.writer.transact(async (tx) => {
    const answers = [];
    for (const gate of [...gates, ...requests]) answers.push(sorted(await tx.toVanish(gate, 1000)));
    return answers;
  });
  return {
    perEvent,
    toVanish,
    head: await store.reader.head(),
    gates: [gates, await store.writer.gates(fakeId(7), 3)],
    expired: sorted(await store.writer.expired(unixSeconds(TIME_MAX / 2), 1000)),
    nextExpiry: await store.writer.nextExpiry(),
  };
}

/** Everything that can be asked about what is held. */
async function heldFacts(held: HeldReader, { events }: History): Promise<unknown> {
  const ids = Array.from({ length: IDS }, (_, n) => fakeId(n));
  const answers: unknown[] = [];
  for (const id of ids) answers.push([await held.waits(id), await held.heldEvent(id), await held.hasOverlay(id), await held.tipsOf(id)]);
  for (const d of IDENTIFIERS) {
    answers.push(await held.heldByIdentifier("announcement", d, 2), await held.heldByIdentifier("state", d, 100));
    answers.push(await held.statesOf(d, AUTHORS.slice(1)));
    for (const author of AUTHORS) {
      answers.push(await held.heldFor(author, d));
      const addresses = [30_617, 30_618].map((kind) => ({ kind, pubkey: author, d }));
      answers.push(await held.ownHeld(author, ids.slice(0, 4), addresses, unixSeconds(TIME_MAX / 2)));
    }
  }
  for (const author of AUTHORS)
    for (const what of ["announcement", "state", "pull-request"] as const) answers.push(await held.waitingBy(author, what));
  for (const repository of REPOSITORIES) answers.push(await held.overlays(repository), await held.pullRequestsFor([repository]));
  return [
    answers,
    await held.pullRequestsFor([...REPOSITORIES, ...REPOSITORIES]),
    await held.expiredIds(events.map((event) => event.id)),
    await held.heldPage(undefined, 1000),
    await held.heldPage(fakeId(7), 3),
    await held.outlived(instant(2), 1000),
    await held.outlived(instant(9), 2),
    await held.intents(),
    await held.tips(),
    await held.aliveAt(),
  ];
}

async function sameAnswers(store: OpenStore, model: PlainModel, filters: readonly (readonly [Filter, View])[]): Promise<void> {
  for (const [filter, view] of filters) {
    const expected = model.find(filter, view);
    expect(await found(store, filter, view)).toEqual(expected);
    const whole = model.find({ ...filter, limit: undefined }, view);
    expect(idsOf(await store.reader.items(filter, view))).toEqual(whole.toSorted(ascendingIn(model)));
    expect(await store.reader.count([filter], view)).toBe(model.count([filter], view));
  }
  const [first] = filters;
  if (first !== undefined) {
    const all = filters.map(([filter]) => filter);
    expect(await store.reader.count(all, first[1])).toBe(model.count(all, first[1]));
  }
}

/** NIP-77: time ascending, ties by id ascending. */
const ascendingIn = (model: PlainModel) => {
  const times = new Map(model.survivors.map(({ event }) => [event.id as string, event.created_at]));
  return (a: string, b: string): number => (times.get(a) ?? 0) - (times.get(b) ?? 0) || (a < b ? -1 : 1);
};

/** Histories that nobody thought of, against the plain model and against the memory store. */
export function historyContract(open: OpenFunction, isOracle: boolean): void {
  describe("random histories", () => {
    it(
      "query, count, items and feed are what matches(), a sort and a cut over the survivors give (NIP-01, NIP-40)",
      () =>
        fc.assert(
          fc.asyncProperty(historyAndQuestions, ([history, questions]) =>
            withStore(open, async (store) => {
              const model = await live(store, history, async () => undefined);
              await sameAnswers(store, model, questions);
              expect(await feedAfter(store)).toEqual(model.feed());
              const after = (questions.length * 3) as Seq;
              expect(await gather(store.feed.read(after))).toEqual(model.feed().slice(after));
              expect(await store.reader.head()).toBe(model.changes.length);
            })(),
          ),
          runs(RUNS),
        ),
      TIMEOUT_MS,
    );

    // Comparing the oracle with itself would prove nothing.
    it.skipIf(isOracle)(
      "every other answer is the memory store's (grasp.md 3.6, 6.1, 8.24, 11.1, 11.2)",
      () =>
        fc.assert(
          fc.asyncProperty(anyHistory, (history) =>
            withStore(open, async (store) => {
              const memory = new MemoryStore();
              const oracle: OpenStore = { reader: memory, writer: memory, feed: memory, held: memory.held, close: async () => undefined };
              await live(store, history, (batches, turn) => perform(oracle, batches, turn.fails));
              expect(await facts(store, history)).toEqual(await facts(oracle, history));
              const expected = await heldFacts(oracle.held, history);
              expect(await heldFacts(store.held, history)).toEqual(expected);
              expect(await store.writer.transact((tx) => heldFacts(tx.held, history))).toEqual(expected);
            })(),
          ),
          runs(RUNS),
        ),
      TIMEOUT_MS,
    );
  });
}
