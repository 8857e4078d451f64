import { expect, test } from "vitest";
import { settled, TestClock } from "../../../test/kit/test-clock.ts";
import { type Machine, stay, unreachable } from "../machine.ts";
import { type Instant, plus } from "../time.ts";
import { Driver, type DriverOptions, type TraceEntry } from "./driver.ts";

interface State {
  readonly count: number;
  readonly ringAt: Instant | undefined;
}
type Input =
  | { readonly kind: "add"; readonly n: number }
  | { readonly kind: "alarm"; readonly afterMs: number }
  | { readonly kind: "crash" };
type Effect = { readonly kind: "added"; readonly count: number } | { readonly kind: "rang" };

const counter: Machine<State, Input, Effect> = {
  step(state, input, now) {
    switch (input.kind) {
      case "add":
        return { state: { ...state, count: state.count + input.n }, effects: [{ kind: "added", count: state.count + input.n }] };
      case "alarm":
        return { state: { ...state, ringAt: plus(now, input.afterMs) }, effects: [] };
      case "wake":
        if (state.ringAt === undefined || state.ringAt > now) return stay(state);
        return { state: { ...state, ringAt: undefined }, effects: [{ kind: "rang" }] };
      case "crash":
        throw new Error("crash");
      default:
        return unreachable(input);
    }
  },
  wakeAt: (state) => state.ringAt,
};

function started(more: Partial<DriverOptions<State, Input, Effect>> = {}) {
  const clock = new TestClock();
  const done: string[] = [];
  const bugs: unknown[] = [];
  const driver = new Driver<State, Input, Effect>({
    machine: counter,
    initial: { count: 0, ringAt: undefined },
    clock,
    handlers: { added: ({ count }) => void done.push(`added ${count}`), rang: () => void done.push("rang") },
    onBug: (error) => bugs.push(error),
    ...more,
  });
  return { clock, done, bugs, driver };
}

test("steps at once and performs effects in order", () => {
  const { driver, done } = started();
  driver.send({ kind: "add", n: 1 });
  driver.send({ kind: "add", n: 2 });
  expect(done).toEqual(["added 1", "added 3"]);
  expect(driver.state.count).toBe(3);
});

test("keeps one timer, set to wakeAt", async () => {
  const { driver, done, clock } = started();
  driver.send({ kind: "alarm", afterMs: 1000 });
  driver.send({ kind: "add", n: 1 });
  driver.send({ kind: "alarm", afterMs: 500 });
  expect(clock.pending).toBe(1);
  await clock.advance(499);
  expect(done).toEqual(["added 1"]);
  await clock.advance(1);
  expect(done).toEqual(["added 1", "rang"]);
  expect(clock.pending).toBe(0);
});

test("a driver that begins with a deadline wakes for it", async () => {
  const clock = new TestClock();
  const { done } = started({ clock, initial: { count: 0, ringAt: plus(clock.now(), 10) } });
  await clock.advance(10);
  expect(done).toEqual(["rang"]);
});

test("an input that arrives while stepping waits for the step's other effects", () => {
  const order: string[] = [];
  const twice: Machine<number, { readonly kind: "go" }, { readonly kind: "a" } | { readonly kind: "b" }> = {
    step: (n, input) => (input.kind === "go" && n < 2 ? { state: n + 1, effects: [{ kind: "a" }, { kind: "b" }] } : stay(n)),
    wakeAt: () => undefined,
  };
  const driver = new Driver({
    machine: twice,
    initial: 0,
    clock: new TestClock(),
    handlers: {
      a: (_, port) => {
        order.push("a");
        port.send({ kind: "go" });
      },
      b: () => void order.push("b"),
    },
    onBug: (error) => order.push(String(error)),
  });
  driver.send({ kind: "go" });
  expect(order).toEqual(["a", "b", "a", "b"]);
});

test("the mailbox does not wait for asynchronous handlers, disposing does", async () => {
  const gate = Promise.withResolvers<void>();
  const ended: number[] = [];
  const { driver } = started({
    handlers: {
      added: async ({ count }) => {
        await gate.promise;
        ended.push(count);
      },
      rang: () => {},
    },
  });
  driver.send({ kind: "add", n: 1 });
  driver.send({ kind: "add", n: 1 });
  expect(driver.state.count).toBe(2);
  let isDisposed = false;
  const disposed = driver[Symbol.asyncDispose]().finally(() => {
    isDisposed = true;
  });
  await settled();
  expect([isDisposed, driver.signal.aborted]).toEqual([false, true]);
  gate.resolve();
  await disposed;
  expect(ended).toEqual([1, 2]);
});

test("after disposal nothing is taken and no timer is left", async () => {
  const { driver, clock, done } = started();
  driver.send({ kind: "alarm", afterMs: 5 });
  await driver[Symbol.asyncDispose]();
  expect(clock.pending).toBe(0);
  expect(driver.send({ kind: "add", n: 1 })).toBe(false);
  expect(done).toEqual([]);
});

test("a handler that throws, now or later, goes to onBug and the machine runs on", async () => {
  const { driver, bugs } = started({
    handlers: {
      added: ({ count }) => {
        if (count === 1) throw new Error("now");
        return Promise.reject(new Error("later"));
      },
      rang: () => {},
    },
  });
  driver.send({ kind: "add", n: 1 });
  driver.send({ kind: "add", n: 1 });
  await settled();
  expect(bugs).toEqual([new Error("now"), new Error("later")]);
  expect(driver.send({ kind: "add", n: 1 })).toBe(true);
});

test("a step that throws is reported once and stops the driver", async () => {
  const { driver, bugs, clock } = started();
  driver.send({ kind: "alarm", afterMs: 5 });
  driver.send({ kind: "crash" });
  expect(bugs).toEqual([new Error("crash")]);
  expect(driver.send({ kind: "add", n: 1 })).toBe(false);
  await clock.advance(10);
  expect(bugs).toHaveLength(1);
});

test("the trace holds every input with its effects, and may fail without harm", async () => {
  const trace: TraceEntry<Input, Effect>[] = [];
  const { driver, clock } = started({ trace: (entry) => trace.push(entry) });
  const start = clock.now();
  driver.send({ kind: "alarm", afterMs: 7 });
  await clock.advance(7);
  expect(trace).toEqual([
    { at: start, input: { kind: "alarm", afterMs: 7 }, effects: [] },
    { at: start + 7, input: { kind: "wake" }, effects: [{ kind: "rang" }] },
  ]);
  const failing = started({
    trace: () => {
      throw new Error("disk full");
    },
  });
  failing.driver.send({ kind: "add", n: 1 });
  expect([failing.done, failing.bugs]).toEqual([["added 1"], [new Error("disk full")]]);
});

test("a full mailbox says so", () => {
  const answers: boolean[] = [];
  const { driver } = started({
    mailboxMax: 2,
    handlers: {
      added: ({ count }, port) => {
        if (count === 1) for (let i = 0; i < 3; i++) answers.push(port.send({ kind: "add", n: 10 }));
      },
      rang: () => {},
    },
  });
  driver.send({ kind: "add", n: 1 });
  expect(answers).toEqual([true, true, false]);
  expect(driver.state.count).toBe(21);
});
