import { BoundedMap } from "../../base/bounded.ts";
import type { Clock } from "../../base/clock.ts";
import { FaultError } from "../../base/fault.ts";
import { Lanes } from "../../base/io/lane.ts";
import type { Instant } from "../../base/time.ts";
import type { TransactionTools } from "../../git/io/ref-change.ts";
import { readRefs } from "../../git/io/refs.ts";
import { applyRefs, type RefTransaction, recoverRefs, type TransactionOutcome } from "../../git/io/transaction.ts";
import { formatOf, type ObjectFormat, type Oid } from "../../git/oid.ts";
import { EMPTY_REFS, type RefMap } from "../../git/ref-map.ts";
import { isTag } from "../../git/ref-name.ts";
import { withUpdates } from "../../git/ref-update.ts";
import type { RepoId } from "../../grasp/repo-id.ts";
import { type PoolId, poolPath, type RepositoryKey, repositoryKey } from "../../pool/layout.ts";
import type { Alignment, AlignOutcome, HostedRepository, RepositoryHost, SettledRecord } from "../../settle/ports.ts";
import { isEmptyPlan } from "../../settle/ref-plan.ts";
import { type Housing, RepositoryHouse } from "./repository-house.ts";
import { readSettled, type SettledFile, writeSettled } from "./settled-file.ts";

/** Repositories whose refs stay in memory: a ref costs about 200 bytes, and a thousand repositories with a thousand refs each are 200 MB. */
const LOADED_MAX = 1_000;
/** Types and targets of objects are facts for ever, so they are remembered apart from where the objects are. */
const FACTS_MAX = 200_000;
/** Pushes and settlements behind each other in one repository; more than these would wait for minutes. */
const LANE_MAX = 256;
/** More than a project loses in 90 days; the newest are kept. */
const RETAINED_MAX = 20_000;

/** What is asked of git about objects (git/io/objects.ts). */
export interface ObjectReader {
  look(gitDir: string, oids: readonly Oid[]): Promise<ReadonlyMap<Oid, string>>;
  peel(gitDir: string, oids: readonly Oid[]): Promise<ReadonlyMap<Oid, { readonly oid: Oid }>>;
}

export interface HostOptions {
  readonly gitDataPath: string;
  readonly objects: ObjectReader;
  readonly clock: Clock;
  /** Called between any two changes of the disk: where tests end the process. */
  readonly step?: (name: string) => void | Promise<void>;
}

interface Loaded {
  /** `undefined`: it was not made yet (grasp.md 5.5). */
  readonly housing: Housing | undefined;
  readonly refs: RefMap;
  readonly settled: SettledFile;
}

/** A repository under its lock: nobody else moves its refs meanwhile. */
export interface LockedRepository {
  readonly refs: RefMap;
  readonly settled: SettledRecord;
  readonly housing: Housing | undefined;
  /** Made now if it is not there, with this pool (`poolOf`, asked before the lock is taken) or one of its own. */
  make(format: ObjectFormat, pool: PoolId | undefined): Promise<Housing>;
  apply(transaction: RefTransaction): Promise<TransactionOutcome>;
}

/** Every repository of this server. Refs are in memory and true, because everything that moves them goes through a lane here. */
export class GitRepositoryHost implements RepositoryHost {
  readonly house: RepositoryHouse;
  readonly #options: HostOptions;
  readonly #lanes = new Lanes<RepositoryKey>(LANE_MAX);
  readonly #loaded = new BoundedMap<RepositoryKey, Loaded>(LOADED_MAX);
  /** Where a crash of an earlier process was looked for: later, a lock is somebody's. */
  readonly #recovered = new Set<RepositoryKey>();
  readonly #types = new BoundedMap<Oid, "commit" | "other">(FACTS_MAX);
  readonly #targets = new BoundedMap<Oid, Oid | "itself">(FACTS_MAX);

  constructor(options: HostOptions) {
    this.#options = options;
    this.house = new RepositoryHouse(options.gitDataPath);
  }

  async read(repo: RepoId): Promise<HostedRepository> {
    const { housing, refs, settled } = await this.#load(repo);
    const { standing, aligned } = settled;
    // A repository that only waits for its first objects has no format yet that could not be another (grasp.md 6.4).
    const isDecided = refs.refs.size > 0 || aligned !== undefined;
    return { refs, standing, aligned, format: isDecided ? housing?.format : undefined };
  }

  /** What annotated tags of these refs finally name, for advertisements. */
  async peeled(repo: RepoId): Promise<ReadonlyMap<Oid, Oid>> {
    const { housing, refs } = await this.#load(repo);
    if (housing === undefined) return new Map();
    return this.#peel(
      housing.directory,
      [...refs.refs].filter(([name]) => isTag(name)).map(([, oid]) => oid),
    );
  }

  async lookUp(repo: RepoId, mates: readonly RepoId[], oids: Iterable<Oid>): Promise<ReadonlyMap<Oid, "commit" | "other">> {
    const { housing, refs } = await this.#load(repo);
    const found = new Map<Oid, "commit" | "other">();
    // Permanent storage is closed (grasp.md 9.5): what a ref names is here, and what it is does not change.
    const named = new Set(refs.refs.values());
    const asked: Oid[] = [];
    for (const oid of new Set(oids)) {
      const type = named.has(oid) ? this.#types.get(oid) : undefined;
      if (type === undefined) asked.push(oid);
      else found.set(oid, type);
    }
    for (const [format, some] of Map.groupBy(asked, formatOf)) {
      const gitDir =
        housing === undefined ? await this.#poolDirectory(mates, format) : housing.format === format ? housing.directory : undefined;
      if (gitDir === undefined) continue;
      for (const [oid, type] of await this.#options.objects.look(gitDir, some)) {
        const kind = type === "commit" ? "commit" : "other";
        this.#types.set(oid, kind);
        found.set(oid, kind);
      }
    }
    return found;
  }

  async align(repo: RepoId, alignment: Alignment): Promise<AlignOutcome> {
    const { plan, settled, format } = alignment;
    const { head } = plan;
    const pool = format === undefined ? undefined : await this.poolOf(alignment.mates, format);
    return this.locked(repo, async (locked) => {
      if (head !== undefined && locked.refs.head !== head.from) return this.#moved(repo, "HEAD");
      if (locked.housing === undefined) {
        if (format === undefined) throw new FaultError({ kind: "protocol", what: "a repository of no object format" });
        await locked.make(format, pool);
      }
      if (alignment.retain.length > 0) await this.#record(repo, locked.settled, alignment);
      if (!isEmptyPlan(plan)) {
        const outcome = await locked.apply({ updates: plan.transactions.flat(), head: head?.to });
        if (outcome.kind === "moved") return this.#moved(repo, outcome.ref);
        if (outcome.kind === "clash") return this.#moved(repo, outcome.refs.join(" beside "));
      }
      await this.#record(repo, settled, { retain: [], retainUntil: alignment.retainUntil });
      return { kind: "aligned" };
    });
  }

  async *aligned(): ReturnType<RepositoryHost["aligned"]> {
    for await (const directory of this.house.directories()) {
      const settled = await readSettled(directory);
      if (settled?.aligned !== undefined) yield { repo: settled.repo, state: settled.aligned };
    }
  }

  /** For whoever moves refs: settling, and pushes. */
  locked<T>(repo: RepoId, work: (locked: LockedRepository) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const key = repositoryKey(repo);
    return this.#lanes.run(
      key,
      async () => {
        const first = await this.#loadAlone(repo, key);
        const now = (): Loaded => this.#loaded.peek(key) ?? first;
        return work({
          get refs() {
            return now().refs;
          },
          get settled() {
            return now().settled;
          },
          get housing() {
            return now().housing;
          },
          make: async (format, pool) => now().housing ?? this.#make(repo, key, format, pool),
          apply: (transaction) => this.#apply(key, now(), transaction),
        });
      },
      signal,
    );
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
      settled: settled ?? { repo, standing: "waiting", aligned: undefined, retained: new Map() },
    };
    this.#loaded.set(key, loaded);
    return loaded;
  }

  async #make(repo: RepoId, key: RepositoryKey, format: ObjectFormat, pool: PoolId | undefined): Promise<Housing> {
    const before = await this.#loadAlone(repo, key);
    const housing = await this.house.make(repo, format, pool);
    await this.#options.step?.("made");
    this.#recovered.add(key);
    this.#loaded.set(key, { ...before, housing, refs: await readRefs(housing.directory) });
    return housing;
  }

  async #apply(key: RepositoryKey, before: Loaded, transaction: RefTransaction): Promise<TransactionOutcome> {
    const directory = before.housing?.directory;
    if (directory === undefined) throw new FaultError({ kind: "protocol", what: "refs of a repository that was not made" });
    // Until it is known what came of it, memory says nothing: the next one reads the disk.
    this.#loaded.delete(key);
    const outcome = await applyRefs(directory, transaction, this.#tools(directory));
    if (outcome.kind !== "applied") return outcome;
    const refs = { refs: withUpdates(before.refs.refs, transaction.updates), head: transaction.head ?? before.refs.head };
    this.#loaded.set(key, { ...before, refs });
    return outcome;
  }

  async #record(repo: RepoId, { standing, aligned }: SettledRecord, { retain, retainUntil }: Pick<Alignment, "retain" | "retainUntil">) {
    const key = repositoryKey(repo);
    const before = await this.#loadAlone(repo, key);
    if (before.housing === undefined) return;
    const isSame = before.settled.standing === standing && before.settled.aligned?.id === aligned?.id;
    if (isSame && retain.length === 0) return;
    const now = this.#options.clock.now();
    const all: [Oid, Instant][] = [...before.settled.retained].filter(([oid, until]) => until > now && !retain.includes(oid));
    for (const oid of retain) all.push([oid, retainUntil]);
    const settled = { repo, standing, aligned, retained: new Map(all.slice(-RETAINED_MAX)) };
    await writeSettled(before.housing.directory, settled);
    await this.#options.step?.("record");
    this.#loaded.set(key, { ...before, settled });
  }

  #moved(repo: RepoId, what: string): AlignOutcome {
    this.#loaded.delete(repositoryKey(repo));
    return { kind: "moved", what };
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

  async #poolDirectory(mates: readonly RepoId[], format: ObjectFormat): Promise<string | undefined> {
    const pool = await this.poolOf(mates, format);
    return pool === undefined ? undefined : this.house.at(poolPath(pool));
  }

  #tools(directory: string): TransactionTools {
    const { step } = this.#options;
    return { peel: (oids) => this.#peel(directory, oids), ...(step === undefined ? {} : { step }) };
  }

  async #peel(directory: string, oids: readonly Oid[]): Promise<ReadonlyMap<Oid, Oid>> {
    const asked = oids.filter((oid) => this.#targets.get(oid) === undefined && this.#types.peek(oid) !== "commit");
    const found = await this.#options.objects.peel(directory, asked);
    for (const oid of asked) {
      const target = found.get(oid)?.oid ?? (this.#types.peek(oid) === undefined ? undefined : "itself");
      // Of what is not here nothing is known yet.
      if (target !== undefined) this.#targets.set(oid, target);
    }
    const peeled = new Map<Oid, Oid>();
    for (const oid of oids) {
      const target = this.#targets.peek(oid) ?? found.get(oid)?.oid ?? "itself";
      if (target !== "itself") peeled.set(oid, target);
    }
    return peeled;
  }
}
