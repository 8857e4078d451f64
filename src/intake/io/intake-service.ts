import { MessageChannel, type MessagePort, Worker } from "node:worker_threads";
import { workerUrl } from "../../base/io/worker-url.ts";
import type { Rules } from "../../policy/rules.ts";
import type { Retentions } from "../../retention/gate-retention.ts";
import type { Batch } from "../../store/batch.ts";
import type { FeedChange } from "../../store/event-store.ts";
import type { Answer } from "../inspect.ts";
import type { Answers, AppliedBatch, BatchToApply, EventToProve, FramesToInspect, ProvedEvent, Started } from "../messages.ts";
import type { Origin } from "../origin.ts";

/** The one door for events. */
export interface Intake {
  /**
   * Takes an EVENT message as it was received. `lane` is whose it is: events of one lane are decided in the order in which they came.
   * False: too much is waiting already, and it was not taken.
   */
  submit(frame: string, origin: Origin, lane: number, done: (answer: Answer) => void): boolean;
  /** Is the event what it says: id and signature? Answers with a sentence when it is not. */
  prove(event: unknown): Promise<string | undefined>;
}

export interface IntakeListener {
  /** After the answers of the same commit: what it changed, and what is only passed on. */
  changed(changes: readonly FeedChange[], passing: readonly string[]): void;
  /** After `changed` of the same commit: identifiers whose repositories are to be settled (grasp.md 6.6). */
  evidence(identifiers: readonly string[]): void;
  fault(text: string): void;
  /** A thread ended by itself: memory may be wrong, so the process must not go on. */
  died(error: Error): void;
}

export interface IntakeOptions {
  readonly directory: string;
  readonly rules: Rules;
  readonly retentions: Retentions;
  readonly verifyWorkers: number;
  /** Events under way in all threads together: beyond it clients are told to slow down instead of filling memory. */
  readonly waitingMax: number;
  readonly waitingBytesMax: number;
  /** How often remembered deletion requests are looked through. */
  readonly gatesEveryMs: number;
}

interface Waiting {
  readonly done: (answer: Answer) => void;
  readonly bytes: number;
}

/** Verifiers and the writer as threads. The main thread only hands frames over and answers on. */
export class IntakeService implements Intake, AsyncDisposable {
  readonly #options: IntakeOptions;
  readonly #listener: IntakeListener;
  readonly #threads: Worker[] = [];
  readonly #verifiers: Verifier[] = [];
  readonly #waiting = new Map<number, Waiting>();
  readonly #proofs = new Map<number, (problem: string | undefined) => void>();
  readonly #batches = new Map<number, PromiseWithResolvers<readonly FeedChange[]>>();
  #writer: Worker | undefined;
  #waitingBytes = 0;
  #nextTicket = 1;
  #flushing = false;
  #stopping = false;
  #idle: (() => void) | undefined;

  private constructor(options: IntakeOptions, listener: IntakeListener) {
    this.#options = options;
    this.#listener = listener;
  }

  /** Opens the store (the writer makes or migrates it first) and resolves when every thread is ready. */
  static async start(options: IntakeOptions, listener: IntakeListener): Promise<IntakeService> {
    const service = new IntakeService(options, listener);
    try {
      await service.#startThreads();
      return service;
    } catch (error) {
      // A thread that did start would keep the process alive.
      service.#stopping = true;
      await Promise.all(service.#threads.map((thread) => thread.terminate()));
      throw error;
    }
  }

  /** Which implementation of BIP-340 is used. */
  get verifierName(): string {
    return this.#verifiers[0]?.name ?? "";
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  submit(frame: string, origin: Origin, lane: number, done: (answer: Answer) => void): boolean {
    const { waitingMax, waitingBytesMax } = this.#options;
    if (this.#stopping || this.#waiting.size >= waitingMax || this.#waitingBytes + frame.length > waitingBytesMax) return false;
    const ticket = this.#nextTicket++;
    this.#waiting.set(ticket, { done, bytes: frame.length });
    this.#waitingBytes += frame.length;
    const verifier = this.#verifierFor(lane);
    verifier.tickets.push(ticket);
    verifier.frames.push(frame);
    verifier.origins.push(origin);
    if (!this.#flushing) {
      this.#flushing = true;
      // Everything that sockets deliver in this turn goes over in one message.
      setImmediate(() => this.#flush());
    }
    return true;
  }

  prove(event: unknown): Promise<string | undefined> {
    const ticket = this.#nextTicket++;
    return new Promise((resolve) => {
      this.#proofs.set(ticket, resolve);
      this.#verifierFor(ticket).worker.postMessage({ kind: "prove", ticket, event } satisfies EventToProve);
    });
  }

  /**
   * Commits what somebody else decided on, through the one writer, between its other commits. When it resolves it is durable and the listener was told;
   * when it rejects nothing of it happened.
   */
  apply(batch: Batch): Promise<readonly FeedChange[]> {
    if (this.#stopping || this.#writer === undefined)
      return Promise.reject(new Error("the store takes nothing more: the server is stopping"));
    const ticket = this.#nextTicket++;
    const pending = Promise.withResolvers<readonly FeedChange[]>();
    this.#batches.set(ticket, pending);
    this.#writer.postMessage({ kind: "apply", ticket, batch } satisfies BatchToApply);
    return pending.promise;
  }

  /** Answers everything that was taken, then ends the threads. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping = true;
    if (!this.#isIdle) {
      await new Promise<void>((resolve) => {
        this.#idle = resolve;
      });
    }
    // The writer last: who closes a store last copies its log back and leaves none behind.
    await Promise.all(this.#verifiers.map((verifier) => verifier.worker.terminate()));
    const writer = this.#writer;
    if (writer === undefined) return;
    const ended = new Promise((resolve) => writer.once("exit", resolve));
    writer.postMessage({ kind: "stop" });
    await ended;
  }

  get #isIdle(): boolean {
    return this.#waiting.size === 0 && this.#batches.size === 0;
  }

  #verifierFor(lane: number): Verifier {
    return this.#verifiers[lane % this.#verifiers.length] as Verifier;
  }

  #flush(): void {
    this.#flushing = false;
    for (const verifier of this.#verifiers) verifier.flush();
  }

  #answer({ tickets, ids, kinds, accepted, messages, changes, passing, evidence }: Answers): void {
    for (const [i, ticket] of tickets.entries()) {
      const waiting = this.#waiting.get(ticket);
      if (waiting === undefined) continue;
      this.#waiting.delete(ticket);
      this.#waitingBytes -= waiting.bytes;
      const id = ids[i] as string;
      const text = messages[i] as string;
      waiting.done(
        id === ""
          ? { kind: "notice", text }
          : { kind: "ok", id, eventKind: kinds[i] as number, accepted: accepted[i] === true, message: text },
      );
    }
    if (changes.length > 0 || passing.length > 0) this.#listener.changed(changes, passing);
    if (evidence.length > 0) this.#listener.evidence(evidence);
    if (this.#isIdle) this.#idle?.();
  }

  #applied({ ticket, changes, problem }: AppliedBatch): void {
    const pending = this.#batches.get(ticket);
    this.#batches.delete(ticket);
    if (changes.length > 0) this.#listener.changed(changes, []);
    if (problem === undefined) pending?.resolve(changes);
    else pending?.reject(new Error(problem));
    if (this.#isIdle) this.#idle?.();
  }

  async #startThreads(): Promise<void> {
    const { directory, rules, retentions, verifyWorkers, gatesEveryMs } = this.#options;
    const channels = Array.from({ length: verifyWorkers }, () => new MessageChannel());
    const fromVerifiers = channels.map((channel) => channel.port1);
    const writer = this.#thread("writer-worker", { directory, rules, retentions, gatesEveryMs, fromVerifiers }, fromVerifiers);
    this.#writer = writer;
    await started(writer);
    for (const { port2 } of channels) {
      const worker = this.#thread("verify-worker", { directory, rules, toWriter: port2 }, [port2]);
      const { detail } = await started(worker);
      this.#verifiers.push(new Verifier(worker, detail));
    }
  }

  #thread(name: string, data: unknown, transferList: MessagePort[]): Worker {
    const worker = new Worker(workerUrl(import.meta.url, name), { workerData: data, transferList, name });
    this.#threads.push(worker);
    worker.on("message", (message: Answers | AppliedBatch | ProvedEvent | Started | { kind: "fault"; text: string }) => {
      if (message.kind === "answers") this.#answer(message);
      else if (message.kind === "applied") this.#applied(message);
      else if (message.kind === "fault") this.#listener.fault(message.text);
      else if (message.kind === "proved") {
        this.#proofs.get(message.ticket)?.(message.problem);
        this.#proofs.delete(message.ticket);
      }
    });
    worker.on("error", (error) => this.#listener.died(error instanceof Error ? error : new Error(String(error))));
    worker.on("exit", () => {
      if (!this.#stopping) this.#listener.died(new Error(`the thread ${name} ended`));
    });
    return worker;
  }
}

class Verifier {
  readonly worker: Worker;
  readonly name: string;
  tickets: number[] = [];
  frames: string[] = [];
  origins: Origin[] = [];

  constructor(worker: Worker, name: string) {
    this.worker = worker;
    this.name = name;
  }

  flush(): void {
    if (this.tickets.length === 0) return;
    const { tickets, frames, origins } = this;
    this.worker.postMessage({ kind: "inspect", tickets, frames, origins } satisfies FramesToInspect);
    this.tickets = [];
    this.frames = [];
    this.origins = [];
  }
}

/** Rejects when the thread ends before it is ready: the data directory cannot be opened, say. */
function started(worker: Worker): Promise<Started> {
  return new Promise((resolve, reject) => {
    const onMessage = (message: Started) => {
      if (message.kind !== "started") return;
      worker.off("message", onMessage);
      worker.off("error", reject);
      resolve(message);
    };
    worker.on("message", onMessage);
    worker.once("error", reject);
  });
}
