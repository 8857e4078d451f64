import { fromHex, toHex } from "../../../src/nostr/negentropy/hex.ts";
import { Initiator } from "../../../src/nostr/negentropy/initiator.ts";
import { ItemSet } from "../../../src/nostr/negentropy/items.ts";
import { type Bench, guarded, measured, type Target } from "../bench.ts";
import { type EventFile, recordAt } from "../event-file.ts";
import type { Options } from "../options.ts";
import { RawClient } from "../raw-client.ts";
import type { Row } from "../sheet.ts";
import { answerKind } from "../wire.ts";

const ID_BYTES = 32;
/** A relay may have to read a million rows before its first answer: this, and a tenth of a millisecond for each. */
const ANSWER_MS = 30_000;
const ANSWER_MS_PER_ITEM = 0.1;
const NIP_11_MS = 5_000;
/** More tell nothing new: each takes seconds, and nothing is written. */
const ROUNDS_MAX = 3;

/** Which events of the common set each side lacks, spread evenly: the hardest case for a reconciliation. */
export interface Split {
  /** Events in all; each side holds `negItems` of them. */
  readonly count: number;
  readonly relayLacks: ReadonlySet<number>;
  readonly weLack: ReadonlySet<number>;
}

export function splitOf({ negItems, negDifferences }: Options): Split {
  const half = Math.max(1, Math.floor(negDifferences / 2));
  const count = negItems + half;
  const step = count / half;
  const spread = (offset: number): Set<number> => new Set(Array.from({ length: half }, (_, k) => Math.floor((k + offset) * step)));
  return { count, relayLacks: spread(0.25), weLack: spread(0.75) };
}

/** NIP-77: bytes, rounds and time until both differences are known exactly. */
export async function negentropyPhase(bench: Bench, target: Target, file: EventFile, split: Split): Promise<void> {
  const { negItems } = bench.options;
  const row = (label: string, unit: string): Row => ({
    section: `NIP-77, ${negItems.toLocaleString("en")} against ${negItems.toLocaleString("en")} with ${split.relayLacks.size + split.weLack.size} differences`,
    label,
    unit,
    better: "less",
  });
  await guarded(bench, target, "reconciling", async () => {
    if (!(await mayKnow(target.url))) return bench.sheet.note(target.name, row("wall", "ms"), "its NIP-11 document does not list NIP-77");
    const began = performance.now();
    const items = ourItems(file, split);
    bench.progress.say(`${target.name}: reconciling; our set was built in ${Math.round(performance.now() - began)} ms`);
    const answerMs = ANSWER_MS + negItems * ANSWER_MS_PER_ITEM;
    const filter = { since: file.set.from, until: file.set.from + file.set.spanS };
    for (let round = 0; round < Math.min(bench.options.rounds, ROUNDS_MAX); round++) {
      const { result, spent } = await measured(target, () => reconcile(target.url, JSON.stringify(filter), new Initiator(items), answerMs));
      if (typeof result === "string") {
        bench.sheet.note(target.name, row("wall", "ms"), `refused: ${result}`);
        bench.progress.say(`${target.name}: ${result}`);
        return;
      }
      bench.sheet.add(target.name, row("wall", "ms"), result.ms);
      bench.sheet.add(target.name, row("rounds", ""), result.rounds);
      bench.sheet.add(target.name, row("sent", "bytes"), result.sentBytes);
      bench.sheet.add(target.name, row("received", "bytes"), result.receivedBytes);
      if (spent.serverCpuS !== undefined) bench.sheet.add(target.name, { ...row("relay CPU", "ms"), mean: true }, spent.serverCpuS * 1000);
      bench.sheet.add(target.name, { ...row("our CPU", "ms"), mean: true }, spent.driverCpuS * 1000);
      const exact = result.have === split.relayLacks.size && result.need === split.weLack.size;
      if (!exact)
        bench.sheet.note(
          target.name,
          row("wall", "ms"),
          `found ${result.have} that it lacks and ${result.need} that we lack: not what was prepared`,
        );
    }
  });
}

/** Some relays are silent when they do not know a message; a list of NIPs without 77 saves the wait. No document, or no list, proves nothing. */
async function mayKnow(url: string): Promise<boolean> {
  try {
    const headers = { accept: "application/nostr+json" };
    const response = await fetch(url.replace(/^ws/, "http"), { headers, signal: AbortSignal.timeout(NIP_11_MS) });
    const nips = ((await response.json()) as { supported_nips?: unknown }).supported_nips;
    return !Array.isArray(nips) || nips.length === 0 || nips.includes(77);
  } catch {
    return true;
  }
}

function ourItems(file: EventFile, split: Split): ItemSet {
  const length = file.set.count - split.weLack.size;
  const createdAt = new Float64Array(length);
  const ids = new Uint8Array(length * ID_BYTES);
  let at = 0;
  for (let position = 0; position < file.set.count; position++) {
    if (split.weLack.has(position)) continue;
    const record = recordAt(file, position);
    createdAt[at] = record.createdAt;
    ids.set(record.id, at * ID_BYTES);
    at += 1;
  }
  return new ItemSet({ length, createdAt, ids });
}

interface Exchange {
  readonly ms: number;
  readonly rounds: number;
  readonly sentBytes: number;
  readonly receivedBytes: number;
  readonly have: number;
  readonly need: number;
}

/** The whole exchange, or the relay's words when it would not. Bytes are those of the messages as text, as they cross the wire. */
async function reconcile(url: string, filter: string, initiator: Initiator, answerMs: number): Promise<Exchange | string> {
  const client = await RawClient.connect(url, () => undefined);
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise<Exchange | string>((resolve) => {
      const began = performance.now();
      const sum = { rounds: 0, sentBytes: 0, receivedBytes: 0, have: 0, need: 0 };
      const send = (text: string): void => {
        sum.sentBytes += text.length;
        client.sendText(text);
        clearTimeout(timer);
        timer = setTimeout(() => resolve(`no answer within ${answerMs / 1000} s`), answerMs);
      };
      client.onClosed = resolve;
      client.onMessage = (bytes, start, end) => {
        const kind = answerKind(bytes, start);
        if (kind === "neg-err" || kind === "notice" || kind === "closed") return resolve(bytes.toString("utf8", start, end));
        if (kind !== "neg-msg") return;
        const text = bytes.toString("latin1", start, end);
        sum.rounds += 1;
        sum.receivedBytes += text.length;
        const close = text.lastIndexOf('"');
        const message = fromHex(text.slice(text.lastIndexOf('"', close - 1) + 1, close));
        const learnt = message instanceof Uint8Array ? initiator.receive(message) : message;
        if (learnt.kind === "problem") return resolve(`its answer cannot be used: ${JSON.stringify(learnt)}`);
        sum.have += learnt.have.length / ID_BYTES;
        sum.need += learnt.need.length / ID_BYTES;
        if (learnt.next === undefined) resolve({ ms: performance.now() - began, ...sum });
        else send(`["NEG-MSG","n","${toHex(learnt.next)}"]`);
      };
      send(`["NEG-OPEN","n",${filter},"${toHex(initiator.start())}"]`);
    });
  } finally {
    clearTimeout(timer);
    client.close();
  }
}
