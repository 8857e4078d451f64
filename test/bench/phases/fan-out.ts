import { type Bench, freshFrames, interleaved, measured, type Target } from "../bench.ts";
import { RawClient } from "../raw-client.ts";
import { median, quantile, type Row } from "../sheet.ts";
import { answerKind, okSaysTrue, textFrame } from "../wire.ts";

/** Below the smallest known allowance of events per connection and minute (60), so that one publisher suffices. */
const SINGLE_EVENTS = 20;
const BURST_EVENTS = 50;
const WAIT_MS = 30_000;
const OPEN_AT_ONCE = 50;

/** One new event and many who wait for it: how soon the last has it, and how many deliveries a second a burst makes. */
export async function fanOutPhase(bench: Bench): Promise<void> {
  const crowds = new Map<Target, Crowd>();
  const section = `Live fan-out to ${bench.options.subscribers.toLocaleString("en")} subscribers`;
  const row = (label: string, unit: string, better: Row["better"]): Row => ({ section, label, unit, better });
  const deliveries = row(`burst of ${BURST_EVENTS}`, "deliveries/s", "more");
  try {
    await interleaved(bench, "fan-out", async (target) => {
      let crowd = crowds.get(target);
      if (crowd === undefined) {
        crowd = await Crowd.gather(bench, target);
        crowds.set(target, crowd);
      }
      const lastMs: number[] = [];
      await withPublisher(target, async (publisher) => {
        for (const frame of freshFrames(bench, SINGLE_EVENTS)) lastMs.push(await crowd.deliver(publisher, [frame]));
      });
      bench.sheet.add(target.name, row("publish → last subscriber, median", "ms", "less"), median(lastMs));
      bench.sheet.add(target.name, row("publish → last subscriber, p99", "ms", "less"), quantile(lastMs, 0.99));
      const burst = freshFrames(bench, BURST_EVENTS);
      await withPublisher(target, async (publisher) => {
        const { result, spent } = await measured(target, () => crowd.deliver(publisher, burst));
        const count = burst.length * crowd.size;
        bench.sheet.add(target.name, deliveries, count / (result / 1000));
        if (spent.serverCpuS !== undefined)
          bench.sheet.add(target.name, { ...row("relay CPU", "µs/delivery", "less"), mean: true }, (spent.serverCpuS * 1e6) / count);
        bench.sheet.add(target.name, { ...row("driver CPU", "µs/delivery", "less"), mean: true }, (spent.driverCpuS * 1e6) / count);
      });
    });
  } finally {
    for (const crowd of crowds.values()) crowd.disperse();
  }
}

async function withPublisher(target: Target, work: (publisher: RawClient) => Promise<void>): Promise<void> {
  const publisher = await RawClient.connect(target.url, () => undefined);
  try {
    await work(publisher);
  } finally {
    publisher.close();
  }
}

/** Subscribers with a connection each, as real ones have. */
class Crowd {
  readonly #clients: RawClient[] = [];
  #heard = 0;
  #wanted = Number.POSITIVE_INFINITY;
  #onAll: () => void = () => undefined;

  get size(): number {
    return this.#clients.length;
  }

  static async gather(bench: Bench, target: Target): Promise<Crowd> {
    const crowd = new Crowd();
    // Any event of the repository: what a client that watches it asks for. One stored event proves that the subscription stands.
    const request = textFrame(`["REQ","live",{"#a":["${bench.world.coordinate}"],"limit":1}]`);
    const total = bench.options.subscribers;
    while (crowd.size < total) {
      const wave = Array.from({ length: Math.min(OPEN_AT_ONCE, total - crowd.size) }, () => crowd.#join(target.url, request));
      const outcomes = await Promise.allSettled(wave);
      const failed = outcomes.find((outcome) => outcome.status === "rejected");
      if (failed !== undefined) {
        crowd.disperse();
        throw new Error(`subscriber ${crowd.size + 1}: ${failed.reason instanceof Error ? failed.reason.message : String(failed.reason)}`);
      }
    }
    return crowd;
  }

  /** Milliseconds from sending the frames until every subscriber has every one of them. */
  deliver(publisher: RawClient, frames: readonly Buffer[]): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#heard = 0;
      this.#wanted = frames.length * this.size;
      const began = performance.now();
      const timer = setTimeout(() => {
        const missing = this.#wanted - this.#heard;
        this.#wanted = Number.POSITIVE_INFINITY;
        reject(new Error(`${missing} deliveries missing after ${WAIT_MS / 1000} s`));
      }, WAIT_MS);
      this.#onAll = () => {
        clearTimeout(timer);
        resolve(performance.now() - began);
      };
      publisher.onMessage = (bytes, start, end) => {
        if (answerKind(bytes, start) !== "ok" || okSaysTrue(bytes, start, end)) return;
        clearTimeout(timer);
        reject(new Error(bytes.toString("utf8", start, end)));
      };
      for (const frame of frames) publisher.send(frame);
    });
  }

  disperse(): void {
    for (const client of this.#clients) client.close();
  }

  async #join(url: string, request: Buffer): Promise<void> {
    const client = await RawClient.connect(url, () => undefined);
    this.#clients.push(client);
    await new Promise<void>((resolve, reject) => {
      client.onClosed = (reason) => reject(new Error(reason));
      client.onMessage = (bytes, start, end) => {
        const kind = answerKind(bytes, start);
        if (kind === "eose") resolve();
        else if (kind === "closed") reject(new Error(bytes.toString("utf8", start, end)));
      };
      client.send(request);
    });
    client.onMessage = (bytes, start) => {
      if (answerKind(bytes, start) !== "event") return;
      this.#heard += 1;
      if (this.#heard === this.#wanted) this.#onAll();
    };
  }
}
