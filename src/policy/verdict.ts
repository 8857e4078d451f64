import type { Reason } from "../nostr/reason.ts";

/** What becomes of an event. */
export type Verdict =
  /** Serve it: stored, or, for an ephemeral kind, only passed on. */
  | { readonly kind: "accept" }
  /** We have it, or something that beats it: a polite yes without effect. */
  | { readonly kind: "duplicate"; readonly reason: Reason }
  | { readonly kind: "reject"; readonly reason: Reason };

export const ACCEPT: Verdict = { kind: "accept" };
export const reject = (reason: Reason): Verdict => ({ kind: "reject", reason });
export const duplicate = (reason: Reason): Verdict => ({ kind: "duplicate", reason });
