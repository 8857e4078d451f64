import { compareBytes, toUtf8 } from "../base/bytes.ts";
import type { ObjectFormat, Oid } from "./oid.ts";
import type { RefMap } from "./ref-map.ts";
import type { RefName } from "./ref-name.ts";

/** What a repository shows of itself to whoever asks for its refs. */
export interface RefView {
  readonly refs: RefMap;
  /** From the id of an annotated tag to what it names in the end; a tag that is missing here is shown without it. */
  readonly peeled?: ReadonlyMap<Oid, Oid>;
  readonly format: ObjectFormat;
}

const SURROGATE = /[\ud800-\udfff]/;

/** By the bytes of the name, as git orders them. JavaScript's own order differs only where a character takes two units. */
export function sortedRefs(refs: ReadonlyMap<RefName, Oid>): readonly (readonly [RefName, Oid])[] {
  const entries = [...refs];
  if (entries.some(([name]) => SURROGATE.test(name))) {
    return entries
      .map((entry) => ({ entry, bytes: toUtf8(entry[0]) }))
      .sort((a, b) => compareBytes(a.bytes, b.bytes))
      .map(({ entry }) => entry);
  }
  return entries.sort(([a], [b]) => (a < b ? -1 : 1));
}

/** What HEAD names, when that branch is there. */
export const headOid = (refs: RefMap): Oid | undefined => refs.refs.get(refs.head);
