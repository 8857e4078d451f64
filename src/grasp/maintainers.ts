import { invariant } from "../base/assert.ts";
import type { PublicKey } from "../nostr/event.ts";
import { wins } from "../nostr/replaceable.ts";
import type { Announcement } from "./announcement.ts";
import { rootOf } from "./root.ts";

/** grasp.md 4.1: one switch. */
export type MaintainerPolicy = "reciprocal" | "recursive" | "owner-only";

/** The keys that count for one owner's repository. */
export interface MaintainerSet {
  /** Their states decide what the repository shall be. */
  readonly confirmed: ReadonlySet<PublicKey>;
  /** Listed and not confirmed: they authorise nothing, but may become confirmed (grasp.md 4.5). */
  readonly invited: ReadonlySet<PublicKey>;
  /** The authors of the announcements that a confirmed key's confirmation rests on (grasp.md 4.7). */
  restsOn(key: PublicKey): ReadonlySet<PublicKey>;
}

/** The announcement that counts of each author. */
export type Announcements = ReadonlyMap<PublicKey, Announcement>;

/** grasp.md 4.7: the newest by each author counts, ties go to the lower id; served and waiting ones alike. */
export function newestByAuthor(announcements: Iterable<Announcement>): Announcements {
  const newest = new Map<PublicKey, Announcement>();
  let identifier: string | undefined;
  for (const one of announcements) {
    identifier ??= one.identifier;
    invariant(one.identifier === identifier, "announcements of one identifier only: another repository says nothing about this one");
    const other = newest.get(one.owner);
    if (other === undefined || wins({ id: one.id, created_at: one.createdAt }, { id: other.id, created_at: other.createdAt })) {
      newest.set(one.owner, one);
    }
  }
  return newest;
}

/** grasp.md 4.1: a pure function of the announcements with one identifier, and an owner. */
export const maintainerSet = (announcements: Iterable<Announcement>, owner: PublicKey, policy: MaintainerPolicy): MaintainerSet =>
  maintainersOf(newestByAuthor(announcements), owner, policy);

/** The same, for whoever asks about many owners. */
export function maintainersOf(announcements: Announcements, owner: PublicKey, policy: MaintainerPolicy): MaintainerSet {
  const own = announcements.get(owner);
  if (own === undefined) return collected(new Map(), []);
  switch (policy) {
    case "reciprocal":
      return reciprocal(announcements, owner);
    case "recursive":
      return recursive(announcements, own);
    case "owner-only":
      // Nobody but the owner can become confirmed, so nobody is invited; and an owner who left has no say any more (4.3).
      return collected(own.roles.authorActive ? new Map([[owner, { authors: [owner], keys: [] }]]) : new Map(), []);
  }
}

/** Why a key is confirmed: because of these authors' announcements, and because those keys are. */
interface Ground {
  readonly authors: readonly PublicKey[];
  readonly keys: readonly PublicKey[];
}

function collected(grounds: ReadonlyMap<PublicKey, Ground>, listed: Iterable<PublicKey>): MaintainerSet {
  const invited = new Set<PublicKey>();
  for (const key of listed) if (!grounds.has(key)) invited.add(key);
  return { confirmed: new Set(grounds.keys()), invited, restsOn: (key) => authorsBehind(grounds, key) };
}

function authorsBehind(grounds: ReadonlyMap<PublicKey, Ground>, key: PublicKey): ReadonlySet<PublicKey> {
  const authors = new Set<PublicKey>();
  const seen = new Set([key]);
  for (const one of seen) {
    const ground = grounds.get(one);
    for (const author of ground?.authors ?? []) authors.add(author);
    for (const other of ground?.keys ?? []) seen.add(other);
  }
  return authors;
}

/**
 * grasp.md 4.4, 4.5: from the root, a listed key joins when its own announcement has an active author and lists any confirmed key. Only lists are walked,
 * so the grounds too are the same whatever order the announcements came in.
 */
function reciprocal(announcements: Announcements, owner: PublicKey): MaintainerSet {
  const path = rootOf(announcements, owner);
  // Nobody is confirmed, yet whoever the path names may be what is missing: their announcements are still wanted.
  if (path.root === undefined)
    return collected(
      new Map(),
      path.keys.flatMap((key) => [...listedBy(announcements, key)]),
    );
  const confirmed = new Map<PublicKey, Ground>([[path.root, { authors: path.keys, keys: [] }]]);
  const rank = new Map<PublicKey, number>([[path.root, 0]]);
  const inviter = new Map<PublicKey, PublicKey>();
  /** Listed keys by whom they list themselves: they are looked at again when that one joins. */
  const answers = new Map<PublicKey, PublicKey[]>();
  let round = [path.root];
  while (round.length > 0) {
    const candidates = new Set<PublicKey>();
    for (const key of round) {
      for (const listed of listedBy(announcements, key)) {
        if (confirmed.has(listed) || inviter.has(listed)) continue;
        inviter.set(listed, key);
        if (announcements.get(listed)?.roles.authorActive !== true) continue;
        candidates.add(listed);
        for (const answered of listedBy(announcements, listed)) {
          const others = answers.get(answered);
          if (others === undefined) answers.set(answered, [listed]);
          else others.push(listed);
        }
      }
    }
    for (const key of round) for (const candidate of answers.get(key) ?? []) candidates.add(candidate);
    const joining: [PublicKey, Ground][] = [];
    for (const candidate of candidates) {
      if (confirmed.has(candidate)) continue;
      const answered = firstOf(rank, listedBy(announcements, candidate));
      const by = inviter.get(candidate);
      if (answered !== undefined && by !== undefined) joining.push([candidate, { authors: [candidate], keys: [by, answered] }]);
    }
    for (const [key, ground] of joining) {
      confirmed.set(key, ground);
      rank.set(key, rank.size);
    }
    round = joining.map(([key]) => key);
  }
  return collected(confirmed, inviter.keys());
}

/** grasp.md 4.6: whoever is listed is in, and so is whom they list; no announcement of their own is needed. Who left is out, and so are their lists (4.3). */
function recursive(announcements: Announcements, own: Announcement): MaintainerSet {
  const confirmed = new Map<PublicKey, Ground>();
  if (own.roles.authorActive) confirmed.set(own.owner, { authors: [own.owner], keys: [] });
  const listed = new Set<PublicKey>();
  const seen = new Set([own.owner]);
  for (let round = [own.owner]; round.length > 0; ) {
    const next: PublicKey[] = [];
    for (const key of round) {
      for (const other of listedBy(announcements, key)) {
        listed.add(other);
        if (seen.has(other)) continue;
        seen.add(other);
        if (announcements.get(other)?.roles.authorActive === false) continue;
        confirmed.set(other, { authors: [key], keys: [key] });
        next.push(other);
      }
    }
    round = next;
  }
  return collected(confirmed, listed);
}

const NOBODY: ReadonlySet<PublicKey> = new Set();

const listedBy = (announcements: Announcements, key: PublicKey): ReadonlySet<PublicKey> => announcements.get(key)?.roles.listed ?? NOBODY;

/** Of these keys, the one that was confirmed first. */
function firstOf(rank: ReadonlyMap<PublicKey, number>, keys: Iterable<PublicKey>): PublicKey | undefined {
  let first: PublicKey | undefined;
  let lowest = Number.POSITIVE_INFINITY;
  for (const key of keys) {
    const found = rank.get(key);
    if (found === undefined || found >= lowest) continue;
    lowest = found;
    first = key;
  }
  return first;
}
