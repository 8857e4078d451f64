import type { PublicKey } from "../nostr/event.ts";
import type { Identifier } from "./identifier.ts";
import type { Announcements, MaintainerPolicy, MaintainerSet } from "./maintainers.ts";
import { type Membership, memberships } from "./membership.ts";

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
  const membership = memberships(announcements, policy);
  const keys = new Map<Membership, string>();
  const groups = new Map<string, { confirmed: ReadonlySet<PublicKey>; identifier: Identifier; owners: PublicKey[] }>();
  for (const [owner, { identifier }] of announcements) {
    const found = membership(owner);
    const key = keys.get(found) ?? projectKey(owner, found.confirmed);
    keys.set(found, key);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { confirmed: found.confirmed, identifier, owners: [owner] });
    else group.owners.push(owner);
  }
  return [...groups.values()].map(({ confirmed, identifier, owners }) => ({
    identifier,
    confirmed,
    members: owners.filter((owner) => confirmed.has(owner)).sort(),
    followers: owners.filter((owner) => !confirmed.has(owner)).sort(),
  }));
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
