import { parseCoordinate } from "./coordinate.ts";
import { type EventId, isEventId, type NostrEvent } from "./event.ts";
import { DELETION, VANISH } from "./kinds.ts";
import type { Address } from "./replaceable.ts";

/** grasp.md 11.1: one request must not make a commit arbitrarily long. */
export const DELETION_TARGETS_MAX = 2_048;

export interface DeletionTargets {
  /** Whose they are is not known here: only those by the same author may go. */
  readonly ids: readonly EventId[];
  /** The author's own ones; all versions up to the request's time are meant. */
  readonly addresses: readonly Address[];
  /** All `e` and `a` tags, other people's and malformed ones too: this is what the limit is held against. */
  readonly count: number;
}

/** NIP-09: what a kind 5 names. */
export function deletionTargets(event: Pick<NostrEvent, "pubkey" | "tags">): DeletionTargets {
  const ids = new Set<EventId>();
  const addresses = new Map<string, Address>();
  let count = 0;
  for (const [name, value] of event.tags) {
    if (name !== "e" && name !== "a") continue;
    count += 1;
    if (value === undefined) continue;
    if (name === "e") {
      if (isEventId(value)) ids.add(value);
      continue;
    }
    const address = parseCoordinate(value);
    if (address?.pubkey === event.pubkey) addresses.set(value, address);
  }
  return { ids: [...ids], addresses: [...addresses.values()], count };
}

/** NIP-09 and NIP-62: a request to delete a deletion or a vanish has no effect. */
export const isDeletable = (kind: number): boolean => kind !== DELETION && kind !== VANISH;
