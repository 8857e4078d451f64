import { formatCoordinate, parseCoordinate } from "../nostr/coordinate.ts";
import type { PublicKey } from "../nostr/event.ts";
import { ANNOUNCEMENT } from "../nostr/kinds.ts";
import { decodeNpub, encodeNpub } from "../nostr/npub.ts";
import type { Address } from "../nostr/replaceable.ts";
import { type Identifier, readIdentifier } from "./identifier.ts";

/** One repository: whose it is and what it is called. */
export interface RepoId {
  readonly owner: PublicKey;
  readonly identifier: Identifier;
}

export const sameRepo = (a: RepoId, b: RepoId): boolean => a.owner === b.owner && a.identifier === b.identifier;

/** Where its announcement is served. */
export const repoAddress = (repo: RepoId): Address => ({ kind: ANNOUNCEMENT, pubkey: repo.owner, d: repo.identifier });

/** `undefined` for other kinds, and for names that no announcement may have. */
export function repoAt(address: Address): RepoId | undefined {
  const identifier = address.kind === ANNOUNCEMENT ? readIdentifier(address.d) : undefined;
  return identifier === undefined ? undefined : { owner: address.pubkey, identifier };
}

/** `30617:<hex>:<identifier>`. */
export const repoCoordinate = (repo: RepoId): string => formatCoordinate(repoAddress(repo));

export function readRepoCoordinate(text: string): RepoId | undefined {
  const address = parseCoordinate(text);
  return address === undefined ? undefined : repoAt(address);
}

const SUFFIX = ".git";

/** `/<npub>/<percent-encoded identifier>.git`, below our base path. */
export const repoPath = (repo: RepoId): string => `/${encodeNpub(repo.owner)}/${encodeURIComponent(repo.identifier)}${SUFFIX}`;

export interface RepoPath {
  readonly repo: RepoId;
  /** What follows `.git`, as it was written: empty, or from a slash on. */
  readonly rest: string;
}

/**
 * grasp.md 7.1: the path of a URL, still encoded and without our base path. It is cut at its slashes first and decoded once, so that an encoded slash is
 * part of a name and the name is then refused for it.
 */
export function readRepoPath(path: string): RepoPath | undefined {
  const [before, npub = "", name = "", ...rest] = path.split("/");
  if (before !== "") return undefined;
  const owner = decodeNpub(npub);
  const decoded = owner === undefined ? undefined : decodedOnce(name);
  if (owner === undefined || decoded?.endsWith(SUFFIX) !== true) return undefined;
  const identifier = readIdentifier(decoded.slice(0, -SUFFIX.length));
  return identifier === undefined ? undefined : { repo: { owner, identifier }, rest: rest.map((part) => `/${part}`).join("") };
}

/** `undefined` for a broken escape, and for bytes that are not UTF-8. */
function decodedOnce(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
