import { randomInt } from "node:crypto";
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { systemClock } from "../../base/io/system-clock.ts";
import { expirationOf } from "../../nostr/expiration.ts";
import { VANISH } from "../../nostr/kinds.ts";
import type { Rules } from "../../policy/rules.ts";
import type { Retentions } from "../../retention/gate-retention.ts";
import { Sweeper } from "../../retention/io/sweeper.ts";
import { openWriter } from "../../store/io/sqlite-store.ts";
import { VANISH_AT_ONCE } from "../admit.ts";
import { type Admitted, admitAll, trusted } from "../admit-all.ts";
import type { Candidate } from "../candidate.ts";
import type { Answers, AppliedBatch, BatchToApply, Candidates, Started } from "../messages.ts";
import type { Origin } from "../origin.ts";

/** The thread of the one writer: decides on verified events and commits them, all that came while the last commit was under way in one. */
export interface WriterWorkerData {
  readonly directory: string;
  readonly rules: Rules;
  readonly retentions: Retentions;
  readonly gatesEveryMs: number;
  readonly fromVerifiers: readonly MessagePort[];
}

export type ToWriter = BatchToApply | { readonly kind: "rules"; readonly rules: Rules } | { readonly kind: "stop" };

/** A commit of more would let the first of them wait too long for its OK. */
const BATCH_MAX = 1_000;

const data = workerData as WriterWorkerData;
const main = parentPort as MessagePort;
let rules = data.rules;
const store = openWriter(data.directory, () => randomInt(2 ** 31));
const { writer } = store;
const queue: { ticket: number; candidate: Candidate }[] = [];
const batches: BatchToApply[] = [];
let busy = false;
let stopping = false;

const sweeper = new Sweeper(
  writer,
  systemClock,
  { retentions: data.retentions, gatesEveryMs: data.gatesEveryMs },
  {
    changed: (changes) => post([], { ids: [], kinds: [], accepted: [], messages: [], changes, passing: [], evidence: [] }),
    fault: reportFault,
  },
);

for (const port of data.fromVerifiers) {
  port.on("message", ({ tickets, texts, origins }: Candidates) => {
    for (const [i, text] of texts.entries()) {
      queue.push({ ticket: tickets[i] as number, candidate: { event: trusted(text), text, origin: origins[i] as Origin } });
    }
    begin();
  });
}
main.on("message", (message: ToWriter) => {
  if (message.kind === "rules") rules = message.rules;
  else if (message.kind === "apply") {
    batches.push(message);
    begin();
  } else {
    stopping = true;
    if (!busy) void stop();
  }
});
main.postMessage({ kind: "started", detail: "" } satisfies Started);
sweeper.start();

function begin(): void {
  if (busy) return;
  busy = true;
  // Whatever else has already arrived comes into the same commit.
  setImmediate(() => void drain());
}

async function drain(): Promise<void> {
  while (queue.length > 0 || batches.length > 0) {
    // First those that wait now and not those that come meanwhile: neither they nor events keep the other from its turn.
    for (const message of batches.splice(0)) main.postMessage(await applied(message));
    await admitSome();
    await new Promise((resolve) => setImmediate(resolve));
  }
  busy = false;
  if (stopping) await stop();
}

/** Each in a commit of its own: one that cannot be done takes no other with it. */
async function applied({ ticket, batch }: BatchToApply): Promise<AppliedBatch> {
  try {
    const changes = await writer.transact((tx) => tx.apply(batch));
    return { kind: "applied", ticket, changes, problem: undefined };
  } catch (error) {
    return { kind: "applied", ticket, changes: [], problem: error instanceof Error ? error.message : String(error) };
  }
}

async function admitSome(): Promise<void> {
  if (queue.length === 0) return;
  const batch = queue.splice(0, BATCH_MAX);
  const admitted = await admitAll(
    writer,
    batch.map((entry) => entry.candidate),
    rules,
    systemClock.now(),
    reportFault,
  );
  post(
    batch.map((entry) => entry.ticket),
    admitted,
  );
  // One that removed less than it may at once has nothing left to do.
  const vanished = admitted.changes.length >= VANISH_AT_ONCE && batch.some(({ candidate: { event } }) => event.kind === VANISH);
  if (vanished || batch.some(({ candidate: { event } }) => expirationOf(event) !== undefined)) sweeper.look(vanished);
}

function post(tickets: number[], done: Admitted): void {
  main.postMessage({ kind: "answers", tickets, ...done } satisfies Answers);
}

function reportFault(error: unknown): void {
  main.postMessage({ kind: "fault", text: error instanceof Error ? error.message : String(error) });
}

async function stop(): Promise<void> {
  // A sweep that is in the middle of a commit ends it before the store is closed.
  await sweeper.stop();
  await store.close();
  process.exit(0);
}
