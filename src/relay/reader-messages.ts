import type { UnixSeconds } from "../base/time.ts";
import type { Filter } from "../nostr/filter.ts";

/** What the main thread asks of the thread that does long reads. A session is a reconciliation, by a number that is never used twice. */
export type ToReader =
  | { readonly kind: "count"; readonly ticket: number; readonly filters: readonly Filter[]; readonly now: UnixSeconds }
  | {
      readonly kind: "reconcile";
      readonly session: number;
      /** With the first message of a session. */
      readonly filter: Filter | undefined;
      readonly message: string;
      readonly now: UnixSeconds;
    }
  | { readonly kind: "end"; readonly session: number };

export type FromReader =
  | { readonly kind: "started" }
  | { readonly kind: "counted"; readonly ticket: number; readonly count: number; readonly hll: string | undefined }
  | { readonly kind: "failed"; readonly ticket: number }
  | { readonly kind: "reconciled"; readonly session: number; readonly outcome: Reconciled }
  /** Others needed the memory of a session that nobody had used for longest. */
  | { readonly kind: "evicted"; readonly session: number };

export type Reconciled =
  | { readonly kind: "reply"; readonly message: string }
  | { readonly kind: "too-many"; readonly max: number }
  | { readonly kind: "malformed"; readonly text: string }
  | { readonly kind: "busy" }
  | { readonly kind: "evicted" }
  | { readonly kind: "failed" };
