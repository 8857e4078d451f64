import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { systemClock } from "../../base/io/system-clock.ts";
import { type EventId, readEvent } from "../../nostr/event.ts";
import { verifyEvent } from "../../nostr/verify.ts";
import type { Rules } from "../../policy/rules.ts";
import { openReader } from "../../store/io/sqlite-store.ts";
import { type Inspector, inspect } from "../inspect.ts";
import type { Answers, Candidates, EventToProve, FramesToInspect, ProvedEvent, Started } from "../messages.ts";
import type { Origin } from "../origin.ts";
import { fastestSchnorr } from "./schnorr.ts";

/** A thread that reads and proves events. What holds goes straight to the writer; what does not is answered from here. */
export interface VerifyWorkerData {
  readonly directory: string;
  readonly rules: Rules;
  readonly toWriter: MessagePort;
}

const { directory, rules, toWriter } = workerData as VerifyWorkerData;
const main = parentPort as MessagePort;
const schnorr = await fastestSchnorr();
const { reader } = openReader(directory);
const inspector: Inspector = { rules, schnorr, isKnown: (id: EventId) => reader.serves(id) };

main.on("message", (message: FramesToInspect | EventToProve) => {
  if (message.kind === "prove") main.postMessage(prove(message));
  else inspectAll(message);
});
main.postMessage({ kind: "started", detail: schnorr.name } satisfies Started);

function prove({ ticket, event: value }: EventToProve): ProvedEvent {
  const event = readEvent(value);
  const proved = typeof event === "string" ? event : verifyEvent(event, schnorr);
  return { kind: "proved", ticket, problem: typeof proved === "string" ? proved : undefined };
}

/** Proved events that go to the writer at once, so that it writes while we go on proving (a quarter more events a second, measured). */
const HAND_OVER = 32;

const noCandidates = () => ({ tickets: [] as number[], texts: [] as string[], origins: [] as Origin[] });

function inspectAll({ tickets, frames, origins }: FramesToInspect): void {
  let candidates = noCandidates();
  const answers = {
    tickets: [] as number[],
    ids: [] as string[],
    kinds: [] as number[],
    accepted: [] as boolean[],
    messages: [] as string[],
  };
  const now = systemClock.now();
  for (const [i, frame] of frames.entries()) {
    const ticket = tickets[i] as number;
    const origin = origins[i] as Origin;
    const found = inspect(frame, origin, inspector, now);
    if (found.kind === "candidate") {
      candidates.tickets.push(ticket);
      candidates.texts.push(found.text);
      candidates.origins.push(origin);
      if (candidates.tickets.length >= HAND_OVER) {
        toWriter.postMessage({ kind: "candidates", ...candidates } satisfies Candidates);
        candidates = noCandidates();
      }
      continue;
    }
    answers.tickets.push(ticket);
    answers.ids.push(found.kind === "ok" ? found.id : "");
    answers.kinds.push(found.kind === "ok" ? found.eventKind : -1);
    answers.accepted.push(found.kind === "ok" && found.accepted);
    answers.messages.push(found.kind === "ok" ? found.message : found.text);
  }
  if (candidates.tickets.length > 0) toWriter.postMessage({ kind: "candidates", ...candidates } satisfies Candidates);
  if (answers.tickets.length > 0)
    main.postMessage({ kind: "answers", ...answers, changes: [], passing: [], evidence: [] } satisfies Answers);
}
