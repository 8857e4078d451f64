import { expect, test } from "vitest";
import { settled, TestClock } from "../../../test/kit/test-clock.ts";
import { type Instant, instant } from "../../base/time.ts";
import { Flusher } from "./flusher.ts";
import type { Outbox } from "./outbox.ts";

class CountingOutbox {
  flushes = 0;
  flush(): void {
    this.flushes++;
  }
}
const outbox = () => new CountingOutbox() as CountingOutbox & Outbox;

test("answers go at the end of the turn, each client once", async () => {
  const flusher = new Flusher(new TestClock());
  const [one, other] = [outbox(), outbox()];
  for (const box of [one, one, other]) flusher.soon(box);
  expect(one.flushes).toBe(0);
  await settled();
  expect([one.flushes, other.flushes]).toEqual([1, 1]);
  await settled();
  expect(one.flushes).toBe(1);
});

test("the first live event after a quiet time goes at once, those right behind it together", async () => {
  const clock = new TestClock();
  const flusher = new Flusher(clock);
  const box = outbox();
  flusher.inCompany(box);
  await settled();
  expect(box.flushes).toBe(1);
  flusher.inCompany(box);
  await clock.advance(4);
  flusher.inCompany(box);
  expect(box.flushes).toBe(1);
  await clock.advance(1);
  expect(box.flushes).toBe(2);
  await clock.advance(5);
  flusher.inCompany(box);
  await settled();
  expect(box.flushes).toBe(3);
});

test("a clock that is set back delays nobody", async () => {
  const clock = new TestClock();
  let shift = 0;
  const shifted = { now: (): Instant => instant(clock.now() + shift), at: clock.at.bind(clock), sleepUntil: clock.sleepUntil.bind(clock) };
  const flusher = new Flusher(shifted);
  const box = outbox();
  flusher.inCompany(box);
  await settled();
  shift = -3_600_000;
  flusher.inCompany(box);
  await settled();
  expect(box.flushes).toBe(2);
});
