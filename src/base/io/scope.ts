import { faultOf } from "../fault.ts";

export interface ScopeOptions {
  /** The scope ends when this does. */
  readonly signal?: AbortSignal;
  /** Called once, with the first failure; being aborted is not one. */
  readonly onFailure: (error: unknown) => void;
}

/** A group of tasks that none outlives: the first failure aborts the rest, disposing aborts and waits for all. */
export class Scope implements AsyncDisposable {
  readonly #own = new AbortController();
  readonly #tasks = new Set<Promise<void>>();
  readonly #onFailure: (error: unknown) => void;
  readonly signal: AbortSignal;
  #failure: { readonly error: unknown } | undefined;

  constructor({ signal, onFailure }: ScopeOptions) {
    this.#onFailure = onFailure;
    this.signal = signal ? AbortSignal.any([signal, this.#own.signal]) : this.#own.signal;
  }

  get size(): number {
    return this.#tasks.size;
  }

  /** Starts a task; false, and nothing is started, when the scope has ended. */
  spawn(task: (signal: AbortSignal) => Promise<void>): boolean {
    if (this.signal.aborted) return false;
    const running: Promise<void> = this.#run(task).finally(() => this.#tasks.delete(running));
    this.#tasks.add(running);
    return true;
  }

  /** Waits until no task is left, those spawned meanwhile too; throws the first failure. */
  async join(): Promise<void> {
    while (this.#tasks.size > 0) await Promise.all(this.#tasks);
    if (this.#failure) throw this.#failure.error;
  }

  abort(reason?: unknown): void {
    this.#own.abort(reason);
  }

  /** Failures were reported when they happened, so this only waits. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.abort();
    while (this.#tasks.size > 0) await Promise.all(this.#tasks);
  }

  async #run(task: (signal: AbortSignal) => Promise<void>): Promise<void> {
    try {
      await task(this.signal);
    } catch (error) {
      const isOurAbort = this.signal.aborted && (error === this.signal.reason || faultOf(error).kind === "aborted");
      if (isOurAbort || this.#failure) return;
      this.#failure = { error };
      this.#own.abort(error);
      this.#onFailure(error);
    }
  }
}
