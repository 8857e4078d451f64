import { invariant } from "../../base/assert.ts";
import { BoundedMap } from "../../base/bounded.ts";
import type { Clock } from "../../base/clock.ts";
import { FaultError } from "../../base/fault.ts";
import { Lanes } from "../../base/io/lane.ts";
import type { TransactionTools } from "../../git/io/ref-change.ts";
import { readRefs } from "../../git/io/refs.ts";
import { applyRefs, type RefTransaction, recoverRefs, type TransactionOutcome } from "../../git/io/transaction.ts";
import { formatOf, type ObjectFormat, type Oid } from "../../git/oid.ts";
import { EMPTY_REFS, type RefMap } from "../../git/ref-map.ts";
import { isTag } from "../../git/ref-name.ts";
import { withUpdates } from "../../git/ref-update.ts";
import type { RepoId } from "../../grasp/repo-id.ts";
import { type PoolId, poolPath, type RepositoryKey, repositoryKey } from "../../pool/layout.ts";
import type { Alignment, AlignOutcome, HostedRepository, RepositoryHost } from "../../settle/ports.ts";
import { isEmptyPlan } from "../../settle/ref-plan.ts";
import { type Kind, ObjectFacts, type ObjectReader } from "./object-facts.ts";
import { type Housing, RepositoryHouse } from "./repository-house.ts";
import { readSettled, retaining, type SettledFile, writeSettled } from "./settled-file.ts";

/** Repositories whose refs stay in memory: a ref costs about 200 bytes, and a thousand repositories with a thousand refs each are 200 MB. */
const LOADED_MAX = 1_000;
/** Pushes and settlements behind each other in one repository; more than these would wait for minutes. */
const LANE_MAX = 256;

export interface HostOptions {
  readonly gitDataPath: string;
  readonly objects: ObjectReader;
  readonly clock: Clock;
  /** A repository that cannot be read: it is left out, and the others go on. */
  readonly fault: (where: string, error: unknown) => void;
  /** Called between any two changes of the disk: where tests end the process. */
  readonly step?: (name: string) => void | Promise<void>;
}

/** A repository as it is on disk. */
export interface Loaded {
  /** `undefined`: it was not made yet (grasp.md 5.5). */
  readonly housing: Housing | undefined;
  readonly refs: RefMap;
  readonly settled: SettledFile;
}

/** A repository under its lock: nobody else moves its refs meanwhile. */
export interface LockedRepository {
  readonly now: Loaded;
  /**
   * Made now if it is not there, with this pool (`poolOf`, asked before the lock is taken) or one of its own. One that nothing was ever in is made again
   * for another format; of one that has a format already, another is refused (grasp.md 6.4).
   */
  make(format: ObjectFormat, pool: PoolId | undefined): Promise<Housing>;
  /** After a refusal or a fault `now` is what it was before; the next lock reads the disk. */
  apply(transaction: RefTransaction): Promise<TransactionOutcome>;
  record(settled: SettledFile): Promise<void>;
}

/** Every repository of this server. Refs are in memory and true, because everything that moves them goes through a lane here. */
export class GitRepositoryHost implements RepositoryHost {
  readonly house: RepositoryHouse;
  readonly #options: HostOptions;
  readonly #facts: ObjectFacts;
  readonly #lanes = new Lanes<RepositoryKey>(LANE_MAX);
  readonly #loaded = new BoundedMap<RepositoryKey, Loaded>(LOADED_MAX);
  /** Where an earlier process's crash was looked for: a lock that appears later is somebody's. */
  readonly #recovered = new Set<RepositoryKey>();

  constructor(options: HostOptions) {
    this.#options = options;
    this.#facts = new ObjectFacts(options.objects);
    this.house = new RepositoryHouse(options.gitDataPath);
  }

  async read(repo: RepoId): Promise<HostedRepository> {
    const { housing, refs, settled } = await this.#load(repo);
    const { standing, aligned } = settled;
    return { refs, standing, aligned, format: isDecided({ refs, settled }) ? housing?.format : undefined };
  }

  /** What annotated tags of these refs finally name, for advertisements. */
  async peeled(repo: RepoId): Promise<ReadonlyMap<Oid, Oid>> {
    const { housing, refs } = await this.#load(repo);
    const tags = [...refs.refs].flatMap(([name, oid]) => (isTag(name) ? [oid] : []));
    return housing === undefined ? new Map() : this.#facts.peel(housing.directory, tags);
  }

  async lookUp(repo: RepoId, mates: readonly RepoId[], oids: Iterable<Oid>): Promise<ReadonlyMap<Oid, Kind>> {
    const { housing, refs } = await this.#load(repo);
    const found = new Map<Oid, Kind>();
    // Permanent storage is closed (grasp.md 9.5), so what a ref names is here and need not be asked for again.
    const named = new Set(refs.refs.values());
    const asked: Oid[] = [];
    for (const oid of new Set(oids)) {
      const kind = named.has(oid) ? this.#facts.kindOf(oid) : undefined;
      if (kind === undefined) asked.push(oid);
      else found.set(oid, kind);
    }
    // An id of the other format is not asked for: git would take it for the name of a ref.
    for (const [format, some] of Map.groupBy(asked, formatOf)) {
      const own = housing?.format === format ? housing.directory : undefined;
      const gitDir = housing === undefined ? await this.#poolDirectory(mates, format) : own;
      if (gitDir === undefined) continue;
      for (const [oid, kind] of await this.#facts.look(gitDir, some)) found.set(oid, kind);
    }
    return found;
  }

  async align(repo: RepoId, alignment: Alignment): Promise<AlignOutcome> {
    const { plan, format, mates, retain, retainUntil } = alignment;
    const { head } = plan;
    const pool = format === undefined ? undefined : await this.poolOf(mates, format);
    return this.locked(repo, async (locked) => {
      if (head !== undefined && locked.now.refs.head !== head.from) return this.#moved(repo, "HEAD");
      if (locked.now.housing === undefined) {
        invariant(format !== undefined, "a repository is made for a state, and that has a format");
        await locked.make(format, pool);
      }
      // What is retained is on disk before refs let go of it, and what was aligned to after they moved.
      if (retain.length > 0) await locked.record(retaining(locked.now.settled, retain, retainUntil, this.#options.clock.now()));
      if (!isEmptyPlan(plan)) {
        const outcome = await locked.apply({ updates: plan.transactions.flat(), head: head?.to });
        if (outcome.kind === "moved") return this.#moved(repo, outcome.ref);
        if (outcome.kind === "clash") return this.#moved(repo, outcome.refs.join(" beside "));
      }
      const { standing, aligned } = alignment.settled;
      const before = locked.now.settled;
      const isSame = before.standing === standing && before.aligned?.id === aligned?.id;
      if (!isSame) await locked.record({ ...before, standing, aligned });
      return { kind: "aligned" };
    });
  }

  async *aligned(): ReturnType<RepositoryHost["aligned"]> {
    for await (const directory of this.house.directories()) {
      const settled = await readSettled(directory).catch((error: unknown) => this.#options.fault("reading a repository", error));
      if (settled?.aligned !== undefined) yield { repo: settled.repo, state: settled.aligned };
    }
  }

  /** The pool of the first of these mates that has one of this format; a repository that was closed is held apart (grasp.md 7.13, 11.4). */
  async poolOf(mates: readonly RepoId[], format: ObjectFormat): Promise<PoolId | undefined> {
    for (const mate of mates) {
      const { housing, settled } = await this.#load(mate);
      const isHeld = settled.standing === "waiting" && settled.aligned !== undefined;
      if (housing?.format === format && !isHeld) return housing.home;
    }
    return undefined;
  }

  /** For whoever moves refs: settling, and pushes. It must not lock another repository inside. */
  locked<T>(repo: RepoId, work: (locked: LockedRepository) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const key = repositoryKey(repo);
    const { step } = this.#options;
    const run = async (): Promise<T> => {
      let now = await this.#loadAlone(repo, key);
      const become = (next: Loaded): void => {
        now = next;
        this.#loaded.set(key, next);
      };
      return work({
        get now() {
          return now;
        },
        make: async (format, pool) => {
          if (now.housing?.format === format) return now.housing;
          if (now.housing !== undefined) {
            if (isDecided(now)) throw new FaultError({ kind: "protocol", what: `the repository has the format ${now.housing.format}` });
            become(await this.#remove(repo, now.housing));
          }
          const housing = await this.house.make(repo, format, pool);
          await step?.("made");
          this.#recovered.add(key);
          become({ ...now, housing, refs: await readRefs(housing.directory) });
          return housing;
        },
        apply: async (transaction) => {
          const directory = directoryOf(now);
          // Until it is known what came of it, memory says nothing.
          this.#loaded.delete(key);
          const outcome = await applyRefs(directory, transaction, this.#tools(directory));
          const refs = { refs: withUpdates(now.refs.refs, transaction.updates), head: transaction.head ?? now.refs.head };
          if (outcome.kind === "applied") become({ ...now, refs });
          return outcome;
        },
        record: async (settled) => {
          await writeSettled(directoryOf(now), settled);
          await step?.("record");
          become({ ...now, settled });
        },
      });
    };
    return this.#lanes.run(key, run, signal);
  }

  /** grasp.md 6.2: takes the directory of a repository that nothing was ever in; true when there was one. */
  removeUnused(repo: RepoId): Promise<boolean> {
    const key = repositoryKey(repo);
    return this.#lanes.run(key, async () => {
      const now = await this.#loadAlone(repo, key);
      if (now.housing === undefined || isDecided(now)) return false;
      this.#loaded.set(key, await this.#remove(repo, now.housing));
      return true;
    });
  }

  async #remove(repo: RepoId, { directory }: Housing): Promise<Loaded> {
    await this.#facts.forget(directory);
    await this.house.remove(repo);
    return { housing: undefined, refs: EMPTY_REFS, settled: unsettled(repo) };
  }

  async #load(repo: RepoId): Promise<Loaded> {
    const key = repositoryKey(repo);
    return this.#loaded.get(key) ?? this.#lanes.run(key, () => this.#loadAlone(repo, key));
  }

  /** In its lane, so that nothing moves between reading and remembering. What a crash left is finished before anybody sees it (grasp.md 6.8). */
  async #loadAlone(repo: RepoId, key: RepositoryKey): Promise<Loaded> {
    const known = this.#loaded.get(key);
    if (known !== undefined) return known;
    const housing = await this.house.find(repo);
    if (housing !== undefined && !this.#recovered.has(key)) {
      await recoverRefs(housing.directory, this.#tools(housing.directory));
      this.#recovered.add(key);
    }
    const settled = housing === undefined ? undefined : await readSettled(housing.directory);
    const loaded: Loaded = {
      housing,
      refs: housing === undefined ? EMPTY_REFS : await readRefs(housing.directory),
      settled: settled ?? unsettled(repo),
    };
    this.#loaded.set(key, loaded);
    return loaded;
  }

  /** Somebody else has written here: the next one reads the disk. */
  #moved(repo: RepoId, what: string): AlignOutcome {
    this.#loaded.delete(repositoryKey(repo));
    return { kind: "moved", what };
  }

  async #poolDirectory(mates: readonly RepoId[], format: ObjectFormat): Promise<string | undefined> {
    const pool = await this.poolOf(mates, format);
    return pool === undefined ? undefined : this.house.at(poolPath(pool));
  }

  #tools(directory: string): TransactionTools {
    const { step } = this.#options;
    return { peel: (oids) => this.#facts.peel(directory, oids), ...(step === undefined ? {} : { step }) };
  }
}

const unsettled = (repo: RepoId): SettledFile => ({ repo, standing: "waiting", aligned: undefined, retained: new Map() });

/** One that only waits for its first objects has no format yet that could not be another (grasp.md 6.4). */
const isDecided = ({ refs, settled }: Pick<Loaded, "refs" | "settled">): boolean => refs.refs.size > 0 || settled.aligned !== undefined;

function directoryOf({ housing }: Loaded): string {
  invariant(housing !== undefined, "a repository is made before it is written to");
  return housing.directory;
}
