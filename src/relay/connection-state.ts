import type { Bucket, Rate } from "../base/rate.ts";
import type { Instant } from "../base/time.ts";
import type { NostrEvent, PublicKey } from "../nostr/event.ts";
import type { Filter } from "../nostr/filter.ts";
import type { Reason } from "../nostr/reason.ts";
import type { RelayUrl } from "../nostr/relay-url.ts";
import type { RelayLimits } from "./limits.ts";

/**
 * One client's connection: what it may do, what it has open, what it is told. A machine without hands: its driver owns the socket, reads the store and
 * carries the effects out. Events that subscribers are sent do not pass through here; only what opens and closes their flow does.
 */
export interface Connection {
  /** By subscription id. An epoch tells the answers for a replaced subscription from those for its successor. */
  readonly subscriptions: ReadonlyMap<string, { readonly epoch: number; readonly bytes: number }>;
  readonly subscriptionBytes: number;
  readonly reconciliations: ReadonlyMap<string, number>;
  readonly nextEpoch: number;
  readonly challenge: string;
  readonly challenged: boolean;
  readonly authenticated: readonly PublicKey[];
  readonly rates: Readonly<Record<RateName, Bucket>>;
  readonly unanswered: number;
  /** Not read from until then, because it said too much; or while too many of its events are under way. */
  readonly restsUntil: Instant | undefined;
  readonly paused: boolean;
  readonly heardAt: Instant;
  readonly pingedAt: Instant | undefined;
}

export type RateName = "events" | "queries" | "messages" | "auths";

/** What every connection of a relay has in common. */
export interface Terms {
  readonly limits: RelayLimits;
  readonly rates: Readonly<Record<RateName, Rate | undefined>>;
  readonly relayUrls: readonly RelayUrl[];
}

export type Input =
  | { readonly kind: "frame"; readonly text: string }
  /** A message of an address whose connections together said too much (grasp.md 3.3). */
  | { readonly kind: "crowding-frame"; readonly text: string }
  | { readonly kind: "binary" }
  /** The answer to an event that was submitted. */
  | { readonly kind: "answered"; readonly text: string }
  | { readonly kind: "proved"; readonly event: NostrEvent; readonly problem: string | undefined }
  /** We ended it: it cost too much, or the client does not read. */
  | { readonly kind: "ended"; readonly sub: string; readonly epoch: number; readonly reason: Reason }
  | { readonly kind: "reconciled"; readonly sub: string; readonly epoch: number; readonly text: string; readonly over: boolean }
  | { readonly kind: "heard"; readonly at: Instant }
  | { readonly kind: "wake" };

export type Effect =
  | { readonly kind: "say"; readonly text: string }
  | { readonly kind: "submit"; readonly frame: string }
  | { readonly kind: "prove"; readonly event: NostrEvent }
  | { readonly kind: "query"; readonly sub: string; readonly epoch: number; readonly filters: readonly Filter[] }
  | { readonly kind: "count"; readonly sub: string; readonly filters: readonly Filter[] }
  | { readonly kind: "forget"; readonly sub: string }
  | {
      readonly kind: "reconcile";
      readonly sub: string;
      readonly epoch: number;
      readonly filter: Filter | undefined;
      readonly message: string;
    }
  | { readonly kind: "reconcile-end"; readonly sub: string; readonly epoch: number }
  | { readonly kind: "pause" }
  | { readonly kind: "resume" }
  | { readonly kind: "ping" }
  | { readonly kind: "hang-up"; readonly code: number; readonly why: string };

export interface Step {
  readonly state: Connection;
  readonly effects: readonly Effect[];
}
