import fc from "fast-check";
import { expect, test } from "vitest";
import { type Machine, stay, unreachable } from "../../src/base/machine.ts";
import { type Instant, instant, plus } from "../../src/base/time.ts";
import { checkLaws, type LawsOptions } from "./machine-laws.ts";

/** Asks one question at a time, gives up after a second, and remembers a few answers. */
interface Asker {
  readonly asked: number;
  readonly open: { readonly id: number; readonly until: Instant } | undefined;
  readonly answers: readonly string[];
}
type Input = { readonly kind: "want" } | { readonly kind: "answer"; readonly id: number; readonly text: string };
type Effect = { readonly kind: "ask"; readonly id: number } | { readonly kind: "gave-up"; readonly id: number };
type AskerMachine = Machine<Asker, Input, Effect>;

const answersMax = 3;
const nothingYet: Asker = { asked: 0, open: undefined, answers: [] };

const correct: AskerMachine = {
  step(state, input, now) {
    switch (input.kind) {
      case "want": {
        if (state.open) return stay(state);
        const id = state.asked + 1;
        return { state: { ...state, asked: id, open: { id, until: plus(now, 1000) } }, effects: [{ kind: "ask", id }] };
      }
      case "answer":
        if (state.open?.id !== input.id) return stay(state);
        return { state: { ...state, open: undefined, answers: [...state.answers, input.text].slice(-answersMax) }, effects: [] };
      case "wake":
        if (!state.open || state.open.until > now) return stay(state);
        return { state: { ...state, open: undefined }, effects: [{ kind: "gave-up", id: state.open.id }] };
      default:
        return unreachable(input);
    }
  },
  wakeAt: (state) => state.open?.until,
};

const inputs: fc.Arbitrary<Input> = fc.oneof(
  fc.constant<Input>({ kind: "want" }),
  fc.record({ kind: fc.constant("answer" as const), id: fc.integer({ min: 1, max: 8 }), text: fc.string({ maxLength: 3 }) }),
);

const laws =
  (machine: AskerMachine, more: Partial<LawsOptions<Asker, Input, Effect>> = {}) =>
  () =>
    checkLaws({
      machine,
      initial: nothingYet,
      inputs,
      gapMsMax: 2000,
      sizeOf: (state) => state.answers.length,
      sizeMax: answersMax,
      isLateAnswer: (state, input) => input.kind === "answer" && input.id !== state.open?.id,
      serialise: { write: (state) => JSON.stringify(state), read: (text) => JSON.parse(text) as Asker },
      ...more,
    });

/** The correct machine with its step replaced for some inputs. */
const broken = (step: (...args: Parameters<AskerMachine["step"]>) => ReturnType<AskerMachine["step"]> | undefined): AskerMachine => ({
  ...correct,
  step: (state, input, now) => step(state, input, now) ?? correct.step(state, input, now),
});

test("a correct machine keeps all laws", () => {
  expect(laws(correct)).not.toThrow();
  expect(() => checkLaws({ machine: correct, initial: nothingYet, inputs })).not.toThrow();
});

test("law 1: a step that changes the given state", () => {
  const mutating = broken((state, input) => {
    if (input.kind === "answer" && state.open?.id === input.id) (state.answers as string[]).push(input.text);
    return undefined;
  });
  expect(laws(mutating)).toThrow("law 1 broken");
});

test("law 1: a step that remembers outside the state", () => {
  let calls = 0;
  const counting = broken((state, input) => (input.kind === "want" ? { state, effects: [{ kind: "ask", id: ++calls }] } : undefined));
  expect(laws(counting)).toThrow("law 1 broken");
});

test("law 2: an input that is not expected in some state", () => {
  const partial = broken((state, input) => {
    if (input.kind === "answer" && !state.open && state.asked > 2) throw new Error("nothing was asked");
    return undefined;
  });
  expect(laws(partial)).toThrow(/law 2 broken.*nothing was asked/);
});

test("law 2: a wake that comes early, and a wakeAt that throws", () => {
  const punctual = broken((state, input, now) => {
    if (input.kind === "wake" && state.open && state.open.until > now) throw new Error("too early");
    return undefined;
  });
  expect(laws(punctual)).toThrow(/law 2 broken.*too early/);
  const thrower: AskerMachine = {
    ...correct,
    wakeAt(state) {
      if (state.asked > 1) throw new Error("no time");
      return state.open?.until;
    },
  };
  expect(laws(thrower)).toThrow(/law 2 broken.*no time/);
});

test("law 3: a wake that leaves the same deadline would wake for ever", () => {
  const stuck = broken((state, input, now) =>
    input.kind === "wake" && state.open && state.open.until <= now
      ? { state, effects: [{ kind: "gave-up", id: state.open.id }] }
      : undefined,
  );
  expect(laws(stuck)).toThrow("law 3 broken");
  // Off by one: the deadline itself is not yet late, so the wake at exactly that moment does nothing.
  const offByOne = broken((state, input, now) =>
    input.kind === "wake" && state.open && state.open.until >= now ? stay(state) : undefined,
  );
  expect(laws(offByOne, { gapMsMax: 0 })).toThrow("law 3 broken");
});

test("law 4: an answer to an older question is taken for the present one", () => {
  const gullible = broken((state, input) =>
    input.kind === "answer" && state.open ? { state: { ...state, open: undefined }, effects: [] } : undefined,
  );
  expect(laws(gullible)).toThrow("law 4 broken");
});

test("law 6: a memory that grows", () => {
  const hoarding = broken((state, input) =>
    input.kind === "answer" && state.open?.id === input.id
      ? { state: { ...state, open: undefined, answers: [...state.answers, input.text] }, effects: [] }
      : undefined,
  );
  expect(laws(hoarding)).toThrow("law 6 broken");
});

test("law 7: a deadline or counter that is not written down", () => {
  const read = (text: string): Asker => ({ ...(JSON.parse(text) as Asker), asked: 0 });
  expect(laws(correct, { serialise: { write: (state) => JSON.stringify(state), read } })).toThrow("law 7 broken");
  const write = (state: Asker): string => JSON.stringify({ ...state, open: state.open && { ...state.open, until: instant(0) } });
  expect(laws(correct, { serialise: { write, read: (text) => JSON.parse(text) as Asker } })).toThrow("law 7 broken");
});

test("law 7: memory beside the state is found without a serialiser", () => {
  const known = new WeakMap<Asker, number>();
  const beside = broken((state, input) => {
    const count = known.get(state) ?? 0;
    if (input.kind !== "want") return undefined;
    const next = { ...state };
    known.set(next, count + 1);
    return { state: next, effects: [{ kind: "ask", id: count }] };
  });
  expect(() => checkLaws({ machine: beside, initial: nothingYet, inputs })).toThrow("law 7 broken");
});
