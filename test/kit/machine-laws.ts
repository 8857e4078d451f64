import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import type { Machine, Step, Wake } from "../../src/base/machine.ts";
import { type Instant, instant, plus } from "../../src/base/time.ts";

export interface LawsOptions<State, Input, Effect> {
  readonly machine: Machine<State, Input, Effect>;
  readonly initial: State;
  readonly inputs: fc.Arbitrary<Input>;
  /** How the state is written down and read again; without it law 7 uses a structured clone, which finds memory outside the state. */
  readonly serialise?: { readonly write: (state: State) => string; readonly read: (text: string) => State };
  readonly sizeOf?: (state: State) => number;
  readonly sizeMax?: number;
  /** Whether this input answers something the state no longer waits for, or never asked. */
  readonly isLateAnswer?: (state: State, input: Input) => boolean;
  /** The longest pause between two inputs; longer ones happen only up to `wakeAt`. */
  readonly gapMsMax?: number;
  readonly seed?: number;
  readonly runs?: number;
  readonly inputsMax?: number;
}

/** Either an input after a pause, or a wake exactly when the machine wants it. */
type Move<Input> = { readonly gapMs: number; readonly input: Input | Wake } | { readonly sleepTo: "wakeAt" };

/**
 * The laws of every machine, on random walks through its states: (1) same arguments, same result, the given state untouched;
 * (2) total: no input throws in any state; (3) after `wake` at `now`, `wakeAt` is absent or later than `now`; (4) late answers change
 * nothing; (6) size stays under its limit; (7) serialise, revive and continue equals continue. Throws naming the law that was broken.
 */
export function checkLaws<State, Input, Effect>(options: LawsOptions<State, Input, Effect>): void {
  const { inputs, gapMsMax = 60_000, seed = 1, runs = 200, inputsMax = 60 } = options;
  const wake = fc.constant<Wake>({ kind: "wake" });
  const gapMs = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: gapMsMax }));
  const move: fc.Arbitrary<Move<Input>> = fc.oneof(
    { weight: 6, arbitrary: fc.record({ gapMs, input: inputs }) },
    { weight: 1, arbitrary: fc.record({ gapMs, input: wake }) },
    { weight: 2, arbitrary: fc.constant({ sleepTo: "wakeAt" } as const) },
  );
  const walks = fc.array(move, { maxLength: inputsMax, size: "max" });
  const property = fc.property(walks, fc.nat({ max: inputsMax }), (moves, restartAfter) => walk(options, moves, restartAfter));
  fc.assert(property, { seed, numRuns: runs, includeErrorInReport: true });
}

function walk<State, Input, Effect>(options: LawsOptions<State, Input, Effect>, moves: readonly Move<Input>[], restartAfter: number): void {
  const { machine, isLateAnswer } = options;
  let now = instant(1_700_000_000_000);
  // Each walk has its own copy, so that a machine that changes its state spoils this walk only.
  let state = structuredClone(options.initial);
  let revived: State | undefined;
  for (const [index, move] of moves.entries()) {
    if (index === restartAfter) revived = restarted(options, state);
    now =
      "gapMs" in move
        ? plus(now, move.gapMs)
        : later(
            now,
            total(() => machine.wakeAt(state)),
          );
    const input: Input | Wake = "input" in move ? move.input : { kind: "wake" };
    const next = pureStep(machine, state, input, now);
    if (isWake(input)) checkWakeMovesOn(machine, next.state, now);
    else if (isLateAnswer?.(state, input)) law(4, same(next.state, state), () => `a late answer changed the state: ${text(input)}`);
    checkSize(options, next.state);
    if (revived !== undefined) revived = checkSameAfterRestart(machine, next, pureStep(machine, revived, input, now), input);
    state = next.state;
  }
}

/** Laws 1 and 2. */
function pureStep<State, Input, Effect>(
  machine: Machine<State, Input, Effect>,
  state: State,
  input: Input | Wake,
  now: Instant,
): Step<State, Effect> {
  const before = structuredClone({ state, input });
  const step = total(() => machine.step(state, input, now), input);
  law(1, same({ state, input }, before), () => `the given state or input was changed by ${text(input)}`);
  const again = total(() => machine.step(state, input, now), input);
  law(1, same(again, step), () => `the same arguments gave another result: ${text(input)}`);
  law(1, total(() => machine.wakeAt(step.state)) === machine.wakeAt(again.state), () => "the same state gave another wakeAt");
  return step;
}

function checkWakeMovesOn<State, Input, Effect>(machine: Machine<State, Input, Effect>, state: State, now: Instant): void {
  const at = machine.wakeAt(state);
  law(3, at === undefined || at > now, () => `after wake at ${now}, wakeAt is ${at}`);
}

function checkSize<State, Input, Effect>(
  { sizeOf, sizeMax = Number.POSITIVE_INFINITY }: LawsOptions<State, Input, Effect>,
  state: State,
): void {
  const size = sizeOf?.(state) ?? 0;
  law(6, size <= sizeMax, () => `the size is ${size}, its limit ${sizeMax}`);
}

const restarted = <State, Input, Effect>({ serialise }: LawsOptions<State, Input, Effect>, state: State): State =>
  serialise ? serialise.read(serialise.write(state)) : structuredClone(state);

/** Compares what can be seen from outside; states may be laid out differently as long as they behave the same. */
function checkSameAfterRestart<State, Input, Effect>(
  machine: Machine<State, Input, Effect>,
  next: Step<State, Effect>,
  revived: Step<State, Effect>,
  input: Input | Wake,
): State {
  law(7, same(revived.effects, next.effects), () => `after a restart ${text(input)} has other effects`);
  law(7, machine.wakeAt(revived.state) === machine.wakeAt(next.state), () => `after a restart and ${text(input)} wakeAt differs`);
  return revived.state;
}

/** As data: generated objects may lack a prototype, copies have one. */
const same = (a: unknown, b: unknown): boolean => isDeepStrictEqual(structuredClone(a), structuredClone(b));
const isWake = (input: unknown): input is Wake => (input as Wake).kind === "wake";
const later = (now: Instant, at: Instant | undefined): Instant => (at !== undefined && at > now ? at : now);
const text = (value: unknown): string => fc.stringify(value);

function total<T>(call: () => T, input?: unknown): T {
  try {
    return call();
  } catch (error) {
    throw new Error(`law 2 broken: ${input === undefined ? "wakeAt" : text(input)} threw ${String(error)}`, { cause: error });
  }
}

function law(number: number, holds: boolean, what: () => string): void {
  if (!holds) throw new Error(`law ${number} broken: ${what()}`);
}
