import type { Reason } from "../nostr/reason.ts";

/** What waits for git data, and what is known of it for good when it begins to wait. */
export type Holding =
  | { readonly what: "announcement" }
  /** Invited: its author is listed and not confirmed, so it waits longer and authorises nothing (grasp.md 4.5). */
  | { readonly what: "state"; readonly invited: boolean }
  /** Coordinates of the repositories here that it is for. */
  | { readonly what: "pull-request"; readonly repositories: readonly string[] };

/** What becomes of an event. */
export type Verdict =
  /** Serve it: stored, or, for an ephemeral kind, only passed on. `delists`: with it its owner moves a repository away from here (grasp.md 5.4). */
  | { readonly kind: "accept"; readonly delists: boolean }
  /** Keep it, and serve it when its git data is here (grasp.md 6.1). */
  | { readonly kind: "hold"; readonly holding: Holding }
  /** We have it, or something that beats it: a polite yes without effect. */
  | { readonly kind: "duplicate"; readonly reason: Reason }
  | { readonly kind: "reject"; readonly reason: Reason };

export const ACCEPT: Verdict = { kind: "accept", delists: false };
export const DELIST: Verdict = { kind: "accept", delists: true };
export const hold = (holding: Holding): Verdict => ({ kind: "hold", holding });
export const reject = (reason: Reason): Verdict => ({ kind: "reject", reason });
export const duplicate = (reason: Reason): Verdict => ({ kind: "duplicate", reason });
