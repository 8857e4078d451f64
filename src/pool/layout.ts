import { hash } from "node:crypto";
import type { Brand } from "../base/brand.ts";
import type { Oid } from "../git/oid.ts";
import type { RepoId } from "../grasp/repo-id.ts";
import type { EventId } from "../nostr/event.ts";

/**
 * Where git data lies, relative to the git data path, with `/` between the parts:
 *
 *     repositories/ab/<62 hex>.git     a repository: refs, HEAD, and lines to the pools that hold its objects
 *     pools/ab/<30 hex>.git            objects of one project, stored once (grasp.md 7.13)
 *     staging/ab/<62 hex>/<event>-<tip>.git   unsigned uploads of that repository (7.9)
 *     hunts/ab/<30 hex>.git            what a project's hunt has gathered so far (9.5)
 *     quarantine/<32 hex>              objects on their way in (7.10)
 *     npub1…/<readable>.git            for people: symlinks into repositories/ (readable-name.ts)
 *     prs/<hex>/<readable>.git         the same for contributors' repositories (10.1)
 *
 * grasp.md 7.1: every name is a hash, validated hex, or made here; nothing that a stranger wrote is ever a path.
 */
export type DataPath = Brand<string, "DataPath">;

/** 64 hex: the hash of a repository's owner and identifier. */
export type RepositoryKey = Brand<string, "RepositoryKey">;

/** 32 hex, drawn by chance in io/: it says nothing of what it names, so a set of maintainers may change and its pool stays where it is. */
export type PoolId = Brand<string, "PoolId">;
/** The same for a hunt's or a quarantine's place. */
export type OpaqueId = Brand<string, "OpaqueId">;

/** `announced` lies at `/<npub>/<id>.git`; `contributed` at `/prs/<npub>/<id>.git` (grasp.md 10.1), and is another repository. */
export type Realm = "announced" | "contributed";

/** Made at the start, so that whatever is moved between them is moved within one file system (grasp.md 9.7). */
export const TOP_DIRECTORIES = ["repositories", "pools", "staging", "hunts", "quarantine", "prs"] as const;

const OPAQUE = /^[0-9a-f]{32}$/;
const KEY = /^[0-9a-f]{64}$/;

export const readOpaqueId = (text: string): OpaqueId | undefined => (OPAQUE.test(text) ? (text as OpaqueId) : undefined);
export const readPoolId = (text: string): PoolId | undefined => (OPAQUE.test(text) ? (text as PoolId) : undefined);
export const readRepositoryKey = (text: string): RepositoryKey | undefined => (KEY.test(text) ? (text as RepositoryKey) : undefined);

/** One repository, one key. Owners have 64 digits and identifiers no control characters, so no two names are the same text. */
export const repositoryKey = ({ owner, identifier }: RepoId, realm: Realm = "announced"): RepositoryKey =>
  hash("sha256", `${realm}\n${owner}\n${identifier}`, "hex") as RepositoryKey;

/** 256 directories beside each other: a hundred thousand repositories are then four hundred in each, which every file system lists quickly. */
const fanned = (name: string): string => `${name.slice(0, 2)}/${name.slice(2)}`;

export const repositoryPath = (key: RepositoryKey): DataPath => `repositories/${fanned(key)}.git` as DataPath;
export const poolPath = (id: PoolId): DataPath => `pools/${fanned(id)}.git` as DataPath;
export const huntPath = (id: OpaqueId): DataPath => `hunts/${fanned(id)}.git` as DataPath;
export const quarantinePath = (id: OpaqueId): DataPath => `quarantine/${id}` as DataPath;

/** Everything unsigned that waits for one repository's events. */
export const stagingPath = (key: RepositoryKey): DataPath => `staging/${fanned(key)}` as DataPath;

/** grasp.md 7.9: by id *and* tip, so that nobody can overwrite what another has uploaded. */
export const stagedTipPath = (key: RepositoryKey, event: EventId, tip: Oid): DataPath =>
  `${stagingPath(key)}/${event}-${tip}.git` as DataPath;

export const objectsPath = (repository: DataPath): DataPath => `${repository}/objects` as DataPath;

/** How one place is written as seen from a directory; both lie below the git data path, which may therefore be moved or mounted elsewhere. */
export function relativePath(from: DataPath, to: DataPath): string {
  const [a, b] = [from.split("/"), to.split("/")];
  let shared = 0;
  while (shared < a.length && shared < b.length - 1 && a[shared] === b[shared]) shared += 1;
  return [...a.slice(shared).map(() => ".."), ...b.slice(shared)].join("/");
}

/**
 * The lines of a repository's alternates file (grasp.md 7.13: relative), for `createRepository` and `writeAlternates` of git/io. Git looks through them in
 * order, so the own pool comes first.
 */
export function alternatesOf(repository: DataPath, pools: readonly PoolId[]): readonly string[] {
  const from = objectsPath(repository);
  return pools.map((pool) => relativePath(from, objectsPath(poolPath(pool))));
}
