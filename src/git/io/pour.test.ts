import { PassThrough, Readable, Writable } from "node:stream";
import { expect, it } from "vitest";
import { settled, TestClock } from "../../../test/kit/test-clock.ts";
import { pour, type SlowRule, slowClient } from "./pour.ts";

const rule = (client: SlowRule["client"]): SlowRule => ({ client, bytesMin: 100, windowMs: 1_000 });
const bytes = (n: number): Uint8Array => new Uint8Array(n);

/** A sink that takes the next chunk only when told. */
function stiffSink(): { sink: Writable; release: () => void; taken: number[] } {
  const waiting: (() => void)[] = [];
  const taken: number[] = [];
  const sink = new Writable({
    highWaterMark: 1,
    write(chunk: Buffer, _encoding, done) {
      taken.push(chunk.length);
      waiting.push(done);
    },
  });
  return { sink, release: () => waiting.shift()?.(), taken };
}

it("everything arrives, in order, and the sink stays open", async () => {
  const sink = new PassThrough();
  const poured = pour(Readable.from([Buffer.from("ab"), Buffer.from("c")]), sink, { clock: new TestClock() });
  expect(await poured).toBe(3);
  expect(sink.writableEnded).toBe(false);
  sink.end();
  expect((await sink.toArray()).join("")).toBe("abc");
});

it("no faster than the sink takes it", async () => {
  const { sink, release, taken } = stiffSink();
  let asked = 0;
  async function* source(): AsyncGenerator<Uint8Array> {
    for (; asked < 100; asked++) yield bytes(10);
  }
  const poured = pour(source(), sink, { clock: new TestClock() });
  await settled();
  expect([asked, taken.length]).toEqual([0, 1]);
  release();
  await settled();
  expect([asked, taken.length]).toEqual([1, 2]);
  sink.destroy();
  await expect(poured).rejects.toMatchObject({ fault: { kind: "closed" } });
});

it("a source that drips is cut, one that is fast enough is not (grasp.md 7.16)", async () => {
  const clock = new TestClock();
  const source = new PassThrough();
  const sink = new PassThrough().resume();
  let outcome: unknown = "pouring";
  void pour(source, sink, { clock, slow: rule("source") }).catch((error: unknown) => (outcome = error));
  for (let n = 0; n < 30; n++) {
    source.write(bytes(50));
    await clock.advance(300);
  }
  expect(outcome).toBe("pouring");
  for (let n = 0; n < 10; n++) {
    source.write(bytes(20));
    await clock.advance(300);
  }
  expect(outcome).toMatchObject({ fault: { kind: "timeout", afterMs: 1_000 } });
});

it("time that git needs is not the client's", async () => {
  const clock = new TestClock();
  const { sink, release } = stiffSink();
  const poured = pour(Readable.from([bytes(1), bytes(1)]), sink, { clock, slow: rule("source") });
  await clock.advance(60_000);
  release();
  await clock.advance(60_000);
  release();
  expect(await poured).toBe(2);
});

it("a sink that takes nothing is cut", async () => {
  const clock = new TestClock();
  const { sink } = stiffSink();
  const poured = pour(Readable.from([bytes(1), bytes(1)]), sink, { clock, slow: rule("sink") });
  poured.catch(() => undefined);
  await clock.advance(1_000);
  await expect(poured).rejects.toMatchObject({ fault: { kind: "timeout" } });
});

it("an abort ends a wait for the source", async () => {
  const abort = new AbortController();
  const source = new PassThrough();
  const poured = pour(source, new PassThrough(), { clock: new TestClock(), signal: abort.signal });
  await settled();
  abort.abort();
  await expect(poured).rejects.toMatchObject({ fault: { kind: "aborted" } });
});

it("an abort ends a wait for the sink, and tells the source", async () => {
  const abort = new AbortController();
  const source = Readable.from([bytes(1), bytes(1), bytes(1)]);
  const poured = pour(source, stiffSink().sink, { clock: new TestClock(), signal: abort.signal });
  await settled();
  abort.abort();
  await expect(poured).rejects.toMatchObject({ fault: { kind: "aborted" } });
  await settled();
  expect(source.destroyed).toBe(true);
});

it("the rule is 1 KiB/s over a minute", () => expect(slowClient("sink")).toEqual({ client: "sink", bytesMin: 61_440, windowMs: 60_000 }));
