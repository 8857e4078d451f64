import type { NostrEvent } from "./event.ts";
import { VANISH } from "./kinds.ts";
import { tagValues } from "./tags.ts";

/** NIP-62: in upper case, and then every relay is meant. */
const ALL_RELAYS = "ALL_RELAYS";

/** Does its author ask this relay, by name or with all others, to forget the key? */
export function asksToVanish(event: Pick<NostrEvent, "kind" | "tags">, isOurs: (relay: string) => boolean): boolean {
  return event.kind === VANISH && tagValues(event, "relay").some((relay) => relay === ALL_RELAYS || isOurs(relay));
}
