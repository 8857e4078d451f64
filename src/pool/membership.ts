import type { Instant } from "../base/time.ts";
import { plus } from "../base/time.ts";
import type { ObjectFormat } from "../git/oid.ts";
import type { Identifier } from "../grasp/identifier.ts";
import type { PublicKey } from "../nostr/event.ts";
import type { PoolId, RepositoryKey } from "./layout.ts";

/** A pool that a repository still reads from, because something that it needs lies only there. */
export interface Borrowing {
  readonly pool: PoolId;
  readonly why: "joining" | "leaving";
}

/** A repository and where its objects are, as recorded. */
export interface Housed {
  readonly repository: RepositoryKey;
  readonly owner: PublicKey;
  readonly identifier: Identifier;
  /** grasp.md 7.13: a pool per object format. */
  readonly format: ObjectFormat;
  /** The confirmed maintainer set of this owner's repository (4.5). */
  readonly confirmed: ReadonlySet<PublicKey>;
  /** Private, blocked, deleted or held: its objects are in no pool that another can read. */
  readonly apart: boolean;
  /** Where its objects are written. */
  readonly home: PoolId;
  readonly borrows: readonly Borrowing[];
  /** When it last copied itself out of a pool that it had left. */
  readonly copiedOutAt: Instant | undefined;
}

/** From now on new objects go to `to`, and `from` is only read. `fresh` numbers pools that are yet to be made; the same number is the same pool. */
export interface Move {
  readonly repository: RepositoryKey;
  readonly why: Borrowing["why"];
  readonly to: { readonly kind: "pool"; readonly pool: PoolId } | { readonly kind: "fresh"; readonly number: number };
}

/**
 * Every line is one more place in which git looks for every object. Leaving is never refused, so who has this many old lines joins nobody and is joined by
 * nobody until they were copied: then it can be made to leave once for each repository that is already with it, and not for ever.
 */
const BORROWS_MAX = 3;

/** grasp.md 7.13: copying out costs a repository's size, and sets can change at every announcement. */
const COPY_OUT_EVERY_MS = 24 * 60 * 60 * 1000;

/**
 * What repositories must have in common to share a pool, or `undefined` for one that shares with nobody (grasp.md 7.13). Equal sets that hold both
 * owners: a stranger who takes an identifier, or who lists its maintainers without being listed by them, has another set.
 */
export function shareKey(r: Housed): string | undefined {
  if (r.apart || !r.confirmed.has(r.owner)) return undefined;
  return [r.format, ...[...r.confirmed].sort(), r.identifier].join("\n");
}

/**
 * The moves that bring every repository home to where it belongs. `all` are the repositories of one identifier (no pool is shared beyond it), `bytes` the
 * size of each pool. Leaving is never put off: after these moves no two repositories write into one pool unless they may share it.
 */
export function decideMoves(all: readonly Housed[], bytes: ReadonlyMap<PoolId, number>): readonly Move[] {
  const groups = grouped(all);
  const keepers = keepersOf(all, groups);
  const moves: Move[] = [];
  let fresh = 0;
  for (const members of groups.values()) {
    const own = new Set(members.map((m) => m.home).filter((pool) => keepers.get(pool) === members));
    const largest = largestOf(own, bytes);
    const isOpen = largest !== undefined && !members.some((m) => m.home === largest && isCrowded(m));
    const leavers = members.filter((m) => !own.has(m.home));
    const joiners = isOpen ? members.filter((m) => own.has(m.home) && m.home !== largest && !isCrowded(m)) : [];
    for (const { repository } of joiners) moves.push({ repository, why: "joining", to: { kind: "pool", pool: largest as PoolId } });
    if (leavers.length === 0) continue;
    const to: Move["to"] = isOpen ? { kind: "pool", pool: largest } : { kind: "fresh", number: fresh++ };
    for (const { repository } of leavers) moves.push({ repository, why: "leaving", to });
  }
  return moves;
}

const isCrowded = (r: Housed): boolean => r.borrows.length >= BORROWS_MAX;

/** By what they share; each of those that share with nobody is a group of its own. Always in the same order, whatever the order of `all`. */
function grouped(all: readonly Housed[]): ReadonlyMap<string, readonly Housed[]> {
  const groups = new Map<string, Housed[]>();
  for (const r of all.toSorted((a, b) => (a.repository < b.repository ? -1 : 1))) {
    const key = shareKey(r) ?? r.repository;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [r]);
    else group.push(r);
  }
  return groups;
}

/** Of several groups in one pool the one with most repositories there stays, so that the fewest are copied. */
function keepersOf(all: readonly Housed[], groups: ReadonlyMap<string, readonly Housed[]>): ReadonlyMap<PoolId, readonly Housed[]> {
  const readers = new Map<PoolId, number>();
  for (const r of all) for (const pool of linesOf(r)) readers.set(pool, (readers.get(pool) ?? 0) + 1);
  const keepers = new Map<PoolId, { readonly members: readonly Housed[]; readonly count: number }>();
  for (const members of groups.values()) {
    for (const pool of new Set(members.map((m) => m.home))) {
      // What one that stands apart writes from now on must not be read through anybody's old line.
      if (members.some((m) => m.apart) && (readers.get(pool) ?? 0) > 1) continue;
      const count = members.filter((m) => m.home === pool).length;
      if (count > (keepers.get(pool)?.count ?? 0)) keepers.set(pool, { members, count });
    }
  }
  return new Map([...keepers].map(([pool, { members }]) => [pool, members]));
}

/** grasp.md 7.13: of two pools the smaller moves; of equal ones the one with the higher id. */
function largestOf(pools: ReadonlySet<PoolId>, bytes: ReadonlyMap<PoolId, number>): PoolId | undefined {
  const size = (pool: PoolId): number => bytes.get(pool) ?? 0;
  return [...pools].sort((a, b) => size(b) - size(a) || (a < b ? -1 : 1))[0];
}

/** As recorded at once when a move is decided: the new line is added, and the old one stays until what it leads to was copied. */
export function moved(r: Housed, to: PoolId, why: Borrowing["why"]): Housed {
  if (to === r.home) return r;
  const kept = r.borrows.filter(({ pool }) => pool !== to && pool !== r.home);
  return { ...r, home: to, borrows: [{ pool: r.home, why }, ...kept] };
}

/** When its objects shall be copied home: at once for one that joined, at most once a day for one that left; `undefined`: nothing is to be copied. */
export function copyDueAt(r: Housed, now: Instant): Instant | undefined {
  if (r.borrows.length === 0) return undefined;
  if (r.copiedOutAt === undefined || r.borrows.every(({ why }) => why === "joining")) return now;
  const due = plus(r.copiedOutAt, COPY_OUT_EVERY_MS);
  return due > now ? due : now;
}

/** As recorded when everything that `copied` needs lies in `home` and is on disk: only now the old lines go. Who moved meanwhile keeps its lines. */
export function copiedHome(r: Housed, copied: Housed, now: Instant): Housed {
  if (r.home !== copied.home) return r;
  const done = new Set(copied.borrows.map(({ pool }) => pool));
  const left = copied.borrows.some(({ why }) => why === "leaving");
  return { ...r, borrows: r.borrows.filter(({ pool }) => !done.has(pool)), copiedOutAt: left ? now : r.copiedOutAt };
}

/** The pools of its alternates file, in order. */
export const linesOf = (r: Housed): readonly PoolId[] => [r.home, ...r.borrows.map(({ pool }) => pool)];

/** Pools that no repository has a line to: they may go. */
export function unreadPools(pools: Iterable<PoolId>, all: readonly Housed[]): readonly PoolId[] {
  const read = new Set(all.flatMap(linesOf));
  return [...pools].filter((pool) => !read.has(pool));
}
