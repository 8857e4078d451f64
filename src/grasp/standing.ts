import type { PublicKey } from "../nostr/event.ts";
import type { Announcements, MaintainerPolicy } from "./maintainers.ts";
import { memberships } from "./membership.ts";

/** What a key's states are worth under an identifier: they count, they may count later, or they are refused (grasp.md 4.5). */
export type Standing = "confirmed" | "invited" | "stranger";

/** grasp.md 6.4: the best that this key is for any owner. */
export function standingOf(announcements: Announcements, key: PublicKey, policy: MaintainerPolicy): Standing {
  const membership = memberships(announcements, policy);
  let best: Standing = "stranger";
  for (const owner of ownersThatMayCount(announcements, key)) {
    const { confirmed, invited } = membership(owner);
    if (confirmed.has(key)) return "confirmed";
    if (invited.has(key)) best = "invited";
  }
  return best;
}

/** A lead is followed and a maintainer found only along lists: whoever is not led to the key by them need not be asked, however many share the name. */
function ownersThatMayCount(announcements: Announcements, key: PublicKey): ReadonlySet<PublicKey> {
  const listers = new Map<PublicKey, PublicKey[]>();
  for (const [author, { roles }] of announcements) {
    for (const listed of roles.listed) {
      const others = listers.get(listed);
      if (others === undefined) listers.set(listed, [author]);
      else others.push(author);
    }
  }
  const owners = new Set([key]);
  for (const owner of owners) for (const lister of listers.get(owner) ?? []) owners.add(lister);
  return owners;
}
