import type { Oid } from "../git/oid.ts";
import type { RefView } from "../git/ref-lines.ts";
import { EMPTY_REFS, type RefMap } from "../git/ref-map.ts";
import { isBranch, isTag, nostrRefId } from "../git/ref-name.ts";
import type { RepoView } from "./ports.ts";

/** grasp.md 5.5: empty, with the unborn HEAD `master`. Its format is open until a first state is satisfied (6.4); SHA-1 is what clients expect. */
const EMPTY: RefView = { refs: EMPTY_REFS, format: "sha1" };

/** What a repository shows of its refs; `undefined` where there is none. */
export function shownRefs(view: RepoView): RefView | undefined {
  switch (view.kind) {
    case "unknown":
      return undefined;
    case "empty":
      return EMPTY;
    case "served": {
      const refs = publicRefs(view.refs);
      const peeled = new Map<Oid, Oid>();
      for (const [name, oid] of view.peeled) {
        const tag = refs.refs.get(name);
        if (tag !== undefined) peeled.set(tag, oid);
      }
      return { refs, peeled, format: view.format };
    }
  }
}

const isPublic = (name: string): boolean => isBranch(name) || isTag(name) || nostrRefId(name) !== undefined;

/** Refs of our own bookkeeping are nobody's business; git is told the same (`transfer.hideRefs`). */
function publicRefs(map: RefMap): RefMap {
  for (const name of map.refs.keys()) {
    if (!isPublic(name)) return { head: map.head, refs: new Map([...map.refs].filter(([other]) => isPublic(other))) };
  }
  return map;
}
