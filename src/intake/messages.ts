import type { Batch } from "../store/batch.ts";
import type { FeedChange } from "../store/event-store.ts";
import type { Admitted } from "./admit-all.ts";
import type { Origin } from "./origin.ts";

/** What threads of the intake say to each other. Lists side by side instead of objects in a list: cheaper to hand from thread to thread. */

/** A ticket is a number by which the main thread knows whom to answer. */
export interface FramesToInspect {
  readonly kind: "inspect";
  readonly tickets: readonly number[];
  readonly frames: readonly string[];
  readonly origins: readonly Origin[];
}

/** An event whose signature shall be checked and nothing else (NIP-42, NIP-98). */
export interface EventToProve {
  readonly kind: "prove";
  readonly ticket: number;
  readonly event: unknown;
}

export interface ProvedEvent {
  readonly kind: "proved";
  readonly ticket: number;
  /** A sentence; absent: it is what it says. */
  readonly problem: string | undefined;
}

/** Verified events on their way to the writer. */
export interface Candidates {
  readonly kind: "candidates";
  readonly tickets: readonly number[];
  readonly texts: readonly string[];
  readonly origins: readonly Origin[];
}

/** What became of each: one entry per ticket in every list. A notice has an empty id and the kind -1. */
export interface Answers extends Admitted {
  readonly kind: "answers";
  readonly tickets: readonly number[];
}

/** Changes that somebody else decided on, for the one writer. */
export interface BatchToApply {
  readonly kind: "apply";
  readonly ticket: number;
  readonly batch: Batch;
}

export interface AppliedBatch {
  readonly kind: "applied";
  readonly ticket: number;
  readonly changes: readonly FeedChange[];
  /** Why nothing of it happened; absent: it is durable. */
  readonly problem: string | undefined;
}

export interface Started {
  readonly kind: "started";
  /** Of a verifier: which implementation of BIP-340 it uses. */
  readonly detail: string;
}
