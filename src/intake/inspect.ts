import { type Instant, toUnixSeconds } from "../base/time.ts";
import { parseClientMessage } from "../nostr/client-message.ts";
import { type EventId, eventText, isEventId, readEvent, type VerifiedEvent } from "../nostr/event.ts";
import { formatReason, REASONS, type Reason, reason } from "../nostr/reason.ts";
import { type SchnorrVerifier, verifyEvent } from "../nostr/verify.ts";
import type { Rules } from "../policy/rules.ts";
import { judgeShape } from "../policy/shape-policy.ts";
import type { Origin } from "./origin.ts";

/** What is said to whoever handed an event in. */
export type Answer =
  | { readonly kind: "ok"; readonly id: string; readonly eventKind: number; readonly accepted: boolean; readonly message: string }
  /** It was no event, so there is nothing to say OK about. */
  | { readonly kind: "notice"; readonly text: string };

export type Inspection = Answer | { readonly kind: "candidate"; readonly event: VerifiedEvent; readonly text: string };

export interface Inspector {
  readonly rules: Rules;
  readonly schnorr: SchnorrVerifier;
  /** Is this id served here? Then its signature need not be paid for again. */
  isKnown(id: EventId): boolean;
}

/** Reads an EVENT message and proves it: shape, size, what can be refused at a look, id known, id, signature. In the order of what they cost. */
export function inspect(frame: string, origin: Origin, inspector: Inspector, now: Instant): Inspection {
  const message = parseClientMessage(frame);
  if (message.kind !== "event") {
    return {
      kind: "notice",
      text: formatReason(reason("invalid", message.kind === "problem" ? message.text : "this is not an EVENT message")),
    };
  }
  const event = readEvent(message.event);
  if (typeof event === "string") return malformed(message.event, event);
  const text = eventText(event);
  const { rules } = inspector;
  if (text.length > rules.eventBytesMax || Buffer.byteLength(text) > rules.eventBytesMax) {
    return refused(event, reason("invalid", `the event is larger than ${rules.eventBytesMax} bytes`));
  }
  const presenter = { authenticated: origin.kind === "direct" ? origin.authenticated : [] };
  const objection = judgeShape(event, rules, presenter, toUnixSeconds(now));
  if (objection !== undefined) return refused(event, objection);
  if (inspector.isKnown(event.id))
    return { kind: "ok", id: event.id, eventKind: event.kind, accepted: true, message: formatReason(REASONS.alreadyHave) };
  const verified = verifyEvent(event, inspector.schnorr);
  if (typeof verified === "string") return refused(event, reason("invalid", verified));
  return { kind: "candidate", event: verified, text };
}

const refused = ({ id, kind }: { id: string; kind: number }, why: Reason): Answer => ({
  kind: "ok",
  id,
  eventKind: kind,
  accepted: false,
  message: formatReason(why),
});

/** NIP-01 wants an OK for every EVENT; one without a readable id can only be told so. */
function malformed(value: unknown, problem: string): Answer {
  const id = typeof value === "object" && value !== null ? (value as Record<string, unknown>)["id"] : undefined;
  if (typeof id === "string" && isEventId(id)) return refused({ id, kind: -1 }, reason("invalid", problem));
  return { kind: "notice", text: `invalid: ${problem}` };
}
