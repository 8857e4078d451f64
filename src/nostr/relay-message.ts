import { formatReason, type Reason } from "./reason.ts";

/** A reason, or words that are ready (an empty text, or one with the prefix already in it). */
export type Words = Reason | string;

const say = (words: Words): string => JSON.stringify(typeof words === "string" ? words : formatReason(words));

/** The id is quoted with care: a malformed event's id is whatever the client wrote. */
export const okText = (id: string, accepted: boolean, message: Words): string =>
  message === "" ? `["OK",${JSON.stringify(id)},${accepted},""]` : `["OK",${JSON.stringify(id)},${accepted},${say(message)}]`;

/** The hot one: both parts are JSON already, the event exactly as it is stored. */
export const eventMessage = (subJson: string, eventText: string): string => `["EVENT",${subJson},${eventText}]`;

/** NIP-67: `finish` when every stored match was sent, `more` when some were not. */
export type EoseHint = "finish" | "more";

export const eoseText = (sub: string, hint?: EoseHint): string =>
  hint === undefined ? `["EOSE",${JSON.stringify(sub)}]` : `["EOSE",${JSON.stringify(sub)},["${hint}"]]`;

export const closedText = (sub: string, why: Words): string => `["CLOSED",${JSON.stringify(sub)},${say(why)}]`;

export const noticeText = (text: string): string => `["NOTICE",${JSON.stringify(text)}]`;

export interface CountDetails {
  readonly approximate?: boolean | undefined;
  /** 512 hex digits, see `hyperloglog.ts`. */
  readonly hll?: string | undefined;
}

export function countText(sub: string, count: number, details?: CountDetails): string {
  const approximate = details?.approximate === undefined ? "" : `,"approximate":${details.approximate}`;
  const hll = details?.hll === undefined ? "" : `,"hll":${JSON.stringify(details.hll)}`;
  return `["COUNT",${JSON.stringify(sub)},{"count":${count}${approximate}${hll}}]`;
}

export const authText = (challenge: string): string => `["AUTH",${JSON.stringify(challenge)}]`;

export const negMsgText = (sub: string, hex: string): string => `["NEG-MSG",${JSON.stringify(sub)},"${hex}"]`;

/** `max`: how many records we would have taken (NIP-77's fourth element). */
export const negErrText = (sub: string, why: Words, max?: number): string =>
  max === undefined ? `["NEG-ERR",${JSON.stringify(sub)},${say(why)}]` : `["NEG-ERR",${JSON.stringify(sub)},${say(why)},${max}]`;

/** What a relay says, as our own clients hear it. Events are raw values: a relay's word is no proof. */
export type RelayMessage =
  | { readonly kind: "event"; readonly sub: string; readonly event: unknown }
  | { readonly kind: "ok"; readonly id: string; readonly accepted: boolean; readonly message: string }
  | { readonly kind: "eose"; readonly sub: string; readonly hints: readonly string[] }
  | { readonly kind: "closed"; readonly sub: string; readonly message: string }
  | { readonly kind: "notice"; readonly text: string }
  | {
      readonly kind: "count";
      readonly sub: string;
      readonly count: number;
      readonly approximate: boolean;
      readonly hll: string | undefined;
    }
  | { readonly kind: "auth"; readonly challenge: string }
  | { readonly kind: "neg-msg"; readonly sub: string; readonly message: string }
  | { readonly kind: "neg-err"; readonly sub: string; readonly reason: string; readonly max: number | undefined };

/** `undefined` for anything that no relay should say; nothing throws. A missing last text is heard as an empty one, since relays forget it. */
export function parseRelayMessage(text: string): RelayMessage | undefined {
  let items: unknown;
  try {
    items = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!Array.isArray(items)) return undefined;
  const [verb, first, second, third] = items as readonly unknown[];
  if (typeof verb !== "string" || typeof first !== "string") return undefined;
  const words = (value: unknown): string => (typeof value === "string" ? value : "");
  switch (verb) {
    case "EVENT":
      return items.length < 3 ? undefined : { kind: "event", sub: first, event: second };
    case "OK":
      return typeof second === "boolean" ? { kind: "ok", id: first, accepted: second, message: words(third) } : undefined;
    case "EOSE":
      return { kind: "eose", sub: first, hints: Array.isArray(second) ? second.filter((hint) => typeof hint === "string") : [] };
    case "CLOSED":
      return { kind: "closed", sub: first, message: words(second) };
    case "NOTICE":
      return { kind: "notice", text: first };
    case "COUNT":
      return readCount(first, second);
    case "AUTH":
      return { kind: "auth", challenge: first };
    case "NEG-MSG":
      return typeof second === "string" ? { kind: "neg-msg", sub: first, message: second } : undefined;
    case "NEG-ERR":
      return { kind: "neg-err", sub: first, reason: words(second), max: typeof third === "number" ? third : undefined };
    default:
      return undefined;
  }
}

function readCount(sub: string, answer: unknown): RelayMessage | undefined {
  if (typeof answer !== "object" || answer === null) return undefined;
  const { count, approximate, hll } = answer as Record<string, unknown>;
  if (typeof count !== "number" || !Number.isSafeInteger(count) || count < 0) return undefined;
  return { kind: "count", sub, count, approximate: approximate === true, hll: typeof hll === "string" ? hll : undefined };
}
