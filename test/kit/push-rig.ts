import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import type { Clock } from "../../src/base/clock.ts";
import { Lanes } from "../../src/base/io/lane.ts";
import { unixSeconds } from "../../src/base/time.ts";
import { receiveAdvertisement } from "../../src/git/advertisement.ts";
import { Objects } from "../../src/git/io/objects.ts";
import { Quarantine } from "../../src/git/io/quarantine.ts";
import { readRefs } from "../../src/git/io/refs.ts";
import { createRepository } from "../../src/git/io/repository.ts";
import { applyRefs } from "../../src/git/io/transaction.ts";
import type { ObjectFormat, Oid } from "../../src/git/oid.ts";
import type { RefUpdate } from "../../src/git/ref-update.ts";
import type { Identifier } from "../../src/grasp/identifier.ts";
import type { OverlayRecord } from "../../src/grasp/overlay.ts";
import type { PullRequest } from "../../src/grasp/pull-request.ts";
import type { RepoId } from "../../src/grasp/repo-id.ts";
import type { RepoState } from "../../src/grasp/state.ts";
import type { EventId, PublicKey } from "../../src/nostr/event.ts";
import type { PushFacts } from "../../src/policy/push-facts.ts";
import { pushEndpoint } from "../../src/smart-http/io/push-endpoint.ts";
import type { PushLimits } from "../../src/smart-http/io/push-limits.ts";
import { QuarantineArrival } from "../../src/smart-http/io/quarantine-arrival.ts";
import type { Arrival, ArrivalRequest, PushHost, RefOutcome, UnsignedTip } from "../../src/smart-http/push-ports.ts";
import { GitRig, gitBytes, git as gitNow, ref } from "./git-rig.ts";
import { type GitRun, runGit } from "./real-git.ts";

export const ALICE = "a".repeat(64) as PublicKey;
export const MALLORY = "e".repeat(64) as PublicKey;
export const REPO: RepoId = { owner: ALICE, identifier: "demo" as Identifier };

let count = 0;
/** A state of alice's; later ones are newer. */
export function stateOf(refs: Readonly<Record<string, Oid>>, author: PublicKey = ALICE): RepoState {
  const n = ++count;
  return {
    id: n.toString(16).padStart(64, "0") as EventId,
    author,
    identifier: REPO.identifier,
    createdAt: unixSeconds(1_700_000_000 + n),
    refs: new Map(Object.entries(refs).map(([name, oid]) => [ref(name), oid])),
    head: undefined,
    flaw: undefined,
  };
}

/** One real bare repository; what the rest of the server would know is plain fields, and each step may be held up. */
export class TestPushHost implements PushHost {
  readonly log: string[] = [];
  states: RepoState[] = [];
  served: RepoState | undefined;
  overlay: OverlayRecord[] = [];
  readonly pullRequests = new Map<EventId, PullRequest>();
  readonly staged = new Map<EventId, Oid[]>();
  stageRefusal: string | undefined;
  unsignedBytesLeft = 1024 * 1024;
  isKnown = true;
  reserve: () => boolean = () => true;
  beforeLane: () => Promise<void> = async () => undefined;
  beforeMove: () => Promise<void> = async () => undefined;
  settling: () => Promise<void> = async () => undefined;
  epoch = 0;
  readonly #rig: GitRig;
  readonly #objects: Objects;
  readonly #lanes = new Lanes<string>(100);
  readonly gitDir: string;
  readonly format: ObjectFormat;

  constructor(rig: GitRig, objects: Objects, gitDir: string, format: ObjectFormat) {
    this.format = format;
    this.#rig = rig;
    this.#objects = objects;
    this.gitDir = gitDir;
  }

  async facts(): Promise<PushFacts | undefined> {
    if (!this.isKnown) return undefined;
    return {
      repo: REPO,
      confirmed: new Set([ALICE]),
      present: await readRefs(this.gitDir),
      format: this.served === undefined ? undefined : this.format,
      states: this.states,
      servedState: this.served,
      overlay: this.overlay,
      pullRequests: this.pullRequests,
      unsigned: { tips: this.staged, tipsPerIdMax: 4, bytesLeft: this.unsignedBytesLeft },
    };
  }

  async hasDiskReserve(): Promise<boolean> {
    return this.reserve();
  }

  get quarantines(): string {
    return this.#rig.path("quarantine");
  }
  get staging(): string {
    return this.#rig.path("staging.git");
  }

  async open(_: RepoId, { format, unsigned }: ArrivalRequest): Promise<Arrival> {
    this.log.push(unsigned.length > 0 ? "open staging" : "open");
    const isStaging = unsigned.length > 0;
    if (isStaging && !existsSync(this.staging)) await createRepository(this.staging, { format });
    const quarantine = await Quarantine.open(this.#rig.processes, this.#rig.clock, {
      gitDir: this.gitDir,
      objects: `${isStaging ? this.staging : this.gitDir}/objects`,
      path: `${this.quarantines}/q${++count}`,
      format,
    });
    const held = (): Iterable<Oid> => [];
    const arrival = new QuarantineArrival({ quarantine, objects: this.#objects, held, epoch: () => this.epoch });
    return isStaging ? this.#stagingArrival(arrival, quarantine) : arrival;
  }

  #stagingArrival(arrival: QuarantineArrival, quarantine: Quarantine): Arrival {
    return {
      receive: (source, options) => arrival.receive(source, options),
      problems: (tips) => arrival.problems(tips),
      isStillConnected: (tips) => arrival.isStillConnected(tips),
      migrate: async (tips) => {
        await quarantine.migrate();
        const env = { GIT_ALTERNATE_OBJECT_DIRECTORIES: `${this.gitDir}/objects` };
        const input = `${tips.join("\n")}\n`;
        const pack = gitBytes(["pack-objects", "--stdout", "--revs", "-q"], { cwd: this.staging, env, input });
        gitNow(["index-pack", "--stdin"], { cwd: this.gitDir, input: pack });
      },
      stage: async ({ event, tip }: UnsignedTip) => {
        if (this.stageRefusal !== undefined) return this.stageRefusal;
        await quarantine.migrate();
        this.log.push("stage");
        this.staged.set(event, [...(this.staged.get(event) ?? []), tip]);
        return undefined;
      },
      [Symbol.asyncDispose]: () => arrival[Symbol.asyncDispose](),
    };
  }

  inLane<T>(_: RepoId, work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    this.log.push("lane");
    return this.#lanes.run(
      "demo",
      async () => {
        await this.beforeLane();
        return work();
      },
      signal,
    );
  }

  async recordOverlay(records: readonly OverlayRecord[]): Promise<void> {
    this.log.push("overlay");
    this.overlay.push(...records);
  }

  async moveRefs(_: RepoId, updates: readonly RefUpdate[]): Promise<RefOutcome> {
    await this.beforeMove();
    this.log.push("move");
    const peel = async (oids: readonly Oid[]) =>
      new Map([...(await this.#objects.peel(this.gitDir, oids))].map(([tag, { oid }]) => [tag, oid] as const));
    return applyRefs(this.gitDir, { updates }, { peel });
  }

  settle(): Promise<void> {
    this.log.push("settle");
    return this.settling();
  }
}

export interface PushRigOptions {
  /** Of the endpoint; git has the machine's. */
  readonly clock?: Clock;
  readonly limits?: PushLimits;
  readonly isWithoutSideBand?: boolean;
  readonly format?: ObjectFormat;
}

/** A plain HTTP server with the endpoint under test, before one bare repository. */
export class PushRig implements AsyncDisposable {
  readonly rig: GitRig;
  readonly host: TestPushHost;
  readonly faults: unknown[] = [];
  /** Where commits are made. */
  readonly work: string;
  readonly requests: string[] = [];
  readonly #objects: Objects;
  readonly #server: Server;
  readonly #running = new Set<Promise<void>>();

  private constructor(rig: GitRig, objects: Objects, gitDir: string, options: PushRigOptions) {
    const { format = "sha1" } = options;
    this.rig = rig;
    this.#objects = objects;
    this.work = rig.path("work.git");
    this.host = new TestPushHost(rig, objects, gitDir, format);
    const { clock = rig.clock, limits } = options;
    const report = { gitExit: () => undefined, fault: (_: string, error: unknown) => void this.faults.push(error) };
    const push = pushEndpoint({ host: this.host, clock, report, ...(limits === undefined ? {} : { limits }) });
    const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
      this.requests.push(`${request.method} ${request.headers["content-length"] ?? request.headers["transfer-encoding"] ?? "-"}`);
      if (request.method === "GET") return this.#advertise(response, options);
      const running = push(request, response, { repo: REPO, part: "service", service: "receive-pack" }, { limitKey: "client" });
      this.#running.add(running);
      await running.finally(() => this.#running.delete(running));
    };
    this.#server = createServer((request, response) => void answer(request, response));
    this.#server.on("checkContinue", (request: IncomingMessage, response: ServerResponse) => void answer(request, response));
  }

  static async open(options: PushRigOptions = {}): Promise<PushRig> {
    const { format = "sha1" } = options;
    const rig = await GitRig.open();
    const gitDir = rig.path("served.git");
    await createRepository(gitDir, { format });
    await createRepository(rig.path("work.git"), { format });
    const made = new PushRig(rig, new Objects(rig.processes, rig.clock), gitDir, options);
    made.#server.listen(0, "127.0.0.1");
    await once(made.#server, "listening");
    return made;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }
  get url(): string {
    return `http://127.0.0.1:${this.port}/demo.git`;
  }

  push(args: readonly string[], config: readonly string[] = []): Promise<GitRun> {
    return this.pushFrom(this.work, args, config);
  }
  pushFrom(cwd: string, args: readonly string[], config: readonly string[] = []): Promise<GitRun> {
    return runGit([...config.flatMap((setting) => ["-c", setting]), "push", "--porcelain", ...args], { cwd });
  }

  /** A pack as a client makes it for an empty repository. */
  packOf(wants: readonly Oid[]): Buffer {
    return gitBytes(["pack-objects", "--stdout", "--revs", "-q"], { cwd: this.work, input: `${wants.join("\n")}\n` });
  }

  /** The refs that are served, by git's own account. */
  refs(): Record<string, string> {
    const lines = gitNow(["for-each-ref", "--format=%(refname) %(objectname)"], { cwd: this.host.gitDir }).split("\n");
    return Object.fromEntries(lines.filter((line) => line !== "").map((line) => line.split(" ")));
  }

  leftInQuarantine(): string[] {
    return existsSync(this.host.quarantines) ? readdirSync(this.host.quarantines) : [];
  }
  packs(): number {
    return readdirSync(`${this.host.gitDir}/objects/pack`).filter((name) => name.endsWith(".pack")).length;
  }

  async post(body: Uint8Array | string, headers: Record<string, string> = {}): Promise<{ status: number; body: string; headers: Headers }> {
    const response = await fetch(`${this.url}/git-receive-pack`, { method: "POST", body: Buffer.from(body), headers });
    return { status: response.status, body: Buffer.from(await response.arrayBuffer()).toString("latin1"), headers: response.headers };
  }

  /** A connection that has sent this much of a push and may go at any time. */
  async begin(bytes: Uint8Array, length: number): Promise<Socket> {
    const socket = connect(this.port, "127.0.0.1");
    socket.on("error", () => undefined);
    await once(socket, "connect");
    socket.write(`POST /demo.git/git-receive-pack HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n\r\n`);
    socket.write(bytes);
    return socket;
  }

  /** Resolves when no push is being answered. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  async #advertise(response: ServerResponse, { isWithoutSideBand = false }: PushRigOptions): Promise<void> {
    const bytes = receiveAdvertisement({ refs: await readRefs(this.host.gitDir), format: this.host.format }, [], "holdfast/test", 0);
    const text = Buffer.from(bytes).toString("latin1");
    response.setHeader("Content-Type", "application/x-git-receive-pack-advertisement");
    // A word of the same length that nobody knows.
    response.end(Buffer.from(isWithoutSideBand ? text.replace("side-band-64k", "side-bend-64k") : text, "latin1"));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await this.idle();
    await this.#objects[Symbol.asyncDispose]();
    await this.rig[Symbol.asyncDispose]();
  }
}
