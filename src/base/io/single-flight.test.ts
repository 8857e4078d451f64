import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { settled } from "../../../test/kit/test-clock.ts";
import { SingleFlight } from "./single-flight.ts";

function work() {
  const flights: { readonly result: PromiseWithResolvers<string>; readonly signal: AbortSignal }[] = [];
  const run = (signal: AbortSignal) => {
    const result = Promise.withResolvers<string>();
    flights.push({ result, signal });
    return result.promise;
  };
  return { flights, run };
}

test("the same key shares, another does not, and nothing is kept afterwards", async () => {
  const single = new SingleFlight<string, string>();
  const { flights, run } = work();
  const results = [single.run("a", run), single.run("a", run), single.run("b", run)];
  expect(flights).toHaveLength(2);
  flights[0]?.result.resolve("A");
  flights[1]?.result.resolve("B");
  expect(await Promise.all(results)).toEqual(["A", "A", "B"]);
  expect(single.size).toBe(0);
  void single.run("a", run);
  expect(flights).toHaveLength(3);
});

test("a failure reaches every waiter, also one thrown at once, and the next ask tries again", async () => {
  const single = new SingleFlight<string, string>();
  const { flights, run } = work();
  const results = [single.run("a", run), single.run("a", run, new AbortController().signal)];
  flights[0]?.result.reject(new Error("down"));
  for (const result of results) await expect(result).rejects.toThrow("down");
  const thrown = single.run("a", () => {
    throw new Error("at once");
  });
  await expect(thrown).rejects.toThrow("at once");
  expect(single.size).toBe(0);
});

test("a waiter that leaves leaves alone; the work is aborted with the last", async () => {
  const single = new SingleFlight<string, string>();
  const { flights, run } = work();
  const [first, second] = [new AbortController(), new AbortController()];
  const one = single.run("a", run, first.signal);
  const two = single.run("a", run, second.signal);
  first.abort("one left");
  await expect(one).rejects.toBe("one left");
  expect(flights[0]?.signal.aborted).toBe(false);
  second.abort("two left");
  await expect(two).rejects.toBe("two left");
  expect(flights[0]?.signal.aborted).toBe(true);

  // The abandoned work is still winding down; who asks now gets fresh work, and the old one's end does not touch it.
  const three = single.run("a", run);
  flights[0]?.result.reject(new Error("aborted"));
  await settled();
  expect([flights.length, single.size]).toEqual([2, 1]);
  flights[1]?.result.resolve("fresh");
  expect(await three).toBe("fresh");
});

test("a long-lived signal gathers no listeners", async () => {
  const single = new SingleFlight<string, string>();
  const stop = new AbortController();
  await single.run("a", async () => "A", stop.signal);
  await settled();
  expect(getEventListeners(stop.signal, "abort")).toHaveLength(0);
});

test("a waiter without a signal keeps the work alive", async () => {
  const single = new SingleFlight<string, string>();
  const { flights, run } = work();
  const stop = new AbortController();
  const stays = single.run("a", run);
  const leaves = single.run("a", run, stop.signal);
  stop.abort("left");
  await expect(leaves).rejects.toBe("left");
  expect(flights[0]?.signal.aborted).toBe(false);
  flights[0]?.result.resolve("A");
  expect(await stays).toBe("A");
  await expect(single.run("a", run, stop.signal)).rejects.toBe("left");
});
