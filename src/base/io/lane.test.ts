import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { settled } from "../../../test/kit/test-clock.ts";
import { faultOf } from "../fault.ts";
import { Lanes } from "./lane.ts";

/** Tasks that begin and end when told. */
function gated() {
  const log: string[] = [];
  const gates = new Map<string, PromiseWithResolvers<void>>();
  const task = (name: string) => async () => {
    log.push(`begin ${name}`);
    const gate = Promise.withResolvers<void>();
    gates.set(name, gate);
    await gate.promise;
    log.push(`end ${name}`);
    return name;
  };
  const end = async (name: string) => {
    gates.get(name)?.resolve();
    await settled();
  };
  return { log, task, end, gates };
}

test("one at a time per key in order, keys beside each other, idle keys leave", async () => {
  const lanes = new Lanes<string>(10);
  const { log, task, end } = gated();
  const results = [lanes.run("x", task("x1")), lanes.run("x", task("x2")), lanes.run("y", task("y1"))];
  await settled();
  expect(log).toEqual(["begin x1", "begin y1"]);
  expect([lanes.size, lanes.waiting("x"), lanes.waiting("y")]).toEqual([2, 1, 0]);
  await end("x1");
  expect(log).toEqual(["begin x1", "begin y1", "end x1", "begin x2"]);
  await end("x2");
  await end("y1");
  expect(await Promise.all(results)).toEqual(["x1", "x2", "y1"]);
  expect(lanes.size).toBe(0);
});

test("a failing task, also one that throws at once, rejects alone and the lane goes on", async () => {
  const lanes = new Lanes<string>(10);
  const thrown = lanes.run("x", () => {
    throw new Error("at once");
  });
  const rejected = lanes.run("x", () => Promise.reject(new Error("later")));
  const fine = lanes.run("x", async () => 3);
  await expect(thrown).rejects.toThrow("at once");
  await expect(rejected).rejects.toThrow("later");
  expect(await fine).toBe(3);
  await settled();
  expect(lanes.size).toBe(0);
});

test("beyond its bound a lane is busy, others are not", async () => {
  const lanes = new Lanes<string>(1);
  const { task, end } = gated();
  const kept = [lanes.run("x", task("x1")), lanes.run("x", task("x2"))];
  const refusal: unknown = await lanes.run("x", task("x3")).catch((error: unknown) => error);
  expect(faultOf(refusal)).toMatchObject({ kind: "busy" });
  expect(await lanes.run("y", async () => "y")).toBe("y");
  await end("x1");
  await end("x2");
  await Promise.all(kept);
});

test("aborting takes a waiting task out; it never begins", async () => {
  const lanes = new Lanes<string>(10);
  const { log, task, end } = gated();
  const stop = new AbortController();
  const first = lanes.run("x", task("x1"));
  const second = lanes.run("x", task("x2"), stop.signal);
  const third = lanes.run("x", task("x3"));
  stop.abort("gone");
  await expect(second).rejects.toBe("gone");
  expect(lanes.waiting("x")).toBe(1);
  await end("x1");
  await end("x3");
  await Promise.all([first, third]);
  expect(log).toEqual(["begin x1", "end x1", "begin x3", "end x3"]);
  await expect(lanes.run("x", task("x4"), stop.signal)).rejects.toBe("gone");
});

test("a task that waited and now runs is no longer in the queue that an abort would take it from", async () => {
  const lanes = new Lanes<string>(10);
  const { log, task, end } = gated();
  const stop = new AbortController();
  const all = [lanes.run("x", task("x1")), lanes.run("x", task("x2"), stop.signal), lanes.run("x", task("x3"))];
  await end("x1");
  expect(getEventListeners(stop.signal, "abort")).toHaveLength(0);
  stop.abort("gone");
  await end("x2");
  await end("x3");
  expect(await Promise.all(all)).toEqual(["x1", "x2", "x3"]);
  expect(log.at(-1)).toBe("end x3");
});

test("aborting a running task does not let the next one in before it has ended", async () => {
  const lanes = new Lanes<string>(10);
  const { log, task, end } = gated();
  const stop = new AbortController();
  let given: AbortSignal | undefined;
  const first = lanes.run(
    "x",
    (signal) => {
      given = signal;
      return task("x1")();
    },
    stop.signal,
  );
  const second = lanes.run("x", task("x2"));
  stop.abort("gone");
  await settled();
  expect(given?.aborted).toBe(true);
  expect(log).toEqual(["begin x1"]);
  await end("x1");
  expect(log).toEqual(["begin x1", "end x1", "begin x2"]);
  await end("x2");
  await Promise.all([first, second]);
});
