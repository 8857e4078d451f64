import type { Call } from "./strace.ts";

/** SQLite's log: a header of 24 bytes before each page; its second number is not zero where a transaction ends. */
const FRAME_HEADER_BYTES = 24;

/** A transaction as the log shows it. */
interface Transaction {
  readonly ids: readonly string[];
  /** All its pages. */
  readonly pages: string;
  /** The first sync that began after that has returned without an error; undefined: there was none. */
  readonly synced: number | undefined;
}

export interface SyncOrder {
  /** Accepted events whose bytes were synced before their OK was sent. */
  readonly proved: readonly string[];
  /** Of these, replaced or deleted again within one transaction: what the log has of them is that they came and went. */
  readonly passed: number;
  /** Already there before this trace began; the log was synced again before that was said. */
  readonly knownBefore: readonly string[];
  readonly problems: readonly string[];
  /** Where those syncs ended that made an accepted event durable. */
  readonly neededSyncs: ReadonlySet<number>;
  readonly transactions: number;
  readonly logWrites: number;
  readonly logSyncs: number;
}

const ID = /"id":"([0-9a-f]{64})"/g;
const OK = /\["OK","([0-9a-f]{64})",true,"(duplicate: already have)?/g;

/**
 * grasp.md 3.2, OK true means durable. For every `OK true` on a socket: the event's bytes were written to the log, then the end of their transaction was,
 * then a sync of that log began and returned 0, and only then the write began that carries the OK.
 */
export function checkSyncOrder(calls: readonly Call[], log: string): SyncOrder {
  const onLog = calls.filter((call) => call.target === log);
  const syncs = onLog.filter((call) => /^(fsync|fdatasync)$/.test(call.name) && call.result === 0);
  const transactions = readTransactions(onLog, syncs);
  const home = new Map<string, Transaction>();
  for (const transaction of transactions) for (const id of transaction.ids) if (!home.has(id)) home.set(id, transaction);

  const proved: string[] = [];
  const neededSyncs = new Set<number>();
  let passed = 0;
  const knownBefore: string[] = [];
  const problems: string[] = [];
  for (const [id, { sent, isDuplicate }] of readOks(calls)) {
    let transaction = home.get(id);
    if (transaction === undefined && !isDuplicate) {
      const bytes = Buffer.from(id, "hex").toString("latin1");
      transaction = transactions.find(({ pages }) => pages.includes(bytes));
      if (transaction !== undefined) passed++;
    }
    if (transaction === undefined) {
      if (!isDuplicate) problems.push(`${id}: its OK was sent, but its bytes were never written to the log`);
      else if (syncs.some((sync) => sync.ended < sent)) knownBefore.push(id);
      else problems.push(`${id}: said to be known before what was found in the log had been synced`);
    } else if (transaction.synced === undefined) problems.push(`${id}: the log was not synced after its transaction`);
    else if (transaction.synced >= sent)
      problems.push(`${id}: its OK left (line ${sent}) before the sync was done (line ${transaction.synced})`);
    else {
      proved.push(id);
      neededSyncs.add(transaction.synced);
    }
  }
  const [logWrites, logSyncs] = [onLog.length - syncs.length, syncs.length];
  return { proved, passed, knownBefore, problems, neededSyncs, transactions: transactions.length, logWrites, logSyncs };
}

function readTransactions(onLog: readonly Call[], syncs: readonly Call[]): Transaction[] {
  const transactions: Transaction[] = [];
  let ids: string[] = [];
  let pages: string[] = [];
  let isLast = false;
  let nextSync = 0;
  for (const call of onLog) {
    if (!call.name.startsWith("pwrite")) continue;
    if (call.data.length === FRAME_HEADER_BYTES) {
      isLast = call.data.slice(4, 8) !== "\0\0\0\0";
      continue;
    }
    for (const [, id = ""] of call.data.matchAll(ID)) ids.push(id);
    pages.push(call.data);
    if (!isLast) continue;
    isLast = false;
    while ((syncs[nextSync]?.began ?? Number.POSITIVE_INFINITY) <= call.ended) nextSync++;
    transactions.push({ ids, pages: pages.join(""), synced: syncs[nextSync]?.ended });
    ids = [];
    pages = [];
  }
  return transactions;
}

/** When the first write began that carries an event's OK. */
function readOks(calls: readonly Call[]): Map<string, { readonly sent: number; readonly isDuplicate: boolean }> {
  const oks = new Map<string, { sent: number; isDuplicate: boolean }>();
  for (const call of calls) {
    if (!call.target.startsWith("TCP")) continue;
    for (const [whole, id = "", duplicate] of call.data.matchAll(OK)) {
      const isSuperseded = duplicate === undefined && call.data.startsWith("duplicate", call.data.indexOf(whole) + whole.length);
      if (!oks.has(id) && !isSuperseded) oks.set(id, { sent: call.began, isDuplicate: duplicate !== undefined });
    }
  }
  return oks;
}
