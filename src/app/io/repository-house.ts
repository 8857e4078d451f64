import { randomBytes } from "node:crypto";
import { readdir, readFile, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { FaultError } from "../../base/fault.ts";
import { syncPath, unlessMissing } from "../../git/io/durable.ts";
import { createRepository, isUnfinishedRepository, readFormat } from "../../git/io/repository.ts";
import type { ObjectFormat } from "../../git/oid.ts";
import type { RepoId } from "../../grasp/repo-id.ts";
import { makeReadableName, removeReadableName } from "../../pool/io/readable-names.ts";
import {
  alternatesOf,
  type DataPath,
  objectsPath,
  type PoolId,
  poolPath,
  readPoolId,
  repositoryKey,
  repositoryPath,
} from "../../pool/layout.ts";
import { readableName } from "../../pool/readable-name.ts";

/** Where one repository lies, and where its objects go. */
export interface Housing {
  readonly directory: string;
  readonly format: ObjectFormat;
  /** The pool that its objects are written to. */
  readonly home: PoolId;
}

const LINE = /(?:^|\/)pools\/([0-9a-f]{2})\/([0-9a-f]{30})\.git\/objects$/;

/** Repositories and pools as directories below the git data path. Which pool a repository is at home in is said by the first line of its alternates. */
export class RepositoryHouse {
  readonly #root: string;

  constructor(gitDataPath: string) {
    this.#root = gitDataPath;
  }

  at(path: DataPath): string {
    return join(this.#root, path);
  }

  directoryOf(repo: RepoId): string {
    return this.at(repositoryPath(repositoryKey(repo)));
  }

  poolObjects(pool: PoolId): string {
    return this.at(objectsPath(poolPath(pool)));
  }

  /** `undefined`: it was not made yet. */
  async find(repo: RepoId): Promise<Housing | undefined> {
    const directory = this.directoryOf(repo);
    const format = await readFormat(directory);
    if (format === undefined) return undefined;
    const lines = (await unlessMissing(readFile(join(directory, "objects/info/alternates"), "utf8"))) ?? "";
    const [, head = "", tail = ""] = LINE.exec(lines.split("\n")[0] ?? "") ?? [];
    const home = readPoolId(head + tail);
    if (home === undefined) throw new FaultError({ kind: "protocol", what: "a repository without a pool" });
    return { directory, format, home };
  }

  /** grasp.md 5.5: on first need. The pool is there before the line to it, and what a crash leaves is a pool that nobody reads. */
  async make(repo: RepoId, format: ObjectFormat, shared: PoolId | undefined): Promise<Housing> {
    const home = shared ?? (randomBytes(16).toString("hex") as PoolId);
    await createRepository(this.at(poolPath(home)), { format });
    const path = repositoryPath(repositoryKey(repo));
    await createRepository(this.at(path), { format, alternates: alternatesOf(path, [home]) });
    await makeReadableName(this.#root, readableName(repo));
    return { directory: this.at(path), format, home };
  }

  /** In one step, then at leisure: what a crash leaves has the name of something unfinished. Its pool stays for whoever else reads it. */
  async remove(repo: RepoId): Promise<void> {
    const directory = this.directoryOf(repo);
    const aside = `${directory}.new-${randomBytes(3).toString("hex")}`;
    await rename(directory, aside);
    await syncPath(dirname(directory));
    await rm(aside, { recursive: true, force: true });
    await removeReadableName(this.#root, readableName(repo));
  }

  /** Every repository's directory; more may be made meanwhile. */
  async *directories(): AsyncGenerator<string, void, void> {
    const top = join(this.#root, "repositories");
    for (const fan of (await unlessMissing(readdir(top))) ?? []) {
      for (const name of (await unlessMissing(readdir(join(top, fan)))) ?? []) {
        if (name.endsWith(".git") && !isUnfinishedRepository(name)) yield join(top, fan, name);
      }
    }
  }
}
