import type { UnixSeconds } from "../base/time.ts";
import { type Oid, readOid } from "../git/oid.ts";
import { clash } from "../git/ref-map.ts";
import { isBranch, isTag, type RefName, readRefName } from "../git/ref-name.ts";
import type { EventId, NostrEvent, PublicKey } from "../nostr/event.ts";
import { addressOf } from "../nostr/replaceable.ts";
import { tagValue } from "../nostr/tags.ts";

/** A kind 30618, read (grasp.md 6.4). */
export interface RepoState {
  readonly id: EventId;
  readonly author: PublicKey;
  readonly identifier: string;
  readonly createdAt: UnixSeconds;
  /** What it declares, as far as it is git's: branches and tags with object ids. */
  readonly refs: ReadonlyMap<RefName, Oid>;
  /** The branch it wants HEAD to name; `undefined`: it does not say, or says nothing usable. */
  readonly head: RefName | undefined;
  /** Why it can never be satisfied: a value that is no object id, a name git refuses, names that cannot stand together. It waits all the same. */
  readonly flaw: string | undefined;
}

const SYMBOLIC = "ref: ";

/** Never `undefined`: a strange value makes a state that is simply never satisfied, and the value goes no further than here. */
export function readState(event: NostrEvent): RepoState {
  const declared = new Map<string, string>();
  for (const [name = "", value = ""] of event.tags) {
    if ((name.startsWith("refs/heads/") || name.startsWith("refs/tags/")) && !name.endsWith("^{}")) declared.set(name, value);
  }
  const refs = new Map<RefName, Oid>();
  let flaw: string | undefined;
  for (const [text, value] of declared) {
    const name = isBranch(text) || isTag(text) ? readRefName(text) : undefined;
    // Resolved once within the state: `ref: refs/heads/x` never becomes a symbolic ref in git.
    const target = value.startsWith(SYMBOLIC) ? value.slice(SYMBOLIC.length) : undefined;
    const oid = readOid(target === undefined ? value : isBranch(target) ? (declared.get(target) ?? "") : "");
    if (name === undefined) flaw ??= "a ref has a name that git does not take";
    else if (oid === undefined) flaw ??= "a ref has a value that is no object id";
    else refs.set(name, oid);
  }
  if (clash(refs.keys()) !== undefined) flaw ??= "two refs cannot stand together, because one is a directory of the other";
  if (new Set([...refs.values()].map((oid) => oid.length)).size > 1) flaw ??= "its refs are of two object formats";
  return {
    id: event.id,
    author: event.pubkey,
    // Of the address, not of any `d`: what is read here and what is replaced must be one repository.
    identifier: addressOf(event)?.d ?? "",
    createdAt: event.created_at,
    refs,
    head: headOf(tagValue(event, "HEAD") ?? "", refs),
    flaw,
  };
}

/** `ref: refs/heads/x`, `refs/heads/x`, or an object id that exactly one branch has. */
function headOf(text: string, refs: ReadonlyMap<RefName, Oid>): RefName | undefined {
  const name = readRefName(text.startsWith(SYMBOLIC) ? text.slice(SYMBOLIC.length) : text);
  if (name !== undefined) return isBranch(name) ? name : undefined;
  const oid = readOid(text);
  if (oid === undefined) return undefined;
  const branches = [...refs].filter(([ref, value]) => isBranch(ref) && value === oid);
  return branches.length === 1 ? branches[0]?.[0] : undefined;
}
