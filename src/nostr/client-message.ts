/** What a client says (NIP-01, 42, 45, 77). Events and filters are raw values here, so that the door can count them before it reads them. */
export type ClientMessage =
  | { readonly kind: "event"; readonly event: unknown }
  | { readonly kind: "req"; readonly sub: string; readonly filters: readonly unknown[] }
  | { readonly kind: "count"; readonly sub: string; readonly filters: readonly unknown[] }
  | { readonly kind: "close"; readonly sub: string }
  | { readonly kind: "auth"; readonly event: unknown }
  | { readonly kind: "neg-open"; readonly sub: string; readonly filter: unknown; readonly message: string }
  | { readonly kind: "neg-msg"; readonly sub: string; readonly message: string }
  | { readonly kind: "neg-close"; readonly sub: string };

export type ClientVerb = "EVENT" | "REQ" | "COUNT" | "CLOSE" | "AUTH" | "NEG-OPEN" | "NEG-MSG" | "NEG-CLOSE";

/** A message that is not one. With `verb` and `sub` the door can answer it where the client waits for an answer (CLOSED, NEG-ERR) instead of by NOTICE. */
export interface MessageProblem {
  readonly kind: "problem";
  readonly text: string;
  readonly verb?: ClientVerb | undefined;
  readonly sub?: string | undefined;
}

/** grasp.md 3.4: peers give up on words in a NOTICE, so these sentences are fixed, name no verb of NIP-77 and repeat nothing that the client wrote. */
export const PROBLEM_TEXTS = {
  notJson: "could not read the message: it is not JSON",
  notList: "could not read the message: it is not a JSON list",
  noVerb: "could not read the message: it does not begin with a verb",
  unknownVerb: "this relay does not know that verb",
  noEvent: "an event is missing after the verb",
  noSub: "the subscription id must be a string that is not empty",
  noFilter: "a filter is missing after the subscription id",
  noReconciliation: "the last element must be a string of hex digits",
} as const;

type Items = readonly unknown[];

/** Any text gives a message or a problem; nothing throws. */
export function parseClientMessage(text: string): ClientMessage | MessageProblem {
  let items: unknown;
  try {
    items = JSON.parse(text);
  } catch {
    return { kind: "problem", text: PROBLEM_TEXTS.notJson };
  }
  if (!Array.isArray(items)) return { kind: "problem", text: PROBLEM_TEXTS.notList };
  return readItems(items);
}

function readItems(items: Items): ClientMessage | MessageProblem {
  const verb = items[0];
  switch (verb) {
    case "EVENT":
      return items.length < 2 ? problem(PROBLEM_TEXTS.noEvent, verb) : { kind: "event", event: items[1] };
    case "AUTH":
      return items.length < 2 ? problem(PROBLEM_TEXTS.noEvent, verb) : { kind: "auth", event: items[1] };
    case "REQ":
    case "COUNT":
    case "CLOSE":
    case "NEG-OPEN":
    case "NEG-MSG":
    case "NEG-CLOSE": {
      const sub = items[1];
      return typeof sub === "string" && sub !== "" ? readAbout(verb, sub, items) : problem(PROBLEM_TEXTS.noSub, verb);
    }
    default:
      return { kind: "problem", text: typeof verb === "string" ? PROBLEM_TEXTS.unknownVerb : PROBLEM_TEXTS.noVerb };
  }
}

function readAbout(verb: Exclude<ClientVerb, "EVENT" | "AUTH">, sub: string, items: Items): ClientMessage | MessageProblem {
  switch (verb) {
    case "REQ":
      return items.length < 3 ? problem(PROBLEM_TEXTS.noFilter, verb, sub) : { kind: "req", sub, filters: items.slice(2) };
    case "COUNT":
      return items.length < 3 ? problem(PROBLEM_TEXTS.noFilter, verb, sub) : { kind: "count", sub, filters: items.slice(2) };
    case "CLOSE":
      return { kind: "close", sub };
    case "NEG-OPEN":
      if (items.length < 3) return problem(PROBLEM_TEXTS.noFilter, verb, sub);
      return isHex(items[3])
        ? { kind: "neg-open", sub, filter: items[2], message: items[3] }
        : problem(PROBLEM_TEXTS.noReconciliation, verb, sub);
    case "NEG-MSG":
      return isHex(items[2]) ? { kind: "neg-msg", sub, message: items[2] } : problem(PROBLEM_TEXTS.noReconciliation, verb, sub);
    case "NEG-CLOSE":
      return { kind: "neg-close", sub };
  }
}

/** Searched for rather than matched against, because a pattern that repeats keeps a state for each of millions of digits. */
const NOT_HEX = /[^0-9a-fA-F]/;
const isHex = (value: unknown): value is string =>
  typeof value === "string" && value !== "" && value.length % 2 === 0 && !NOT_HEX.test(value);

const problem = (text: string, verb: ClientVerb, sub?: string): MessageProblem => ({ kind: "problem", text, verb, sub });
