import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { FaultError } from "../../base/fault.ts";
import { type Oid, readOid } from "../oid.ts";
import { type RefName, readRefName } from "../ref-name.ts";
import { unlessMissing } from "./durable.ts";

export interface PackedRef {
  readonly oid: Oid;
  /** What an annotated tag finally names. */
  readonly peeled: Oid | undefined;
}

const HEADER = "# pack-refs with: peeled fully-peeled sorted \n";

/** The file as one string of bytes: then comparing strings is git's own order, and a name that is not UTF-8 survives a rewrite. */
export class PackedRefs {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  static async read(gitDir: string): Promise<PackedRefs> {
    return new PackedRefs((await unlessMissing(readFile(join(gitDir, "packed-refs"), "latin1"))) ?? "");
  }

  /** Found by searching: names hold no spaces, and ten thousand lines are parsed only when they are needed. */
  get(name: RefName): Oid | undefined {
    const at = this.#text.indexOf(` ${toBytes(name)}\n`);
    if (at < 0) return undefined;
    return readOid(this.#text.slice(this.#text.lastIndexOf("\n", at - 1) + 1, at)) ?? fail();
  }

  /** Is there a name below this one, as if it were a directory? */
  hasBelow(name: RefName): boolean {
    return this.#text.includes(` ${toBytes(name)}/`);
  }

  /** True when every annotated tag in it has its peeled line. */
  get isFullyPeeled(): boolean {
    return this.#text === "" || /^#[^\n]* fully-peeled /.test(this.#text);
  }

  /** By name as bytes. */
  entries(): Map<string, PackedRef> {
    const entries = new Map<string, PackedRef>();
    let last: string | undefined;
    for (const line of this.#text.split("\n")) {
      if (line === "" || line.startsWith("#")) continue;
      if (line.startsWith("^")) {
        const entry = last === undefined ? fail() : (entries.get(last) as PackedRef);
        entries.set(last as string, { oid: entry.oid, peeled: readOid(line.slice(1)) ?? fail() });
        continue;
      }
      const space = line.indexOf(" ");
      last = line.slice(space + 1);
      entries.set(last, { oid: readOid(line.slice(0, Math.max(0, space))) ?? fail(), peeled: undefined });
    }
    return entries;
  }
}

export function packedText(entries: ReadonlyMap<string, PackedRef>): string {
  let text = HEADER;
  for (const name of [...entries.keys()].sort()) {
    const { oid, peeled } = entries.get(name) as PackedRef;
    text += peeled === undefined ? `${oid} ${name}\n` : `${oid} ${name}\n^${peeled}\n`;
  }
  return text;
}

export const toBytes = (name: string): string => Buffer.from(name, "utf8").toString("latin1");

/** The name, when it is UTF-8 and one that git takes. */
export const fromBytes = (bytes: string): RefName | undefined => {
  const name = Buffer.from(bytes, "latin1").toString("utf8");
  return toBytes(name) === bytes ? readRefName(name) : undefined;
};

function fail(): never {
  throw new FaultError({ kind: "protocol", what: "packed-refs" });
}
