import type { Instant, UnixSeconds } from "../base/time.ts";
import type { EventId, PublicKey, VerifiedEvent } from "../nostr/event.ts";
import type { Address } from "../nostr/replaceable.ts";
import type { Provenance } from "./provenance.ts";

/** What a gate refuses, for as long as the request that made it is remembered (grasp.md 11.1, 11.2). */
export type GateTarget =
  | { readonly kind: "event"; readonly id: EventId }
  | { readonly kind: "address"; readonly address: Address; readonly until: UnixSeconds }
  | { readonly kind: "key"; readonly until: UnixSeconds };

/** One thing a commit does. A batch is a list of these and takes effect whole or not at all. */
export type Change =
  /** Serve this event from now on. `text` is what subscribers are sent. What holds its address is removed before it, in the same batch. */
  | {
      readonly kind: "put";
      readonly event: VerifiedEvent;
      readonly text: string;
      readonly expiresAt: UnixSeconds | undefined;
      readonly provenance: Provenance;
    }
  /** Stop serving this event and drop it: replaced, deleted or expired. Removing what is not there does nothing. */
  | { readonly kind: "remove"; readonly id: EventId }
  /** Remember a deletion or vanish request: its targets by this author are refused from now on. One that is remembered already stays as it was. */
  | {
      readonly kind: "gate";
      readonly request: EventId;
      readonly author: PublicKey;
      readonly targets: readonly GateTarget[];
      readonly seenAt: Instant;
      /** It removed something when it came, so it is kept longer. */
      readonly used: boolean;
    }
  /** This remembered request refused something. Written at most once a day per request. */
  | { readonly kind: "gate-used"; readonly request: EventId; readonly at: Instant }
  /** Forget a request and with it its targets. The request itself is not removed by this. */
  | { readonly kind: "gate-forget"; readonly request: EventId };

export type Batch = readonly Change[];
