import type { Instant } from "../base/time.ts";
import type { VerifiedEvent } from "../nostr/event.ts";
import { formatReason, reason } from "../nostr/reason.ts";
import type { Rules } from "../policy/rules.ts";
import type { FeedChange, Writer } from "../store/event-store.ts";
import { admit } from "./admit.ts";
import type { Candidate } from "./candidate.ts";

/** What became of several events: lists side by side, cheaper to hand from thread to thread than objects in a list. */
export interface Admitted {
  readonly ids: readonly string[];
  readonly kinds: readonly number[];
  readonly accepted: readonly boolean[];
  readonly messages: readonly string[];
  /** What the commit changed, in order. */
  readonly changes: readonly FeedChange[];
  /** Texts of ephemeral events that are passed on. */
  readonly passing: readonly string[];
  /** Identifiers whose repositories are to be settled, each once. */
  readonly evidence: readonly string[];
}

/**
 * One commit for all of them: the disk is waited for once. When it fails, each is tried in a commit of its own, so that one event that cannot be stored
 * takes no other with it; what then still fails is answered `error:` and nothing of it is kept.
 */
export async function admitAll(
  writer: Writer,
  candidates: readonly Candidate[],
  rules: Rules,
  now: Instant,
  onFault: (error: unknown) => void,
): Promise<Admitted> {
  try {
    return await admitTogether(writer, candidates, rules, now);
  } catch (error) {
    onFault(error);
    if (candidates.length === 1) return failed(candidates[0] as Candidate);
  }
  const parts: Admitted[] = [];
  for (const candidate of candidates) {
    parts.push(
      await admitTogether(writer, [candidate], rules, now).catch((error: unknown) => {
        onFault(error);
        return failed(candidate);
      }),
    );
  }
  return {
    ids: parts.flatMap((part) => part.ids),
    kinds: parts.flatMap((part) => part.kinds),
    accepted: parts.flatMap((part) => part.accepted),
    messages: parts.flatMap((part) => part.messages),
    changes: parts.flatMap((part) => part.changes),
    passing: parts.flatMap((part) => part.passing),
    evidence: [...new Set(parts.flatMap((part) => part.evidence))],
  };
}

const NOT_STORED = formatReason(reason("error", "the event could not be stored; try again later"));

const failed = ({ event }: Candidate): Admitted => ({
  ids: [event.id],
  kinds: [event.kind],
  accepted: [false],
  messages: [NOT_STORED],
  changes: [],
  passing: [],
  evidence: [],
});

function admitTogether(writer: Writer, candidates: readonly Candidate[], rules: Rules, now: Instant): Promise<Admitted> {
  return writer.transact(async (tx) => {
    const done = {
      ids: [] as string[],
      kinds: [] as number[],
      accepted: [] as boolean[],
      messages: [] as string[],
      changes: [] as FeedChange[],
      passing: [] as string[],
    };
    const evidence = new Set<string>();
    for (const candidate of candidates) {
      const admission = await admit(tx, candidate, rules, now);
      done.ids.push(candidate.event.id);
      done.kinds.push(candidate.event.kind);
      done.accepted.push(admission.accepted);
      done.messages.push(admission.message);
      for (const change of admission.changes) done.changes.push(change);
      if (admission.passing) done.passing.push(candidate.text);
      for (const identifier of admission.evidence) evidence.add(identifier);
    }
    return { ...done, evidence: [...evidence] };
  });
}

/** A text that our own verifier made is a verified event. */
export const trusted = (text: string): VerifiedEvent => JSON.parse(text) as VerifiedEvent;
