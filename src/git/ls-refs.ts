import { toUtf8 } from "../base/bytes.ts";
import { FLUSH, pktText } from "./pkt-line.ts";
import { headOid, type RefView, sortedRefs } from "./ref-lines.ts";

/** What a client of protocol 2 wants to see of the refs. */
export interface LsRefs {
  readonly peel: boolean;
  readonly symrefs: boolean;
  readonly unborn: boolean;
  /** Only names that begin with one of these; none: all. */
  readonly prefixes: readonly string[];
}

/** The answer, from memory, in the words and the order of git's own. */
export function lsRefsAnswer(view: RefView, asked: LsRefs): Uint8Array<ArrayBuffer> {
  const wanted = prefixTest(asked.prefixes);
  const parts: string[] = [];
  const head = headOid(view.refs);
  const symref = asked.symrefs ? ` symref-target:${view.refs.head}` : "";
  // A branch that is not born can only be told as a symbolic ref, and only to a client that knows of such.
  if (wanted("HEAD") && (head !== undefined || (asked.unborn && asked.symrefs))) parts.push(pktText(`${head ?? "unborn"} HEAD${symref}\n`));
  for (const [name, oid] of sortedRefs(view.refs.refs)) {
    if (!wanted(name)) continue;
    const peeled = asked.peel ? view.peeled?.get(oid) : undefined;
    parts.push(pktText(peeled === undefined ? `${oid} ${name}\n` : `${oid} ${name} peeled:${peeled}\n`));
  }
  parts.push(FLUSH);
  return toUtf8(parts.join(""));
}

/**
 * Whether a name begins with one of the prefixes, in the time of a binary search: asked for every ref, with as many prefixes as a client likes.
 * Among prefixes of which none begins another, only the last that is not behind the name can begin it.
 */
export function prefixTest(prefixes: readonly string[]): (name: string) => boolean {
  if (prefixes.length === 0) return () => true;
  const least: string[] = [];
  for (const prefix of [...prefixes].sort((a, b) => (a < b ? -1 : a === b ? 0 : 1))) {
    const last = least.at(-1);
    if (last === undefined || !prefix.startsWith(last)) least.push(prefix);
  }
  return (name) => {
    let low = 0;
    let high = least.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((least[middle] as string) <= name) low = middle + 1;
      else high = middle;
    }
    const candidate = least[low - 1];
    return candidate !== undefined && name.startsWith(candidate);
  };
}
