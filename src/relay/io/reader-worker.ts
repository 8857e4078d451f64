import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import type { Filter } from "../../nostr/filter.ts";
import { filterText } from "../../nostr/filter-text.ts";
import { HyperLogLog, hllOffset } from "../../nostr/hyperloglog.ts";
import { ItemSet } from "../../nostr/negentropy/items.ts";
import { respond } from "../../nostr/negentropy/responder.ts";
import { openReader } from "../../store/io/sqlite-store.ts";
import type { FromReader, Reconciled, ToReader } from "../reader-messages.ts";
import { WeighedMap } from "../weighed-map.ts";

/** The thread for reads that take long: counts and reconciliations. However long one takes, no socket waits for it. */
export interface ReaderWorkerData {
  readonly directory: string;
  readonly negentropyItemsMax: number;
}

/**
 * Items of all open sessions together, 40 bytes each: 240 MiB, three of the largest sets that are allowed by default. Beyond it the session that was quiet
 * longest is ended; its peer may open it again.
 */
const SESSION_ITEMS_MAX = 6_291_456;
/** Sets that were built lately: several peers reconcile the same filter one after the other, and one peer comes back soon. */
const KEPT_ITEMS_MAX = 2_097_152;
/** An empty set weighs something too. */
const weightOf = (set: ItemSet): number => set.length + 16;

const { directory, negentropyItemsMax } = workerData as ReaderWorkerData;
const main = parentPort as MessagePort;
const { reader } = openReader(directory);
const sessions = new WeighedMap<number, ItemSet>(SESSION_ITEMS_MAX, weightOf);
const sets = new WeighedMap<string, { head: number; set: ItemSet }>(KEPT_ITEMS_MAX, ({ set }) => weightOf(set));

let turn: Promise<void> = Promise.resolve();
main.on("message", (message: ToReader) => {
  // One after the other: a session's second message must not overtake its first.
  turn = turn.then(() => handle(message));
});
say({ kind: "started" });

function say(message: FromReader): void {
  main.postMessage(message);
}

async function handle(message: ToReader): Promise<void> {
  if (message.kind === "end") sessions.delete(message.session);
  else if (message.kind === "count") await count(message);
  else {
    const outcome = await reconcile(message).catch((): Reconciled => ({ kind: "failed" }));
    if (outcome.kind !== "reply") sessions.delete(message.session);
    say({ kind: "reconciled", session: message.session, outcome });
  }
}

async function count({ ticket, filters, now }: ToReader & { kind: "count" }): Promise<void> {
  try {
    const [only] = filters;
    const offset = filters.length === 1 && only !== undefined ? hllOffset(only) : undefined;
    if (offset === undefined || only === undefined) {
      say({ kind: "counted", ticket, count: await reader.count(filters, { now }), hll: undefined });
      return;
    }
    const hll = new HyperLogLog(offset);
    let found = 0;
    for await (const slice of reader.query({ ...only, limit: undefined }, { now })) {
      for (const event of slice) hll.add((JSON.parse(event.text) as { pubkey: Parameters<HyperLogLog["add"]>[0] }).pubkey);
      found += slice.length;
    }
    say({ kind: "counted", ticket, count: found, hll: hll.toHex() });
  } catch {
    say({ kind: "failed", ticket });
  }
}

async function reconcile({ session, filter, message, now }: ToReader & { kind: "reconcile" }): Promise<Reconciled> {
  let set = sessions.get(session);
  if (set === undefined) {
    if (filter === undefined) return { kind: "failed" };
    set = await itemsFor(filter, now);
    if (set === undefined) return { kind: "too-many", max: negentropyItemsMax };
    for (const quiet of sessions.set(session, set)) say({ kind: "evicted", session: quiet });
  }
  const answer = respond(set, Buffer.from(message, "hex"));
  if (answer.kind !== "reply") return { kind: "malformed", text: "the message does not follow the protocol" };
  return { kind: "reply", message: Buffer.from(answer.message).toString("hex") };
}

async function itemsFor(filter: Filter, now: (ToReader & { kind: "reconcile" })["now"]): Promise<ItemSet | undefined> {
  const head = await reader.head();
  const key = filterText(filter);
  const kept = sets.get(key);
  if (kept?.head === head) return kept.set;
  const items = await reader.items(filter, { now, upTo: head }, negentropyItemsMax);
  if (items.length > negentropyItemsMax) return undefined;
  const set = new ItemSet(items);
  sets.set(key, { head, set });
  return set;
}
