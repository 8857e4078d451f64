import type { UnixSeconds } from "../base/time.ts";
import type { EventId, NostrEvent, PublicKey } from "./event.ts";

/** A filter as NIP-01 defines it, read and checked. An absent condition is `undefined`; an empty list matches nothing. */
export interface Filter {
  readonly ids?: readonly EventId[] | undefined;
  readonly authors?: readonly PublicKey[] | undefined;
  readonly kinds?: readonly number[] | undefined;
  /** By single letter, without `#`. */
  readonly tags: ReadonlyMap<string, readonly string[]>;
  readonly since?: UnixSeconds | undefined;
  readonly until?: UnixSeconds | undefined;
  readonly limit?: number | undefined;
}

/** Ten plain lines that every clever reader (disk store, subscription index) is compared with. `limit` is not a condition. */
export function matches(filter: Filter, event: NostrEvent): boolean {
  if (filter.ids !== undefined && !filter.ids.includes(event.id)) return false;
  if (filter.authors !== undefined && !filter.authors.includes(event.pubkey)) return false;
  if (filter.kinds !== undefined && !filter.kinds.includes(event.kind)) return false;
  if (filter.since !== undefined && event.created_at < filter.since) return false;
  if (filter.until !== undefined && event.created_at > filter.until) return false;
  for (const [letter, values] of filter.tags) {
    if (!event.tags.some((tag) => tag[0] === letter && tag[1] !== undefined && values.includes(tag[1]))) return false;
  }
  return true;
}
