import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Chance } from "../bench/chance.ts";
import { Drive } from "../kit/write-drive.ts";
import { type Lane, makeLanes } from "../kit/write-load.ts";
import { checkServed } from "./kill-check.ts";
import { checkFeed, checkIndexes, checkIntegrity, type FeedMemory, readBackfill } from "./kill-file-check.ts";
import { KillableServer, relayDirectory } from "./kill-server.ts";

const CONNECTIONS = 8;
const IN_FLIGHT = 8;
/** Between two kills under load. */
const OKS_AT_LEAST = 200;
/** A log of 10,000 pages is full after some three hundred large versions; a round that has not met a checkpoint by then never will. */
const CHECKPOINT_OKS_MAX = 5_000;
/** A stop is mostly over after the largest of these. */
const STOP_MS = [5, 50, 300] as const;

/**
 * `load`: in the middle of writing. `checkpoint`: while the log is copied back. `stop`: SIGTERM under load, SIGKILL on its heels. `first-write`: with the
 * first events of a run under way. `start`: before it listens. `birth`: the same on an empty directory.
 */
export type Moment = "load" | "checkpoint" | "stop" | "first-write" | "start" | "birth";

export interface KillFigures {
  kills: Record<Moment, number>;
  /** Kills of the moment `checkpoint` that left a checkpoint half done, by SQLite's own book-keeping. */
  halfCheckpoints: number;
  /** The server had stopped before the kill came. */
  stopsThatWon: number;
  oks: number;
  oksBetweenKillsMin: number;
  idsAsked: number;
  unansweredThere: number;
  unansweredNot: number;
  lookUps: number;
  servedAtTheEnd: number;
  feedLength: number;
}

/** A server, its data and everything that was ever sent to it; killed again and again at moments that a seed draws. */
export class KillRun implements AsyncDisposable {
  readonly figures: KillFigures = {
    kills: { load: 0, checkpoint: 0, stop: 0, "first-write": 0, start: 0, birth: 0 },
    halfCheckpoints: 0,
    stopsThatWon: 0,
    oks: 0,
    oksBetweenKillsMin: Number.POSITIVE_INFINITY,
    idsAsked: 0,
    unansweredThere: 0,
    unansweredNot: 0,
    lookUps: 0,
    servedAtTheEnd: 0,
    feedLength: 0,
  };
  readonly #chance: Chance;
  readonly #dataDir: string;
  readonly #lanes: readonly Lane[];
  readonly #feed: FeedMemory = [];
  readonly #problems: string[] = [];
  #server: KillableServer | undefined;
  /** How long a start took last: kills during start-up are drawn from it. */
  #startMs = 500;
  /** What the last checkpoint before this round had set out to copy, in a round that waits for one. */
  #attemptedBefore: number | undefined;

  private constructor(seed: string, dataDir: string, now: number) {
    this.#chance = new Chance(`${seed}:moments`);
    this.#dataDir = dataDir;
    this.#lanes = makeLanes(seed, CONNECTIONS, now);
  }

  static async begin(seed: string): Promise<KillRun> {
    return new KillRun(seed, await mkdtemp(join(tmpdir(), "holdfast-kill-")), Math.floor(Date.now() / 1000));
  }

  /** Everything that was found wrong. */
  get problems(): readonly string[] {
    return this.#problems;
  }

  /** The moments in an order that the seed draws. */
  shuffled(moments: readonly Moment[]): Moment[] {
    return moments
      .map((moment) => ({ moment, lot: this.#chance.next() }))
      .sort((a, b) => a.lot - b.lot)
      .map(({ moment }) => moment);
  }

  /** One kill at such a moment, and every check after it. */
  async round(moment: Moment): Promise<void> {
    if (moment === "birth" || moment === "start") await this.#killWhileStarting(moment);
    else {
      const url = await this.#start();
      if (moment === "first-write") await this.#killAtFirstWrite(url);
      else await this.#killUnderLoad(url, moment);
      this.figures.kills[moment]++;
    }
    if (this.#problems.length > 0) throw new Error(`after a kill at the moment \`${moment}\`:\n${this.#problems.slice(0, 20).join("\n")}`);
  }

  /** The last start, a graceful stop, and a look at the files themselves. */
  async end(): Promise<void> {
    await this.#start();
    const server = this.#server as KillableServer;
    server.signal("SIGTERM");
    await server.ended;
    if (server.exitCode !== 0) this.#problems.push(`a graceful stop ended with ${server.exitCode}\n${server.output.slice(-2_000)}`);
    const directory = relayDirectory(this.#dataDir);
    this.figures.feedLength = await checkFeed(directory, this.#feed, this.#problems);
    checkIntegrity(directory, this.#problems);
    this.figures.servedAtTheEnd = await checkIndexes(directory, this.#lanes, this.#problems);
    if (this.#problems.length > 0) throw new Error(`at the end:\n${this.#problems.slice(0, 20).join("\n")}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server?.kill();
    await rm(this.#dataDir, { recursive: true, force: true });
  }

  /** Starts on what the last kill left and checks everything that was ever answered. */
  async #start(): Promise<string> {
    this.#server = await KillableServer.spawn(this.#dataDir);
    const url = await this.#server.ready();
    this.#startMs = performance.now() - this.#server.began;
    const checked = await checkServed(url, this.#lanes, this.#problems);
    this.figures.idsAsked += checked.askedById;
    this.figures.unansweredThere += checked.unansweredThere;
    this.figures.unansweredNot += checked.unansweredNot;
    this.figures.lookUps += checked.lookUps;
    return url;
  }

  async #killWhileStarting(moment: "birth" | "start"): Promise<void> {
    if (moment === "birth") {
      for (const lane of this.#lanes) if (lane.everSent.size > 0) throw new Error("a birth comes before everything else");
      if (this.#chance.next() < 0.5) await rm(relayDirectory(this.#dataDir), { recursive: true, force: true });
    }
    const server = await KillableServer.spawn(this.#dataDir);
    this.#server = server;
    await wait(this.#chance.next() * this.#startMs * 1.1);
    if (server.isGone) this.#problems.push(`a start ended by itself with ${server.exitCode}\n${server.output.slice(-2_000)}`);
    await server.kill();
    this.figures.kills[moment]++;
  }

  async #killAtFirstWrite(url: string): Promise<void> {
    const depth = 1 + this.#chance.below(IN_FLIGHT);
    const drive = await Drive.start(url, this.#lanes, { depth, bulk: false, onAnswer: () => drive.stop() });
    await wait(this.#chance.next() * 6);
    await this.#endWith(drive);
  }

  async #killUnderLoad(url: string, moment: "load" | "checkpoint" | "stop"): Promise<void> {
    const server = this.#server as KillableServer;
    const enough = OKS_AT_LEAST + this.#chance.below(OKS_AT_LEAST);
    const laterMs = this.#chance.next() * (moment === "stop" ? this.#chance.pick(STOP_MS) : 4);
    const reached = Promise.withResolvers<void>();
    const drive = await Drive.start(url, this.#lanes, {
      depth: IN_FLIGHT,
      bulk: moment === "checkpoint",
      onAnswer: (count) => {
        if (count === enough) reached.resolve();
      },
    });
    await Promise.race([reached.promise, drive.ended]);
    if (moment === "checkpoint") await this.#untilCheckpoint(drive);
    if (moment === "stop") server.signal("SIGTERM");
    if (laterMs > 0.5) await wait(moment === "checkpoint" ? laterMs / 4 : laterMs);
    await this.#endWith(drive);
    this.figures.oksBetweenKillsMin = Math.min(this.figures.oksBetweenKillsMin, drive.answers);
    if (drive.answers < OKS_AT_LEAST) this.#problems.push(`only ${drive.answers} OKs before the kill\n${server.output.slice(-2_000)}`);
  }

  async #untilCheckpoint(drive: Drive): Promise<void> {
    const directory = relayDirectory(this.#dataDir);
    const before = readBackfill(directory).attempted;
    this.#attemptedBefore = before;
    for (;;) {
      const { done, attempted } = readBackfill(directory);
      if (attempted !== before && attempted > done) return;
      if (drive.answers > CHECKPOINT_OKS_MAX) throw new Error("no checkpoint was met");
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** Kills, then hears every OK that was on its way and looks at the files. */
  async #endWith(drive: Drive): Promise<void> {
    const server = this.#server as KillableServer;
    const directory = relayDirectory(this.#dataDir);
    if (server.isGone) this.figures.stopsThatWon++;
    await server.kill();
    await drive.ended;
    this.#problems.push(...drive.problems);
    this.figures.oks += drive.answers;
    if (this.#attemptedBefore !== undefined) {
      const { done, attempted } = readBackfill(directory);
      if (attempted !== this.#attemptedBefore && attempted > done) this.figures.halfCheckpoints++;
      this.#attemptedBefore = undefined;
    }
    // Half of the time the server itself is the first to open what was left.
    if (this.#chance.next() < 0.5) {
      this.figures.feedLength = await checkFeed(directory, this.#feed, this.#problems);
      checkIntegrity(directory, this.#problems);
    }
  }
}

/** Fractions of a millisecond count here, and sockets are read meanwhile. */
async function wait(ms: number): Promise<void> {
  const until = performance.now() + ms;
  while (performance.now() < until) await new Promise((resolve) => setImmediate(resolve));
}
