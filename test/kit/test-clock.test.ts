import { expect, test } from "vitest";
import { plus } from "../../src/base/time.ts";
import { TestClock } from "./test-clock.ts";

test("runs due timers in order of time, then of creation, each at its own time", async () => {
  const clock = new TestClock(0);
  const log: string[] = [];
  for (const [name, ms] of [
    ["c", 30],
    ["a", 10],
    ["b", 10],
    ["d", 31],
  ] as const) {
    clock.at(plus(clock.now(), ms), () => log.push(`${name}@${clock.now()}`));
  }
  await clock.advance(30);
  expect(log).toEqual(["a@10", "b@10", "c@30"]);
  expect([clock.now(), clock.pending, clock.nextAt]).toEqual([30, 1, 31]);
});

test("what a timer causes happens before the next timer, through any number of awaits", async () => {
  const clock = new TestClock(0);
  const log: string[] = [];
  const sleeper = async () => {
    await clock.sleepUntil(plus(clock.now(), 10));
    for (let i = 0; i < 100; i++) await Promise.resolve();
    log.push(`woke@${clock.now()}`);
    await clock.sleepUntil(plus(clock.now(), 5));
    log.push(`again@${clock.now()}`);
  };
  void sleeper();
  clock.at(plus(clock.now(), 12), () => log.push("12"));
  await clock.advance(20);
  expect(log).toEqual(["woke@10", "12", "again@15"]);
});

test("a cancelled timer never rings, a past one rings at the next advance", async () => {
  const clock = new TestClock(100);
  const log: string[] = [];
  clock.at(plus(clock.now(), 1), () => log.push("cancelled"))();
  clock.at(plus(clock.now(), -50), () => log.push(`past@${clock.now()}`));
  expect(log).toEqual([]);
  await clock.advance(0);
  await clock.advance(10);
  expect(log).toEqual(["past@100"]);
});

test("an aborted sleep rejects with the reason and leaves no timer", async () => {
  const clock = new TestClock();
  const stop = new AbortController();
  const slept = clock.sleepUntil(plus(clock.now(), 10), stop.signal);
  stop.abort("enough");
  await expect(slept).rejects.toBe("enough");
  expect(clock.pending).toBe(0);
});

test("time that stands still is an error, not a hang", async () => {
  const clock = new TestClock();
  const again = () => void clock.at(clock.now(), again);
  again();
  await expect(clock.advance(1)).rejects.toThrow("time stands still");
});
