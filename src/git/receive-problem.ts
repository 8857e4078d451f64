import { unreachable } from "../base/machine.ts";

/** Why a push's command list is not one (grasp.md 7.4). Nothing of such a push reaches git. */
export type ReceiveProblem =
  | {
      readonly kind:
        | "malformed-line"
        | "cut-short"
        | "no-commands"
        | "push-cert"
        | "push-options"
        | "unknown-line"
        | "object-format"
        | "mixed-formats"
        | "late-capabilities"
        | "too-many-commands"
        | "too-many-shallow"
        | "too-many-bytes";
    }
  | { readonly kind: "object-id" | "ref-name" | "ref-outside" | "duplicate-ref"; readonly text: string };

/** One sentence for the person who pushed; what it quotes is theirs and is cleaned where it is sent. */
export function receiveProblemText(problem: ReceiveProblem): string {
  switch (problem.kind) {
    case "malformed-line":
      return "the command list is not made of pkt-lines";
    case "cut-short":
      return "the command list ends before its flush";
    case "no-commands":
      return "the push has no commands";
    case "push-cert":
      return "signed pushes are not taken; a signed state event authorises a push";
    case "push-options":
      return "push options are not taken";
    case "unknown-line":
      return "the command list has a line that is neither a command nor a shallow line";
    case "object-format":
      return "the object format is not known";
    case "mixed-formats":
      return "the push mixes object formats";
    case "late-capabilities":
      return "capabilities stand on the first command only";
    case "too-many-commands":
      return "the push has too many commands; push fewer refs at a time";
    case "too-many-shallow":
      return "the push has too many shallow lines; fetch more of the history first";
    case "too-many-bytes":
      return "the command list is too long; push fewer refs at a time";
    case "object-id":
      return `not an object id: ${problem.text}`;
    case "ref-name":
      return `not a ref name that git takes: ${problem.text}`;
    case "ref-outside":
      return `only refs/heads/, refs/tags/ and refs/nostr/<event id> can be pushed, not ${problem.text}`;
    case "duplicate-ref":
      return `the push names a ref twice: ${problem.text}`;
    default:
      return unreachable(problem);
  }
}
