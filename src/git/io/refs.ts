import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { FaultError } from "../../base/fault.ts";
import { type Oid, readOid } from "../oid.ts";
import { DEFAULT_HEAD, type RefMap } from "../ref-map.ts";
import { isBranch, type RefName, readRefName } from "../ref-name.ts";
import { unlessMissing } from "./durable.ts";
import { fromBytes, PackedRefs } from "./packed-refs.ts";

const SYMBOLIC = "ref: ";
/** As git: a longer chain is a loop. */
const LINKS_MAX = 5;

/** A repository's refs and HEAD from its files. Loose ones are read first: whoever packs them writes the new file before he removes the old. */
export async function readRefs(gitDir: string): Promise<RefMap> {
  const loose = new Map<RefName, Oid>();
  const symbolic = new Map<RefName, RefName>();
  for (const name of await looseNames(gitDir)) {
    const value = await readLoose(gitDir, name);
    if (value?.kind === "oid") loose.set(name, value.oid);
    else if (value?.kind === "symbolic") symbolic.set(name, value.target);
  }
  const refs = new Map<RefName, Oid>();
  for (const [bytes, { oid }] of (await PackedRefs.read(gitDir)).entries()) {
    const name = fromBytes(bytes);
    if (name !== undefined) refs.set(name, oid);
  }
  for (const [name, oid] of loose) refs.set(name, oid);
  for (const name of symbolic.keys()) {
    const oid = resolve(name, refs, symbolic);
    if (oid === undefined) refs.delete(name);
    else refs.set(name, oid);
  }
  return { refs, head: await readHead(gitDir) };
}

/** The branch that HEAD names. We never detach it; where somebody did, it names none and the default stands in. */
export async function readHead(gitDir: string): Promise<RefName> {
  const text = (await unlessMissing(readFile(join(gitDir, "HEAD"), "utf8"))) ?? "";
  const name = text.startsWith(SYMBOLIC) ? readRefName(text.slice(SYMBOLIC.length).trim()) : undefined;
  return name !== undefined && isBranch(name) ? name : DEFAULT_HEAD;
}

export type LooseRef = { readonly kind: "oid"; readonly oid: Oid } | { readonly kind: "symbolic"; readonly target: RefName };

/** `undefined` when there is no such file; a file that says nothing sensible is a fault, as it is for git. */
export async function readLoose(gitDir: string, name: RefName): Promise<LooseRef | undefined> {
  let text: string | undefined;
  try {
    text = await unlessMissing(readFile(join(gitDir, name), "latin1"));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EISDIR") return undefined;
    throw error;
  }
  if (text === undefined) return undefined;
  const value = text.trim();
  const target = value.startsWith(SYMBOLIC) ? fromBytes(value.slice(SYMBOLIC.length).trim()) : undefined;
  if (target !== undefined) return { kind: "symbolic", target };
  const oid = readOid(value);
  if (oid === undefined) throw new FaultError({ kind: "protocol", what: `the file of ${name}` });
  return { kind: "oid", oid };
}

/** The value of one ref now, `undefined` for none. */
export async function readRef(gitDir: string, packed: PackedRefs, name: RefName): Promise<Oid | undefined> {
  const loose = await readLoose(gitDir, name);
  if (loose === undefined) return packed.get(name);
  // We write no symbolic refs but HEAD; a foreign one is not ours to move.
  if (loose.kind === "symbolic") throw new FaultError({ kind: "protocol", what: `${name} is symbolic` });
  return loose.oid;
}

/** Names of all files below refs/ that can be refs. */
export async function looseNames(gitDir: string): Promise<RefName[]> {
  const names: RefName[] = [];
  for (const path of await filesBelow(join(gitDir, "refs"))) {
    const name = readRefName(`refs/${path}`);
    if (name !== undefined) names.push(name);
  }
  return names;
}

/** Paths of files below a directory, relative to it; a directory that vanishes meanwhile is empty. */
export async function filesBelow(directory: string, prefix = ""): Promise<string[]> {
  const entries = (await unlessMissing(readdir(directory, { withFileTypes: true }))) ?? [];
  const found: string[] = [];
  for (const entry of entries) {
    if (entry.isDirectory()) found.push(...(await filesBelow(join(directory, entry.name), `${prefix}${entry.name}/`)));
    else if (entry.isFile()) found.push(prefix + entry.name);
  }
  return found;
}

function resolve(name: RefName, refs: ReadonlyMap<RefName, Oid>, symbolic: ReadonlyMap<RefName, RefName>): Oid | undefined {
  let at = name;
  for (let links = 0; links < LINKS_MAX; links++) {
    const next = symbolic.get(at);
    if (next === undefined) return refs.get(at);
    at = next;
  }
  return undefined;
}
