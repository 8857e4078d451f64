import type { PublicKey } from "../nostr/event.ts";
import type { Announcement } from "./announcement.ts";

/** The way from an owner to the key that leads (grasp.md 4.4). */
export interface RootPath {
  /** `undefined`: the way leads nowhere, and nobody may change the owner's repository. */
  readonly root: PublicKey | undefined;
  /** The authors whose announcements were followed, the owner first and the root last. */
  readonly keys: readonly PublicKey[];
}

/** Each step is somebody who handed the lead on and is still read by people; a longer way is made to be walked in vain by us. */
export const LEAD_STEPS_MAX = 100;

/** grasp.md 4.4: start at the owner; one active `M` of another key is followed, a self-`M` ends, no active `M` ends only at the start. */
export function rootOf(announcements: ReadonlyMap<PublicKey, Announcement>, owner: PublicKey): RootPath {
  const keys = new Set<PublicKey>();
  for (let at = owner; keys.size <= LEAD_STEPS_MAX; ) {
    const roles = announcements.get(at)?.roles;
    if (roles === undefined) break;
    keys.add(at);
    const [lead, second] = roles.leads;
    if (second !== undefined) break;
    if (lead === undefined) {
      // An owner who has left (4.3) leads nobody, and one who was followed must say of itself that it leads.
      return { root: at === owner && roles.authorActive ? at : undefined, keys: [...keys] };
    }
    if (lead === at) return { root: at, keys: [...keys] };
    if (keys.has(lead)) break;
    at = lead;
  }
  return { root: undefined, keys: [...keys] };
}
