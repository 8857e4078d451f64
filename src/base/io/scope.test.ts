import { expect, test } from "vitest";
import { settled, TestClock } from "../../../test/kit/test-clock.ts";
import { plus } from "../time.ts";
import { Scope } from "./scope.ts";

const clock = new TestClock();
const forever = (signal: AbortSignal) => clock.sleepUntil(plus(clock.now(), 1e12), signal);

function scoped(signal?: AbortSignal) {
  const failures: unknown[] = [];
  const scope = new Scope({ ...(signal && { signal }), onFailure: (error) => failures.push(error) });
  return { scope, failures };
}

test("disposing aborts, waits for the slowest, and is no failure", async () => {
  const { scope, failures } = scoped();
  const cleanup = Promise.withResolvers<void>();
  const ended: string[] = [];
  scope.spawn(forever);
  scope.spawn(async (signal) => {
    await forever(signal).catch(() => cleanup.promise);
    ended.push("cleaned up");
  });
  let isDisposed = false;
  const disposed = scope[Symbol.asyncDispose]().finally(() => {
    isDisposed = true;
  });
  await settled();
  expect([isDisposed, scope.size]).toEqual([false, 1]);
  cleanup.resolve();
  await disposed;
  expect([ended, failures, scope.size, clock.pending]).toEqual([["cleaned up"], [], 0, 0]);
  expect(scope.spawn(forever)).toBe(false);
});

test("the first failure aborts the rest and is reported once", async () => {
  const { scope, failures } = scoped();
  scope.spawn(forever);
  scope.spawn(async (signal) => {
    await forever(signal).catch(() => {});
    throw new Error("second, caused by the first");
  });
  scope.spawn(() => {
    throw new Error("first");
  });
  await expect(scope.join()).rejects.toThrow("first");
  expect(failures).toEqual([new Error("first")]);
  await scope[Symbol.asyncDispose]();
  expect(failures).toHaveLength(1);
});

test("a failure while stopping is still reported", async () => {
  const { scope, failures } = scoped();
  scope.spawn(async (signal) => {
    await forever(signal).catch(() => {});
    throw new Error("could not flush");
  });
  await scope[Symbol.asyncDispose]();
  expect(failures).toEqual([new Error("could not flush")]);
});

test("join waits for tasks that tasks spawn", async () => {
  const { scope } = scoped();
  const done: number[] = [];
  scope.spawn(async () => {
    await settled();
    scope.spawn(async () => {
      await settled();
      done.push(2);
    });
    done.push(1);
  });
  await scope.join();
  expect(done).toEqual([1, 2]);
});

test("ends with its parent, and not the other way round", async () => {
  const parent = new AbortController();
  const { scope, failures } = scoped(parent.signal);
  const sibling = scoped(parent.signal).scope;
  scope.spawn(forever);
  sibling.abort();
  expect(parent.signal.aborted).toBe(false);
  parent.abort("stopping");
  await scope.join();
  expect([scope.signal.reason, failures]).toEqual(["stopping", []]);
});
