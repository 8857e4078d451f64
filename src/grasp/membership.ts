import type { PublicKey } from "../nostr/event.ts";
import { type Announcements, type MaintainerPolicy, type MaintainerSet, maintainersOf } from "./maintainers.ts";
import { rootOf } from "./root.ts";

/** Who counts for an owner, without why. */
export type Membership = Pick<MaintainerSet, "confirmed" | "invited">;

/** The same sets as `maintainersOf`, for whoever asks about many owners: what grows from one key is grown once. */
export function memberships(announcements: Announcements, policy: MaintainerPolicy): (owner: PublicKey) => Membership {
  const known = new Map<PublicKey, Membership>();
  return (owner) => {
    const start = startOf(announcements, owner, policy);
    if (start === undefined) return maintainersOf(announcements, owner, policy);
    const found = known.get(start) ?? maintainersOf(announcements, owner, policy);
    if (!known.has(start)) for (const mate of matesOf(announcements, start)) known.set(mate, found);
    return found;
  };
}

/** The key that an owner's set grows from, when it is one that is in it. */
function startOf(announcements: Announcements, owner: PublicKey, policy: MaintainerPolicy): PublicKey | undefined {
  if (policy === "reciprocal") return rootOf(announcements, owner).root;
  return policy === "recursive" && announcements.get(owner)?.roles.authorActive === true ? owner : undefined;
}

/**
 * Keys that list each other, directly or over others who do: each confirms the next, both ways, so the same set grows from every one of them. Without this
 * a project of three thousand maintainers would be grown three thousand times.
 */
function matesOf(announcements: Announcements, start: PublicKey): ReadonlySet<PublicKey> {
  const mates = new Set([start]);
  for (const key of mates) {
    for (const other of announcements.get(key)?.roles.listed ?? []) {
      const roles = announcements.get(other)?.roles;
      if (roles?.authorActive === true && roles.listed.has(key)) mates.add(other);
    }
  }
  return mates;
}
