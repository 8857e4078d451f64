import { BoundedMap } from "../../base/bounded.ts";
import type { Clock } from "../../base/clock.ts";
import { type Fault, FaultError } from "../../base/fault.ts";
import { plus } from "../../base/time.ts";
import { type Oid, readOid } from "../oid.ts";
import type { GitProcesses, RunningGit } from "./git-process.ts";

export type ObjectType = "commit" | "tree" | "blob" | "tag";

export interface FoundObject {
  readonly oid: Oid;
  readonly type: ObjectType;
}

/** Each is a process of about 5 MB that answers in 0.1 ms; the repositories asked last keep theirs. */
const READERS_MAX = 16;
/** As many questions as a pipe holds answers for are under way at once; the rest are written as answers come. */
const UNANSWERED_MAX = 256;
/** A reader that needs so long is stuck: a disk that is gone, not a question that is hard. */
const ANSWER_MS = 60_000;
/** A reader may end, or be closed for another repository's sake, just when it is wanted. */
const TRIES_MAX = 3;

/** Which objects a repository has, and of what type. One `cat-file --batch-check` per repository stays open. */
export class Objects implements AsyncDisposable {
  readonly #processes: GitProcesses;
  readonly #clock: Clock;
  readonly #readers: BoundedMap<string, Promise<Reader>>;

  constructor(processes: GitProcesses, clock: Clock, readersMax = READERS_MAX) {
    this.#processes = processes;
    this.#clock = clock;
    this.#readers = new BoundedMap(readersMax, (_, reader) => void closeLater(reader));
  }

  /** Those that are there, with their type. */
  async look(gitDir: string, oids: readonly Oid[]): Promise<ReadonlyMap<Oid, ObjectType>> {
    const answers = await this.#ask(gitDir, oids);
    return new Map(answers.flatMap((answer, n) => (answer === undefined ? [] : [[oids[n] as Oid, answer.type]])));
  }

  /** What annotated tags finally name, however many tags lie between; what is no tag, or leads nowhere, is left out. */
  async peel(gitDir: string, oids: readonly Oid[]): Promise<ReadonlyMap<Oid, FoundObject>> {
    const answers = await this.#ask(
      gitDir,
      oids.map((oid) => `${oid}^{}`),
    );
    return new Map(answers.flatMap((answer, n) => (answer === undefined || answer.oid === oids[n] ? [] : [[oids[n] as Oid, answer]])));
  }

  /** The same as ids only, as ref transactions want it. */
  async peeledIds(gitDir: string, oids: readonly Oid[]): Promise<ReadonlyMap<Oid, Oid>> {
    return new Map([...(await this.peel(gitDir, oids))].map(([tag, { oid }]) => [tag, oid]));
  }

  /** Before a repository is removed, or its alternates change: an open reader knows the old ones. */
  async forget(gitDir: string): Promise<void> {
    const reader = this.#readers.peek(gitDir);
    this.#readers.delete(gitDir);
    await closeLater(reader);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const readers = [...this.#readers].map(([, reader]) => reader);
    this.#readers.clear();
    await Promise.all(readers.map(closeLater));
  }

  async #ask(gitDir: string, questions: readonly string[]): Promise<readonly (FoundObject | undefined)[]> {
    if (questions.length === 0) return [];
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      const opening = this.#readers.get(gitDir) ?? this.#open(gitDir);
      const reader = await opening;
      if (!reader.isOver) return reader.ask(questions);
      if (this.#readers.peek(gitDir) === opening) this.#readers.delete(gitDir);
    }
    throw new FaultError({ kind: "busy", what: "readers of objects" });
  }

  #open(gitDir: string): Promise<Reader> {
    const opening = Reader.open(this.#processes, this.#clock, gitDir);
    this.#readers.set(gitDir, opening);
    opening.catch(() => this.#readers.peek(gitDir) === opening && this.#readers.delete(gitDir));
    return opening;
  }
}

async function closeLater(reader: Promise<Reader> | undefined): Promise<void> {
  await (await reader?.catch(() => undefined))?.close();
}

interface Question {
  readonly text: string;
  readonly resolve: (answer: FoundObject | undefined) => void;
  readonly reject: (error: unknown) => void;
}

class Reader {
  readonly #git: RunningGit;
  readonly #clock: Clock;
  readonly #waiting: Question[] = [];
  readonly #asked: Question[] = [];
  #rest = "";
  #isOver = false;
  #isClosing = false;

  private constructor(git: RunningGit, clock: Clock) {
    this.#git = git;
    this.#clock = clock;
    git.stdout.on("data", (chunk: Buffer) => this.#read(chunk.toString("latin1")));
    git.stdout.on("error", () => undefined);
    void git.ended.then(({ fault }) => this.#end(fault ?? { kind: "closed", code: "cat-file" }));
  }

  static async open(processes: GitProcesses, clock: Clock, gitDir: string): Promise<Reader> {
    const format = "--batch-check=%(objectname) %(objecttype)";
    const args = ["--git-dir", gitDir, "cat-file", format];
    return new Reader(await processes.start({ args, purpose: "upkeep", withoutSlot: true }), clock);
  }

  get isOver(): boolean {
    return this.#isOver || this.#isClosing;
  }

  async ask(questions: readonly string[]): Promise<readonly (FoundObject | undefined)[]> {
    const answers = questions.map(
      (text) => new Promise<FoundObject | undefined>((resolve, reject) => void this.#waiting.push({ text, resolve, reject })),
    );
    this.#pump();
    const cancel = this.#clock.at(plus(this.#clock.now(), ANSWER_MS), () => this.#git.kill({ kind: "timeout", afterMs: ANSWER_MS }));
    try {
      return await Promise.all(answers);
    } finally {
      cancel();
    }
  }

  /** What was asked is still answered. */
  async close(): Promise<void> {
    this.#isClosing = true;
    if (this.#waiting.length === 0) this.#git.stdin.end();
    await this.#git.ended;
  }

  #pump(): void {
    const more = this.#waiting.splice(0, UNANSWERED_MAX - this.#asked.length);
    if (more.length > 0) this.#git.stdin.write(more.map(({ text }) => `${text}\n`).join(""));
    this.#asked.push(...more);
    if (this.#isClosing && this.#waiting.length === 0) this.#git.stdin.end();
  }

  #read(text: string): void {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) {
      const question = this.#asked.shift();
      if (question === undefined) return this.#git.kill({ kind: "protocol", what: "cat-file answered more than was asked" });
      question.resolve(readAnswer(line));
    }
    this.#pump();
  }

  #end(fault: Fault): void {
    this.#isOver = true;
    for (const { reject } of [...this.#asked.splice(0), ...this.#waiting.splice(0)]) reject(new FaultError(fault));
  }
}

/** `<id> <type>`; anything else (`missing`, `ambiguous`) is not there. */
function readAnswer(line: string): FoundObject | undefined {
  const [id = "", type = ""] = line.split(" ");
  const oid = readOid(id);
  if (oid === undefined || !/^(?:commit|tree|blob|tag)$/.test(type)) return undefined;
  return { oid, type: type as ObjectType };
}
