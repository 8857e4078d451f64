/** What can be wrong with a peer's message. */
export type Flaw =
  | "not-hex"
  /** Not even a version byte. */
  | "empty"
  /** The peer speaks no version that we speak (seen by the asking side only). */
  | "version"
  /** A number, prefix, fingerprint or list reaches beyond the end. */
  | "truncated"
  | "number-too-large"
  /** A number with leading zero digits: NIP-77 wants as few digits as possible. */
  | "number-padded"
  | "prefix-too-long"
  | "unknown-mode"
  /** A range ends before it begins. */
  | "descending"
  | "after-infinity"
  /** The exchange took more rounds, or left more open ranges, than any honest one. */
  | "runaway";

export interface NegProblem {
  readonly kind: "problem";
  readonly flaw: Flaw;
}

export const problem = (flaw: Flaw): NegProblem => ({ kind: "problem", flaw });
