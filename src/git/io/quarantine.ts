import { mkdir, readdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { invariant } from "../../base/assert.ts";
import type { Clock } from "../../base/clock.ts";
import { FaultError, faultOf } from "../../base/fault.ts";
import type { ObjectFormat, Oid } from "../oid.ts";
import { oneLine } from "../one-line.ts";
import { isBranch, nostrRefId, type RefName } from "../ref-name.ts";
import { INTAKE } from "../settings.ts";
import { makeDirectory, syncPath, unlessMissing } from "./durable.ts";
import { type GitProcesses, type RunningGit, untilEnd } from "./git-process.ts";
import type { GitPurpose } from "./git-slots.ts";
import type { Objects, ObjectType } from "./objects.ts";
import { PackIndex } from "./pack-index.ts";
import { isEmptyPack, readPackStart } from "./pack-start.ts";
import { Patience, pour, slowClient } from "./pour.ts";

export interface QuarantinePlace {
  /** The repository that is pushed to: what it has, and borrows, counts as here. */
  readonly gitDir: string;
  /** Where objects go in the end: the repository's own, or its pool's. */
  readonly objects: string;
  /** A directory of its own that is made here, on the same file system as `objects`. */
  readonly path: string;
  readonly format: ObjectFormat;
}

export interface PackLimits {
  readonly packBytesMax: number;
  readonly objectsMax: number;
  readonly silenceMs: number;
  readonly totalMs: number;
  /** As much as git may ask for at once: a delta of a few bytes can claim to become gigabytes. */
  readonly allocationBytesMax: number;
}

/** grasp.md 7.16. Blobs above 512 MiB are never sent as deltas by git, so nothing honest needs a larger piece of memory. */
export const PACK_LIMITS: PackLimits = {
  packBytesMax: 1024 ** 3,
  objectsMax: 5_000_000,
  silenceMs: 600_000,
  totalMs: 7_200_000,
  allocationBytesMax: 640 * 1024 ** 2,
};

export type PackRefusal = "not-a-pack" | "too-large" | "too-many-objects" | "broken";

export type Received =
  | { readonly kind: "no-pack" }
  | { readonly kind: "pack"; readonly objects: number; readonly bytes: number }
  /** `detail` is git's own sentence, for people. */
  | { readonly kind: "refused"; readonly why: PackRefusal; readonly detail: string };

export interface Tip {
  readonly ref: RefName;
  readonly oid: Oid;
}

export type TipProblem =
  | { readonly kind: "missing"; readonly tip: Tip }
  | { readonly kind: "not-a-commit"; readonly tip: Tip; readonly type: ObjectType };

export interface ReceiveOptions {
  readonly purpose?: GitPurpose;
  readonly address?: string;
  readonly signal?: AbortSignal;
  readonly limits?: PackLimits;
}

/** Removes what a crash left in the directory of all quarantines. For boot, when nothing is arriving. */
export async function removeStaleQuarantines(directory: string): Promise<void> {
  for (const name of (await unlessMissing(readdir(directory))) ?? []) await rm(join(directory, name), { recursive: true, force: true });
}

/** Objects that arrive, apart from every repository until they are checked and wanted (grasp.md 7.10, 9.10). */
export class Quarantine implements AsyncDisposable {
  readonly #processes: GitProcesses;
  readonly #clock: Clock;
  readonly #place: QuarantinePlace;
  /** Without its ending. */
  #pack: string | undefined;

  private constructor(processes: GitProcesses, clock: Clock, place: QuarantinePlace) {
    this.#processes = processes;
    this.#clock = clock;
    this.#place = place;
  }

  static async open(processes: GitProcesses, clock: Clock, place: QuarantinePlace): Promise<Quarantine> {
    await makeDirectory(dirname(place.path));
    // Not recursive: one that is there already belongs to another push.
    await mkdir(place.path);
    await mkdir(join(place.path, "pack"));
    return new Quarantine(processes, clock, place);
  }

  /** For every git process that shall see what is in here. */
  get environment(): Readonly<Record<string, string>> {
    const { gitDir, objects } = this.#place;
    const own = join(gitDir, "objects");
    return {
      GIT_DIR: gitDir,
      GIT_OBJECT_DIRECTORY: this.#place.path,
      GIT_ALTERNATE_OBJECT_DIRECTORIES: own === objects ? own : `${own}:${objects}`,
      GIT_QUARANTINE_PATH: this.#place.path,
    };
  }

  /**
   * Takes the rest of a push's body. git checks every object and that what it links to is here or in the pack; where storage is closed (grasp.md 9.5) that is
   * connectivity. Throws a `FaultError` when the client or the machine failed.
   */
  async receive(source: AsyncIterable<Uint8Array>, options: ReceiveOptions = {}): Promise<Received> {
    invariant(this.#pack === undefined, "a quarantine takes one pack");
    const { limits = PACK_LIMITS, signal } = options;
    // Before git is started nothing but the connection is held, and a client that sends nothing shall not hold that for ever.
    const patience = new Patience({ clock: this.#clock, slow: slowClient("source"), ...(signal === undefined ? {} : { signal }) });
    const start = await readPackStart(source, patience).catch((error: unknown) => Promise.reject(new FaultError(faultOf(error))));
    if (start.kind === "nothing") return { kind: "no-pack" };
    if (start.kind === "not-a-pack") return refused("not-a-pack", "This does not begin like a pack.");
    if (start.count > limits.objectsMax) return refused("too-many-objects", `The pack has more than ${limits.objectsMax} objects.`);
    if (start.count === 0) {
      const isWhole = await isEmptyPack(start.stream, this.#place.format, patience);
      return isWhole ? { kind: "no-pack" } : refused("not-a-pack", "A pack without objects does not end where it should.");
    }
    return this.#index(start.stream, start.count, limits, options);
  }

  async #index(stream: AsyncIterable<Uint8Array>, objects: number, limits: PackLimits, options: ReceiveOptions): Promise<Received> {
    const { purpose = "push", address, signal } = options;
    const git = await this.#processes.start({
      args: ["index-pack", "--stdin", "--fix-thin", "--strict", `--max-input-size=${limits.packBytesMax}`],
      settings: INTAKE,
      env: { ...this.environment, GIT_ALLOC_LIMIT: String(limits.allocationBytesMax) },
      purpose,
      silenceMs: limits.silenceMs,
      totalMs: limits.totalMs,
      ...(address === undefined ? {} : { address }),
      ...(signal === undefined ? {} : { signal }),
    });
    const said = readShort(git);
    const bytes = await this.#feed(git, stream, limits.packBytesMax, signal);
    if (bytes === "too-large") {
      git.kill({ kind: "aborted" });
      await git.ended;
      return refused("too-large", `The pack has more than ${limits.packBytesMax} bytes.`);
    }
    const { fault, stderr } = await git.ended;
    if (fault?.kind === "git-exit" && fault.signal === undefined) return refused("broken", lastWords(stderr));
    if (fault) throw new FaultError(fault);
    // What came behind the pack is given back after this line, if git had read it already; git's own server takes no notice of it either.
    const hash = /^(?:pack|keep)\t([0-9a-f]{40,64})\n/.exec(await said)?.[1];
    if (hash === undefined) throw new FaultError({ kind: "protocol", what: "index-pack did not name its pack" });
    this.#pack = join(this.#place.path, "pack", `pack-${hash}`);
    return { kind: "pack", objects, bytes };
  }

  /** Returns the bytes that went in; a git that ends early says itself why. */
  async #feed(git: RunningGit, stream: AsyncIterable<Uint8Array>, bytesMax: number, signal?: AbortSignal): Promise<number | "too-large"> {
    let bytes = 0;
    let isTooLarge = false;
    const onChunk = (chunk: Uint8Array): void => {
      bytes += chunk.length;
      isTooLarge = bytes > bytesMax;
      if (isTooLarge) throw new FaultError({ kind: "aborted" });
    };
    try {
      await pour(stream, git.stdin, {
        clock: this.#clock,
        slow: slowClient("source"),
        onChunk,
        signal: untilEnd(git, signal),
      });
      git.stdin.end();
    } catch (error) {
      if (isTooLarge) return "too-large";
      if (git.stdin.destroyed) return bytes;
      git.kill(faultOf(error));
    }
    return bytes;
  }

  /** What is wrong with the tips of a push: each must be here or in the pack, and a branch, or a PR's tip (grasp.md 6.9), at a commit. */
  async problems(tips: readonly Tip[], objects: Objects): Promise<readonly TipProblem[]> {
    const types = new Map<Oid, ObjectType>();
    if (this.#pack !== undefined) {
      await using index = await PackIndex.open(this.#pack, this.#place.format === "sha1" ? 20 : 32);
      for (const { oid } of tips) {
        const type = types.has(oid) ? undefined : await index.typeOf(oid);
        if (type !== undefined) types.set(oid, type);
      }
    }
    const others = [...new Set(tips.map(({ oid }) => oid).filter((oid) => !types.has(oid)))];
    for (const [oid, type] of await objects.look(this.#place.gitDir, others)) types.set(oid, type);
    return tips.flatMap((tip): TipProblem[] => {
      const type = types.get(tip.oid);
      if (type === undefined) return [{ kind: "missing", tip }];
      const wantsCommit = isBranch(tip.ref) || nostrRefId(tip.ref) !== undefined;
      return wantsCommit && type !== "commit" ? [{ kind: "not-a-commit", tip, type }] : [];
    });
  }

  /** Is everything that these reach here? For where storage may not be closed. `held` are values of refs that the server holds, never a client's `old`. */
  async isConnected(tips: readonly Oid[], held: Iterable<Oid>, options: ReceiveOptions = {}): Promise<boolean> {
    const { purpose = "push", address, signal, limits = PACK_LIMITS } = options;
    const lines = [...tips, ...[...new Set(held)].map((oid) => `^${oid}`)].map((line) => `${line}\n`).join("");
    try {
      await this.#processes.run(
        {
          args: ["rev-list", "--objects", "--stdin", "--quiet"],
          env: this.environment,
          purpose,
          silenceMs: limits.totalMs,
          ...(address === undefined ? {} : { address }),
          ...(signal === undefined ? {} : { signal }),
        },
        lines,
      );
      return true;
    } catch (error) {
      const fault = faultOf(error);
      if (fault.kind === "git-exit" && fault.signal === undefined) return false;
      throw error;
    }
  }

  /** Into the place where they stay, on disk when this returns. The index goes last: without it nobody sees the pack. */
  async migrate(): Promise<void> {
    const pack = this.#pack;
    if (pack === undefined) return;
    const target = join(this.#place.objects, "pack");
    await makeDirectory(target);
    const names = await readdir(join(this.#place.path, "pack"));
    const order = [".pack", ".rev", ".idx"];
    const files = order.map((ending) => basename(pack) + ending).filter((name) => names.includes(name));
    for (const name of files) await syncPath(join(this.#place.path, "pack", name));
    for (const name of files) await rename(join(this.#place.path, "pack", name), join(target, name));
    await syncPath(target);
    this.#pack = undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#place.path, { recursive: true, force: true });
  }
}

const refused = (why: PackRefusal, detail: string): Received => ({ kind: "refused", why, detail });

/** One line is all that is expected; more is dropped. */
async function readShort(git: RunningGit): Promise<string> {
  let text = "";
  try {
    for await (const chunk of git.stdout as AsyncIterable<Buffer>) if (text.length < 1_024) text += chunk.toString("latin1");
  } catch {
    // How it ended is told by `ended`.
  }
  return text;
}

/** The first complaint is the cause, what follows are its consequences. */
function lastWords(stderr: string): string {
  const line = stderr.split("\n").find((text) => /^(?:error|fatal): /.test(text)) ?? "git did not accept the pack.";
  return oneLine(line.replace(/^\w+: /, ""), 300);
}
