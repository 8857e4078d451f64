import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { FaultError } from "../../base/fault.ts";
import { type Instant, instant, unixSeconds } from "../../base/time.ts";
import { removeFile, replaceFile, unlessMissing } from "../../git/io/durable.ts";
import { type Oid, readOid } from "../../git/oid.ts";
import { readIdentifier } from "../../grasp/identifier.ts";
import type { RepoId } from "../../grasp/repo-id.ts";
import { isEventId, isPublicKey } from "../../nostr/event.ts";
import type { SettledRecord } from "../../settle/ports.ts";

/** What a repository's directory tells of it beside its refs; with them it is moved, kept and restored. */
export interface SettledFile extends SettledRecord {
  /** Whose it is: the directory's name is a hash. */
  readonly repo: RepoId;
  /** No longer named by a ref, and kept until then (grasp.md 6.6, 7.14). */
  readonly retained: ReadonlyMap<Oid, Instant>;
}

/** More than a project loses in 90 days; the newest are kept. */
const RETAINED_MAX = 20_000;

const VERSION = 1;
const pathOf = (directory: string): string => join(directory, "settled.json");

export async function readSettled(directory: string): Promise<SettledFile | undefined> {
  const text = await unlessMissing(readFile(pathOf(directory), "utf8"));
  if (text === undefined) return undefined;
  try {
    return parsed(JSON.parse(text) as Stored);
  } catch (cause) {
    throw new FaultError({ kind: "protocol", what: "what is recorded of a repository", cause });
  }
}

/** On disk when this returns. The caller holds the repository's lane, so a lock that is there was left by a crash. */
export async function writeSettled(directory: string, { repo, standing, aligned, retained }: SettledFile): Promise<void> {
  const path = pathOf(directory);
  const stored: Stored = {
    version: VERSION,
    ...repo,
    standing,
    aligned: aligned === undefined ? null : [aligned.id, aligned.createdAt],
    retained: [...retained],
  };
  await removeFile(`${path}.lock`);
  await replaceFile(path, JSON.stringify(stored), `${path}.lock`);
}

/** With these kept too, and without those whose time is over. */
export function retaining(before: SettledFile, oids: readonly Oid[], until: Instant, now: Instant): SettledFile {
  const retained = new Map([...before.retained].filter(([, end]) => end > now));
  for (const oid of oids) {
    // Last in order, for the first ones go when there are too many.
    retained.delete(oid);
    retained.set(oid, until);
  }
  return { ...before, retained: new Map([...retained].slice(-RETAINED_MAX)) };
}

interface Stored {
  readonly version: number;
  readonly owner: string;
  readonly identifier: string;
  readonly standing: string;
  readonly aligned: readonly [id: string, createdAt: number] | null;
  readonly retained: readonly (readonly [oid: string, until: number])[];
}

function parsed({ version, owner, identifier, standing, aligned, retained }: Stored): SettledFile {
  const name = readIdentifier(identifier);
  if (version !== VERSION || !isPublicKey(owner) || name === undefined) return fail();
  if (standing !== "served" && standing !== "waiting") return fail();
  const [id, createdAt] = aligned ?? [];
  if (id !== undefined && (!isEventId(id) || !Number.isSafeInteger(createdAt))) return fail();
  return {
    repo: { owner, identifier: name },
    standing,
    aligned: id === undefined ? undefined : { id, createdAt: unixSeconds(createdAt as number) },
    retained: new Map(retained.map(([oid, until]) => [readOid(oid) ?? fail(), instant(until)])),
  };
}

function fail(): never {
  throw new Error("not as we write it");
}
