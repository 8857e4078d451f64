import { describe, expect, test } from "vitest";
import { ReaderQueue } from "./reader-queue.ts";

interface Job {
  readonly name: string;
  readonly bytes: number;
}

const filled = (counts: Readonly<Record<number, number>>, bytes = 1) => {
  const queue = new ReaderQueue<Job>(10);
  for (const [lane, count] of Object.entries(counts))
    for (let n = 0; n < count; n++) queue.push(Number(lane), { name: `${lane}.${n}`, bytes });
  return queue;
};

/** Runs everything, one after the other. */
function order(queue: ReaderQueue<Job>): string[] {
  const names: string[] = [];
  for (let next = queue.take(); next !== undefined; next = queue.take()) {
    names.push(next.job.name);
    queue.done(next.lane);
  }
  return names;
}

describe("the queue for long reads (grasp.md 3.3)", () => {
  test("a client with many does not delay one with few", () => {
    expect(order(filled({ 1: 5, 2: 2, 3: 1 }))).toEqual(["1.0", "2.0", "3.0", "1.1", "2.1", "1.2", "1.3", "1.4"]);
  });

  test("one job of a lane runs at a time, two of all", () => {
    const queue = filled({ 1: 3, 2: 1, 3: 1 });
    expect(queue.take()?.lane).toBe(1);
    expect(queue.take()?.lane).toBe(2);
    expect(queue.take()).toBeUndefined();
    queue.done(2);
    expect(queue.take()?.lane, "lane 1 still runs").toBe(3);
    queue.done(3);
    expect(queue.take()).toBeUndefined();
    queue.done(1);
    expect(queue.take()?.job.name).toBe("1.1");
  });

  test("what a lane may leave waiting is bounded in number and bytes, and another lane does not feel it", () => {
    const queue = filled({ 1: 64 });
    expect(queue.push(1, { name: "more", bytes: 1 })).toBe(false);
    expect(queue.push(2, { name: "other", bytes: 2_000_000 }), "a single one of any size is taken").toBe(true);
    expect(queue.push(2, { name: "second", bytes: 1 })).toBe(false);
    order(queue);
    expect(queue.push(1, { name: "again", bytes: 1_000_000 })).toBe(true);
    expect(queue.push(1, { name: "too much", bytes: 100_000 })).toBe(false);
  });

  test("who leaves takes everything along", () => {
    const queue = filled({ 1: 3, 2: 1 });
    expect(queue.drop(1).map((job) => job.name)).toEqual(["1.0", "1.1", "1.2"]);
    expect(order(queue)).toEqual(["2.0"]);
    expect(queue.drop(1)).toEqual([]);
  });
});
