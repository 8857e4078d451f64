import type { ClientMessageLabel, RelayMessageLabel } from "../../ops/metric-names.ts";

/** The verb of a message of ours, by its first letters. */
export function labelOf(text: string): RelayMessageLabel {
  switch (text.slice(2, 4)) {
    case "OK":
      return "OK";
    case "NO":
      return "NOTICE";
    case "CL":
      return "CLOSED";
    case "CO":
      return "COUNT";
    case "AU":
      return "AUTH";
    case "NE":
      return text.startsWith('["NEG-MSG') ? "NEG-MSG" : "NEG-ERR";
    default:
      return "EOSE";
  }
}

const VERBS: ReadonlySet<string> = new Set<ClientMessageLabel>([
  "EVENT",
  "REQ",
  "CLOSE",
  "COUNT",
  "AUTH",
  "NEG-OPEN",
  "NEG-MSG",
  "NEG-CLOSE",
]);

/** The verb a client's message seems to begin with. */
export function verbOf(text: string): ClientMessageLabel {
  const verb = text.slice(2, text.indexOf('"', 2));
  return VERBS.has(verb) ? (verb as ClientMessageLabel) : "invalid";
}
