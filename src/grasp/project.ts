import type { PublicKey } from "../nostr/event.ts";
import type { Identifier } from "./identifier.ts";
import { type Announcements, type MaintainerPolicy, type MaintainerSet, maintainersOf } from "./maintainers.ts";
import { rootOf } from "./root.ts";

/** An identifier and one confirmed maintainer set: what is settled, hunted and counted together (grasp.md §1). */
export interface Project {
  readonly identifier: Identifier;
  readonly confirmed: ReadonlySet<PublicKey>;
  /** Owners of its repositories who belong to the set, in the order of their keys: these may share a pool (7.13). */
  readonly members: readonly PublicKey[];
  /** Owners who handed their repository to this set and are not in it: it decides about theirs too, but they share nothing. */
  readonly followers: readonly PublicKey[];
}

/** The projects of one identifier. Where nobody is confirmed, nothing is shared: each such repository stands for itself. */
export function projectsOf(announcements: Announcements, policy: MaintainerPolicy): readonly Project[] {
  const groups = new Map<string, { confirmed: ReadonlySet<PublicKey>; identifier: Identifier; owners: PublicKey[] }>();
  const known = new Map<PublicKey, { confirmed: ReadonlySet<PublicKey>; key: string }>();
  for (const [owner, { identifier }] of announcements) {
    const start = startOf(announcements, owner, policy);
    let found = start === undefined ? undefined : known.get(start);
    if (found === undefined) {
      const { confirmed } = maintainersOf(announcements, owner, policy);
      found = { confirmed, key: projectKey(owner, confirmed) };
      if (start !== undefined) for (const mate of matesOf(announcements, start)) known.set(mate, found);
    }
    const group = groups.get(found.key);
    if (group === undefined) groups.set(found.key, { confirmed: found.confirmed, identifier, owners: [owner] });
    else group.owners.push(owner);
  }
  return [...groups.values()].map(({ confirmed, identifier, owners }) => ({
    identifier,
    confirmed,
    members: owners.filter((owner) => confirmed.has(owner)).sort(),
    followers: owners.filter((owner) => !confirmed.has(owner)).sort(),
  }));
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

/** Two repositories of one identifier are of one project when these are equal. */
export const projectKey = (owner: PublicKey, confirmed: ReadonlySet<PublicKey>): string =>
  confirmed.size === 0 ? `${owner} alone` : [...confirmed].sort().join(" ");

interface View {
  readonly owner: PublicKey;
  readonly identifier: string;
  readonly maintainers: Pick<MaintainerSet, "confirmed">;
}

/** grasp.md 7.13: only when their confirmed sets are equal and hold both owners. A stranger who takes your identifier never joins yours. */
export function mayShareObjects(a: View, b: View): boolean {
  const [one, other] = [a.maintainers.confirmed, b.maintainers.confirmed];
  const isEqual = one.size === other.size && [...one].every((key) => other.has(key));
  return a.identifier === b.identifier && isEqual && one.has(a.owner) && one.has(b.owner);
}
