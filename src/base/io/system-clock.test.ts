import { getEventListeners } from "node:events";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { instant, plus } from "../time.ts";
import { systemClock, systemClockWith } from "./system-clock.ts";

const dayMs = 86_400_000;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test("now is the wall clock in milliseconds", () => {
  vi.setSystemTime(1_700_000_000_123);
  expect(systemClock.now()).toBe(1_700_000_000_123);
});

test("waits longer than a timer of Node can", () => {
  const wake = vi.fn();
  systemClock.at(plus(systemClock.now(), 40 * dayMs), wake);
  vi.advanceTimersByTime(40 * dayMs - 1);
  expect(wake).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(wake).toHaveBeenCalledOnce();
  expect(vi.getTimerCount()).toBe(0);
});

test("cancels also after it was set again", () => {
  const wake = vi.fn();
  const cancel = systemClock.at(plus(systemClock.now(), 40 * dayMs), wake);
  vi.advanceTimersByTime(30 * dayMs);
  cancel();
  expect(vi.getTimerCount()).toBe(0);
});

test("a clock set back does not wake early, one set forward is noticed within the hour", () => {
  const start = systemClock.now();
  const [back, forward] = [vi.fn(), vi.fn()];
  systemClock.at(plus(start, 10_000), back);
  vi.setSystemTime(start - 60_000);
  vi.advanceTimersByTime(10_000);
  expect(back).not.toHaveBeenCalled();
  vi.advanceTimersByTime(60_000);
  expect(back).toHaveBeenCalledOnce();

  systemClock.at(plus(systemClock.now(), 10 * dayMs), forward);
  vi.setSystemTime(systemClock.now() + 10 * dayMs);
  vi.advanceTimersByTime(3_600_000);
  expect(forward).toHaveBeenCalledOnce();
});

test("a time that has passed wakes soon, but never during the call", () => {
  const wake = vi.fn();
  systemClock.at(instant(0), wake);
  expect(wake).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(wake).toHaveBeenCalledOnce();
});

test("sleepUntil resolves in time, or rejects with the signal's reason and leaves no timer", async () => {
  const stop = new AbortController();
  const slept = systemClock.sleepUntil(plus(systemClock.now(), 5), stop.signal);
  vi.advanceTimersByTime(5);
  await slept;
  expect(getEventListeners(stop.signal, "abort")).toHaveLength(0);
  const aborted = systemClock.sleepUntil(plus(systemClock.now(), dayMs), stop.signal);
  stop.abort("stopping");
  await expect(aborted).rejects.toBe("stopping");
  expect(vi.getTimerCount()).toBe(0);
  await expect(systemClock.sleepUntil(systemClock.now(), stop.signal)).rejects.toBe("stopping");
});

test("a waiting timer keeps the process alive only where asked", () => {
  vi.useRealTimers();
  const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
  const before = timers();
  const cancelQuiet = systemClockWith({ unref: true }).at(plus(systemClock.now(), dayMs), () => {});
  expect(timers()).toBe(before);
  const cancel = systemClock.at(plus(systemClock.now(), dayMs), () => {});
  expect(timers()).toBe(before + 1);
  cancel();
  cancelQuiet();
});
