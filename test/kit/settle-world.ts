import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { GitRepositoryHost, type HostOptions } from "../../src/app/io/repository-host.ts";
import type { Housing } from "../../src/app/io/repository-house.ts";
import type { Clock } from "../../src/base/clock.ts";
import { plus } from "../../src/base/time.ts";
import type { GitProcesses } from "../../src/git/io/git-process.ts";
import { Objects } from "../../src/git/io/objects.ts";
import type { ObjectFormat, Oid } from "../../src/git/oid.ts";
import { type Identifier, readIdentifier } from "../../src/grasp/identifier.ts";
import type { RepoId } from "../../src/grasp/repo-id.ts";
import { type EventId, eventText, type PublicKey, type VerifiedEvent } from "../../src/nostr/event.ts";
import { poolPath } from "../../src/pool/layout.ts";
import { EvidenceReader, type EvidenceSources } from "../../src/settle/io/evidence-reader.ts";
import { SettleService } from "../../src/settle/io/settle-service.ts";
import type { RepositoryHost } from "../../src/settle/ports.ts";
import type { Batch, Change } from "../../src/store/batch.ts";
import { type FeedChange, seq } from "../../src/store/event-store.ts";
import type { HeldWhat } from "../../src/store/held.ts";
import { openReader, openWriter } from "../../src/store/io/sqlite-store.ts";
import { sign, type WireEvent } from "./event-builder.ts";
import { commit, git } from "./git-rig.ts";
import type { Actor } from "./keys.ts";

export const NAME = readIdentifier("tool") as Identifier;
const WAIT_MS = 30 * 60_000;
const WHATS: Readonly<Record<number, HeldWhat>> = { 30_617: "announcement", 30_618: "state", 1_618: "pull-request", 1_619: "pull-request" };

export interface WorldOptions {
  readonly processes: GitProcesses;
  readonly clock: Clock;
  readonly step?: HostOptions["step"];
  /** Called before a batch is applied. */
  readonly beforeCommit?: (batch: Batch) => void | Promise<void>;
  readonly isHosted?: EvidenceSources["isHosted"];
  readonly wrap?: (host: GitRepositoryHost) => RepositoryHost;
}

/** The real store, real repositories and settling between them, on one directory; opened again on the same one it is a restart. */
export class SettleWorld implements AsyncDisposable {
  readonly faults: string[] = [];
  readonly host: GitRepositoryHost;
  readonly service: SettleService;
  readonly #writer: ReturnType<typeof openWriter>;
  readonly store: ReturnType<typeof openReader>;
  readonly #objects: Objects;
  readonly #clock: Clock;
  readonly data: string;
  commits = 0;

  constructor(directory: string, { processes, clock, step, beforeCommit, wrap, isHosted = () => true }: WorldOptions) {
    const relay = join(directory, "relay");
    this.data = join(directory, "git");
    for (const path of [relay, this.data]) mkdirSync(path, { recursive: true });
    this.#clock = clock;
    this.#writer = openWriter(relay, () => 7);
    this.store = openReader(relay);
    this.#objects = new Objects(processes, clock);
    const fault = (where: string, error: unknown) => void this.faults.push(`${where}: ${String(error)}`);
    const options = { gitDataPath: this.data, objects: this.#objects, clock, fault };
    this.host = new GitRepositoryHost({ ...options, ...(step === undefined ? {} : { step }) });
    const { reader, held } = this.store;
    const host = wrap?.(this.host) ?? this.host;
    const evidence = new EvidenceReader({ reader, held, host, clock, policy: () => "reciprocal", isHosted, fault });
    const ports = {
      commit: async (batch: Batch) => {
        await beforeCommit?.(batch);
        this.commits += 1;
        await this.apply(batch);
      },
      fault,
    };
    this.service = new SettleService({ evidence, held, host, clock, ports });
  }

  apply(batch: Batch): Promise<readonly FeedChange[]> {
    return this.#writer.writer.transact((tx) => tx.apply(batch));
  }

  async hold(...events: readonly WireEvent[]): Promise<void> {
    const heldAt = this.#clock.now();
    const changes = events.map((wire): Change => {
      const event = wire as unknown as VerifiedEvent;
      const repositories = event.tags.filter(([name]) => name === "a").map(([, value = ""]) => value);
      const what = WHATS[event.kind] as HeldWhat;
      const until = plus(heldAt, WAIT_MS);
      const fixed = { expiresAt: undefined, provenance: { how: "direct" } } as const;
      return { kind: "hold", event, text: eventText(event), what, repositories, heldAt, until, ...fixed };
    });
    await this.apply(changes);
  }

  /** As a push or a hunt would make it; objects go to the pool of what is returned. */
  make(owner: Actor, format: ObjectFormat = "sha1"): Promise<Housing> {
    return this.host.locked(repoOf(owner), (locked) => locked.make(format, undefined));
  }

  /** Puts a commit into an owner's pool with plain git. */
  async commit(owner: Actor, content: string, parents: readonly string[] = [], format: ObjectFormat = "sha1"): Promise<Oid> {
    const { home } = await this.make(owner, format);
    return commit(this.host.house.at(poolPath(home)), content, parents);
  }

  settle() {
    return this.service.settle(NAME);
  }

  /** What git itself says is there. */
  refs(owner: Actor): Readonly<Record<string, string>> {
    const listed = git(["for-each-ref", "--format=%(refname) %(objectname)"], { cwd: this.host.house.directoryOf(repoOf(owner)) });
    return Object.fromEntries(
      listed
        .split("\n")
        .filter(Boolean)
        .map((line) => line.split(" ")),
    );
  }

  async serves(event: WireEvent): Promise<boolean> {
    return this.store.reader.serves(event.id as EventId);
  }

  stage(event: WireEvent) {
    return this.store.held.waits(event.id as EventId);
  }

  async feed(): Promise<readonly string[]> {
    const lines: string[] = [];
    for await (const slice of this.store.feed.read(seq(0))) {
      for (const change of slice) lines.push(`${change.change} ${change.change === "served" ? change.event.id : change.id}`);
    }
    return lines;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.store.close();
    await this.#writer.close();
    await this.#objects[Symbol.asyncDispose]();
  }
}

export const repoOf = (owner: Actor): RepoId => ({ owner: owner.pubkey as PublicKey, identifier: NAME });
export const coordinateOf = (owner: Actor): string => `30617:${owner.pubkey}:${NAME}`;

export const announce = (who: Actor, maintainers: readonly Actor[] = [], created_at = 1_000): WireEvent =>
  sign(who, {
    kind: 30_617,
    created_at,
    tags: [["d", NAME], ...(maintainers.length === 0 ? [] : [["maintainers", ...maintainers.map(({ pubkey }) => pubkey)]])],
  });

export const state = (who: Actor, refs: Readonly<Record<string, string>>, created_at = 2_000, head = "refs/heads/main"): WireEvent =>
  sign(who, { kind: 30_618, created_at, tags: [["d", NAME], ...Object.entries(refs), ["HEAD", `ref: ${head}`]] });

export const pullRequest = (who: Actor, to: Actor, tip: string, created_at = 3_000): WireEvent =>
  sign(who, {
    kind: 1_618,
    created_at,
    tags: [
      ["a", coordinateOf(to)],
      ["c", tip],
    ],
  });
