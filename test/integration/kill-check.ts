import type { LoadEvent } from "../kit/lane-model.ts";
import type { Lane, Sent } from "../kit/write-load.ts";
import { Asker, idOfText } from "./kill-asker.ts";

/** The relay brings as many for one filter. */
const BATCH = 500;
/** Answered events of a round and lane that are looked up in every index, beside all that were not answered. */
const ANSWERED_LOOKED_UP = 6;

export interface Checked {
  /** Everything that was ever sent. */
  readonly askedById: number;
  /** Sent without an answer, and found whole or not at all. */
  readonly unansweredThere: number;
  readonly unansweredNot: number;
  readonly lookUps: number;
}

/** After a start: everything that ever got an OK is there, byte for byte, and all else whole or not at all. */
export async function checkServed(url: string, lanes: readonly Lane[], problems: string[]): Promise<Checked> {
  using asker = await Asker.connect(url);
  const sum = { askedById: 0, unansweredThere: 0, unansweredNot: 0, lookUps: 0 };
  for (const lane of lanes) {
    const served = await servedOf(asker, lane, problems);
    for (const sent of toLookUp(lane.sent)) {
      sum.lookUps++;
      const isThere = served.has(sent.event.id);
      if (sent.answer === undefined) sum[isThere ? "unansweredThere" : "unansweredNot"]++;
      await lookUp(asker, sent.event, isThere, problems);
    }
    const wrong = lane.settle(served);
    if (wrong !== undefined) problems.push(wrong);
    sum.askedById += lane.everSent.size;
  }
  return sum;
}

async function servedOf(asker: Asker, lane: Lane, problems: string[]): Promise<Set<string>> {
  const served = new Set<string>();
  const ids = [...lane.everSent.keys()];
  for (let at = 0; at < ids.length; at += BATCH) {
    for (const text of await asker.ask({ ids: ids.slice(at, at + BATCH), limit: BATCH })) {
      const id = idOfText(text);
      served.add(id);
      if (lane.everSent.get(id)?.json !== text) problems.push(`lane ${lane.number}: ${id} came back changed: ${text.slice(0, 300)}`);
    }
  }
  return served;
}

function toLookUp(sent: readonly Sent[]): Sent[] {
  const own = sent.filter((one) => !one.probe);
  return [...own.filter((one) => one.answer !== undefined).slice(-ANSWERED_LOOKED_UP), ...own.filter((one) => one.answer === undefined)];
}

/** The same event by every way that leads to it. */
async function lookUp(asker: Asker, event: LoadEvent, isThere: boolean, problems: string[]): Promise<void> {
  const at = { since: event.created_at, until: event.created_at };
  const tag = event.tags.find(([name]) => name === "t")?.[1] ?? "";
  const ways = [
    { ...at },
    { authors: [event.pubkey], ...at },
    { kinds: [event.kind], ...at },
    { authors: [event.pubkey], kinds: [event.kind], ...at },
    { "#t": [tag] },
    ...event.tags
      .filter(([name]) => name === "d" || name === "e" || name === "a")
      .map(([name, value]) => ({ [`#${name}`]: [value], ...at })),
  ];
  for (const filter of ways) {
    const found = (await asker.ask(filter)).some((text) => idOfText(text) === event.id);
    if (found !== isThere) {
      problems.push(`${event.id} is ${isThere ? "there by id and not" : "not there by id and yet"} by ${JSON.stringify(filter)}`);
    }
  }
}
