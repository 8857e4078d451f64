import type { PublicKey } from "../nostr/event.ts";
import type { Provenance } from "../store/provenance.ts";

/** How an event came to our door: from a client over its connection, or through our own sync. Never a made-up client. */
export type Origin =
  | { readonly kind: "direct"; readonly authenticated: readonly PublicKey[] }
  | { readonly kind: "synced"; readonly relay: string; readonly how: "live" | "catch-up" | "daily" };

export const ANONYMOUS: Origin = { kind: "direct", authenticated: [] };

/** What is kept of it with the event. */
export const provenanceOf = (origin: Origin): Provenance =>
  origin.kind === "direct" ? { how: "direct" } : { how: origin.how, relay: origin.relay };
