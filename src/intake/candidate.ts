import type { VerifiedEvent } from "../nostr/event.ts";
import type { Origin } from "./origin.ts";

/** An event that was verified and waits for its decision. */
export interface Candidate {
  readonly event: VerifiedEvent;
  /** As it will be stored and sent. */
  readonly text: string;
  readonly origin: Origin;
}
