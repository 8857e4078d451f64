import { hash } from "node:crypto";
import { toUtf8 } from "../base/bytes.ts";
import type { RepoId } from "../grasp/repo-id.ts";
import { encodeNpub } from "../nostr/npub.ts";
import { type DataPath, type Realm, relativePath, repositoryKey, repositoryPath } from "./layout.ts";

/** A symlink for people and tools: where it stands and what it says (grasp.md 7.1). */
export interface ReadableName {
  /** The directory of the owner: an npub, or hex below `prs/` (10.1). */
  readonly directory: DataPath;
  readonly link: DataPath;
  /** Relative to `directory`, so that the data may be moved as a whole. */
  readonly target: string;
}

/** Leaves room for `.git` and for what tools append, below the 255 bytes that file systems allow. */
const NAME_BYTES_MAX = 200;
const HASH_DIGITS = 16;

/** Bytes that stand for themselves; every other is percent-encoded, `%` and `~` too, so that no two identifiers have one name. */
const isPlain = (byte: number): boolean =>
  (byte >= 0x30 && byte <= 0x39) ||
  (byte >= 0x41 && byte <= 0x5a) ||
  (byte >= 0x61 && byte <= 0x7a) ||
  byte === 0x2e ||
  byte === 0x5f ||
  byte === 0x2d;

const encoded = (byte: number): string => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;

/** A leading `.` would be hidden or mean a directory, a leading `-` would be an option to whoever passes it on. */
const isHazardAtStart = (byte: number): boolean => byte === 0x2e || byte === 0x2d;

/** The identifier as a file name, without `.git`. */
export function readableIdentifier(identifier: string): string {
  const parts = Array.from(toUtf8(identifier), (byte, i) =>
    isPlain(byte) && !(i === 0 && isHazardAtStart(byte)) ? String.fromCharCode(byte) : encoded(byte),
  );
  const whole = parts.join("");
  if (whole.length <= NAME_BYTES_MAX) return whole;
  // A `~` stands in no other name, so a shortened one is never another's whole one; and no encoded byte is cut in two.
  let short = "";
  for (const part of parts) {
    if (short.length + part.length > NAME_BYTES_MAX - HASH_DIGITS - 1) break;
    short += part;
  }
  return `${short}~${hash("sha256", identifier, "hex").slice(0, HASH_DIGITS)}`;
}

export function readableName(repo: RepoId, realm: Realm = "announced"): ReadableName {
  const directory = (realm === "announced" ? encodeNpub(repo.owner) : `prs/${repo.owner}`) as DataPath;
  return {
    directory,
    link: `${directory}/${readableIdentifier(repo.identifier)}.git` as DataPath,
    target: relativePath(directory, repositoryPath(repositoryKey(repo, realm))),
  };
}
