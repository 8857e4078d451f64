import type { Oid } from "./oid.ts";
import type { RefName } from "./ref-name.ts";

/** A repository's refs as a value. `head` is the branch that HEAD names, born or not. */
export interface RefMap {
  readonly refs: ReadonlyMap<RefName, Oid>;
  readonly head: RefName;
}

export const DEFAULT_HEAD = "refs/heads/master" as RefName;

export const EMPTY_REFS: RefMap = { refs: new Map(), head: DEFAULT_HEAD };

/** Where one name is a directory of another (`a` beside `a/b`), git can keep only one of them: the first such pair, or `undefined`. */
export function clash(names: Iterable<RefName>): readonly [RefName, RefName] | undefined {
  const all = new Set(names);
  for (const name of all) {
    for (let slash = name.indexOf("/"); slash >= 0; slash = name.indexOf("/", slash + 1)) {
      const parent = name.slice(0, slash) as RefName;
      if (all.has(parent)) return [parent, name];
    }
  }
  return undefined;
}
