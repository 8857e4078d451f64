import { invariant } from "../assert.ts";
import { BoundedQueue } from "../bounded.ts";
import type { Clock } from "../clock.ts";
import type { Machine, Step, Wake } from "../machine.ts";
import type { Instant } from "../time.ts";

/** What a handler is given to answer with: inputs go back by `send`, and `signal` says that the driver is being disposed of. */
export interface Port<Input> {
  send(input: Input): boolean;
  readonly signal: AbortSignal;
}

/** One handler per kind of effect, so that a new effect without one does not compile. */
export type Handlers<Input, Effect extends { readonly kind: string }> = {
  readonly [K in Effect["kind"]]: (effect: Extract<Effect, { readonly kind: K }>, port: Port<Input>) => void | Promise<void>;
};

export interface TraceEntry<Input, Effect> {
  readonly at: Instant;
  readonly input: Input | Wake;
  readonly effects: readonly Effect[];
}

export interface DriverOptions<State, Input, Effect extends { readonly kind: string }> {
  readonly machine: Machine<State, Input, Effect>;
  readonly initial: State;
  readonly clock: Clock;
  readonly handlers: Handlers<Input, Effect>;
  /** Our mistakes: a step, a handler or a trace that threw. After a throwing step the driver stops. */
  readonly onBug: (error: unknown) => void;
  readonly trace?: (entry: TraceEntry<Input, Effect>) => void;
  readonly mailboxMax?: number;
}

/** Inputs are handled as they come, so only a step whose handlers answer at once fills the mailbox; this many means they feed each other. */
const mailboxMaxDefault = 10_000;

/** Runs a machine: one input at a time, effects in order, one timer set to `wakeAt`. */
export class Driver<State, Input, Effect extends { readonly kind: string }> implements Port<Input>, AsyncDisposable {
  readonly #options: DriverOptions<State, Input, Effect>;
  readonly #mailbox: BoundedQueue<Input | Wake>;
  readonly #stopped = new AbortController();
  readonly #performing = new Set<Promise<void>>();
  #state: State;
  #isStepping = false;
  #timer: { readonly at: Instant; readonly cancel: () => void } | undefined;

  constructor(options: DriverOptions<State, Input, Effect>) {
    this.#options = options;
    this.#state = options.initial;
    this.#mailbox = new BoundedQueue({ countMax: options.mailboxMax ?? mailboxMaxDefault });
    this.#guard(() => this.#arm());
  }

  get state(): State {
    return this.#state;
  }
  get signal(): AbortSignal {
    return this.#stopped.signal;
  }

  /** Steps at once, or after the step in progress. False when the driver has stopped or its mailbox is full. */
  send(input: Input | Wake): boolean {
    if (this.signal.aborted || !this.#mailbox.push(input)) return false;
    if (!this.#isStepping) this.#drain();
    return true;
  }

  /** Takes no more inputs, tells the handlers, and waits for those still at work. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop();
    await Promise.all(this.#performing);
  }

  #drain(): void {
    this.#isStepping = true;
    try {
      while (this.#mailbox.length > 0 && !this.signal.aborted) this.#step(this.#mailbox.shift() as Input | Wake);
      this.#guard(() => this.#arm());
    } finally {
      this.#isStepping = false;
    }
  }

  #step(input: Input | Wake): void {
    const { machine, clock, trace, onBug } = this.#options;
    const at = clock.now();
    let step: Step<State, Effect> | undefined;
    this.#guard(() => {
      step = machine.step(this.#state, input, at);
    });
    if (!step) return;
    this.#state = step.state;
    const { effects } = step;
    try {
      trace?.({ at, input, effects });
    } catch (error) {
      onBug(error);
    }
    for (const effect of effects) this.#perform(effect);
  }

  #perform(effect: Effect): void {
    const { handlers, onBug } = this.#options;
    try {
      const handler: ((effect: never, port: Port<Input>) => void | Promise<void>) | undefined = handlers[effect.kind as Effect["kind"]];
      invariant(handler, `a handler for ${effect.kind}`);
      const done = handler(effect as never, this);
      if (!done) return;
      const settled: Promise<void> = done.catch(onBug).finally(() => this.#performing.delete(settled));
      this.#performing.add(settled);
    } catch (error) {
      onBug(error);
    }
  }

  #arm(): void {
    const { machine, clock } = this.#options;
    const at = this.signal.aborted ? undefined : machine.wakeAt(this.#state);
    if (at === this.#timer?.at) return;
    this.#timer?.cancel();
    this.#timer = undefined;
    if (at === undefined) return;
    const wake = () => {
      this.#timer = undefined;
      this.send({ kind: "wake" });
    };
    this.#timer = { at, cancel: clock.at(at, wake) };
  }

  /** A machine that throws is wrong about its own state, and stepping on would throw at every wake. */
  #guard(stepOrWakeAt: () => void): void {
    try {
      stepOrWakeAt();
    } catch (error) {
      this.#stop();
      this.#options.onBug(error);
    }
  }

  #stop(): void {
    this.#stopped.abort();
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#mailbox.clear();
  }
}
