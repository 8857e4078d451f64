import type { UnixSeconds } from "../base/time.ts";
import type { EventId, NostrEvent, PublicKey } from "./event.ts";

/** How NIP-01 wants a kind kept. */
export type Retention = "regular" | "replaceable" | "ephemeral" | "addressable";

export function retentionOf(kind: number): Retention {
  if (kind === 0 || kind === 3 || (kind >= 10_000 && kind < 20_000)) return "replaceable";
  if (kind >= 20_000 && kind < 30_000) return "ephemeral";
  if (kind >= 30_000 && kind < 40_000) return "addressable";
  return "regular";
}

/** What at most one served event may have: the place that versions of it compete for. `d` is empty for replaceable kinds. */
export interface Address {
  readonly kind: number;
  readonly pubkey: PublicKey;
  readonly d: string;
}

/** The address an event competes for, or `undefined` when nothing replaces it. A missing `d` counts as an empty one. */
export function addressOf(event: NostrEvent): Address | undefined {
  const retention = retentionOf(event.kind);
  if (retention === "replaceable") return { kind: event.kind, pubkey: event.pubkey, d: "" };
  if (retention !== "addressable") return undefined;
  const d = event.tags.find((tag) => tag[0] === "d")?.[1] ?? "";
  return { kind: event.kind, pubkey: event.pubkey, d };
}

export interface Version {
  readonly id: EventId;
  readonly created_at: UnixSeconds;
}

/** grasp.md 3.2: the newer wins, ties go to the lower id, everywhere. */
export function wins(challenger: Version, incumbent: Version): boolean {
  if (challenger.created_at !== incumbent.created_at) return challenger.created_at > incumbent.created_at;
  return challenger.id < incumbent.id;
}
