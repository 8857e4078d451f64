import type { Oid } from "../oid.ts";
import { clash } from "../ref-map.ts";
import type { RefName } from "../ref-name.ts";
import type { RefUpdate } from "../ref-update.ts";

/** Why a transaction was not carried out; nothing has changed then. */
export type RefProblem =
  /** The world moved on: the ref has another value than was expected. */
  | { readonly kind: "moved"; readonly ref: RefName; readonly expected: Oid | undefined; readonly actual: Oid | undefined }
  /** One name would be a directory of the other. */
  | { readonly kind: "clash"; readonly refs: readonly [RefName, RefName] };

export interface TransactionTools {
  /** What each of these that is an annotated tag finally names; others are left out. */
  readonly peel: (oids: readonly Oid[]) => Promise<ReadonlyMap<Oid, Oid>>;
  /** Called between any two changes of the disk: where tests end the process. */
  readonly step?: (name: string) => void | Promise<void>;
}

export const isChange = ({ from, to }: RefUpdate): boolean => from !== to;

/** Every directory that a ref's name lies in, nearest first: `refs/heads/a/b` → `refs/heads/a`, `refs/heads`. */
export function parentsOf(name: RefName): RefName[] {
  const parents: RefName[] = [];
  for (let slash = name.lastIndexOf("/"); slash > "refs/".length; slash = name.lastIndexOf("/", slash - 1))
    parents.push(name.slice(0, slash) as RefName);
  return parents;
}

/** Where a name that goes is a directory of one that comes, or the other way round: first the deletes, then the rest (grasp.md 6.8). */
export function inRounds(updates: readonly RefUpdate[]): readonly (readonly RefUpdate[])[] {
  const gone = updates.filter(({ from, to }) => from !== undefined && to === undefined);
  const others = updates.filter((update) => !gone.includes(update));
  if (gone.length === 0 || others.length === 0) return [updates];
  const isApart = clash(updates.map(({ ref }) => ref)) === undefined;
  return isApart ? [updates] : [gone, others];
}
