import { type UnixSeconds, unixSeconds } from "../base/time.ts";
import type { NostrEvent } from "./event.ts";

const SECONDS = /^(?:0|[1-9][0-9]{0,15})$/;

/** NIP-40: when the event ends. A tag that holds no time is as good as none, so the first that does counts. */
export function expirationOf(event: Pick<NostrEvent, "tags">): UnixSeconds | undefined {
  for (const tag of event.tags) {
    if (tag[0] !== "expiration" || tag[1] === undefined || !SECONDS.test(tag[1])) continue;
    const seconds = Number(tag[1]);
    if (Number.isSafeInteger(seconds)) return unixSeconds(seconds);
  }
  return undefined;
}

/** From the second it names on, it is over. */
export function isExpired(event: Pick<NostrEvent, "tags">, now: UnixSeconds): boolean {
  const end = expirationOf(event);
  return end !== undefined && end <= now;
}
