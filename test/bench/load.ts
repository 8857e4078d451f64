import { measured, type Spent, type Target } from "./bench.ts";
import { RawClient } from "./raw-client.ts";
import { answerKind, okSaysTrue } from "./wire.ts";

/** A relay that has answered nothing for so long has stopped answering; the run goes on without it. */
const STALL_MS = 30_000;
/** Connections opened ahead of the measurement for relays that limit events per connection. */
const SPARES_MAX = 64;
/** A relay that closes more often than this within one measurement does not want it. */
const CLOSINGS_MAX = 16;

export interface PublishOrder {
  readonly target: Target;
  /** The next frame to send, or undefined when there are no more. */
  readonly next: () => Buffer | undefined;
  readonly total: number;
  readonly connections: number;
  readonly inFlight: number;
  readonly onProgress?: (answered: number) => void;
}

export interface PublishResult {
  readonly accepted: number;
  readonly refused: number;
  readonly seconds: number;
  /** The relay's own words: the first refusal, or why the run ended early. */
  readonly reason: string | undefined;
  /** Milliseconds from EVENT to OK, only when there is one in flight in all. */
  readonly latenciesMs: readonly number[];
  /** From the first EVENT to the last OK, without the opening of connections. */
  readonly spent: Spent;
}

/** Publishes everything `next` gives, over lanes of connections with a window each, and counts the OKs. */
export async function publish(order: PublishOrder): Promise<PublishResult> {
  const run = new PublishRun(order);
  try {
    await run.open();
    const { result, spent } = await measured(order.target, () => run.go());
    return { ...result, spent };
  } finally {
    run.close();
  }
}

interface Member {
  readonly client: RawClient;
  sent: number;
  outstanding: number;
}

class PublishRun {
  readonly #order: PublishOrder;
  readonly #lanes: Lane[];
  readonly #timed: boolean;
  readonly #latencies: number[] = [];
  #accepted = 0;
  #refused = 0;
  #reason: string | undefined;
  #closings = 0;
  #lastAnswer = 0;
  #sentAt = 0;
  #exhausted = false;
  #finish: () => void = () => undefined;

  constructor(order: PublishOrder) {
    this.#order = order;
    this.#timed = order.connections === 1 && order.inFlight === 1;
    this.#lanes = Array.from({ length: order.connections }, () => new Lane(order, this));
  }

  async open(): Promise<void> {
    for (const lane of this.#lanes) await lane.open();
  }

  async go(): Promise<Omit<PublishResult, "spent">> {
    const finished = new Promise<void>((resolve) => {
      this.#finish = resolve;
    });
    const started = performance.now();
    this.#lastAnswer = started;
    const watch = setInterval(() => {
      if (performance.now() - this.#lastAnswer > STALL_MS) this.stop(`no answer for ${STALL_MS / 1000} s`);
    }, 1_000);
    for (const lane of this.#lanes) lane.fill();
    this.#checkDone();
    await finished;
    clearInterval(watch);
    const seconds = (Math.max(this.#lastAnswer, started + 0.001) - started) / 1000;
    return { accepted: this.#accepted, refused: this.#refused, seconds, reason: this.#reason, latenciesMs: this.#latencies };
  }

  take(): Buffer | undefined {
    if (this.#exhausted) return undefined;
    const frame = this.#order.next();
    if (frame === undefined) this.#exhausted = true;
    else if (this.#timed) this.#sentAt = performance.now();
    return frame;
  }

  /** Called for each OK; the clock is read only where each single latency counts, or when nothing else will come. */
  answered(bytes: Buffer, start: number, end: number): void {
    if (okSaysTrue(bytes, start, end)) this.#accepted += 1;
    else {
      this.#refused += 1;
      this.#reason ??= reasonOf(bytes.toString("utf8", start, end));
    }
    const now = performance.now();
    this.#lastAnswer = now;
    if (this.#timed) this.#latencies.push(now - this.#sentAt);
    this.#order.onProgress?.(this.#accepted + this.#refused);
  }

  laneRested(): void {
    this.#checkDone();
  }

  closed(reason: string): void {
    this.#reason ??= reason;
    this.#closings += 1;
    if (this.#closings > CLOSINGS_MAX) this.stop(reason);
  }

  stop(reason: string): void {
    this.#reason ??= reason;
    this.#exhausted = true;
    this.#finish();
  }

  close(): void {
    for (const lane of this.#lanes) lane.close();
  }

  #checkDone(): void {
    if (this.#exhausted && this.#lanes.every((lane) => lane.outstanding === 0)) this.#finish();
  }
}

/** One logical connection: a window of unanswered events that moves to a fresh socket when the relay's allowance for the old one is used up. */
class Lane {
  readonly #order: PublishOrder;
  readonly #run: PublishRun;
  readonly #members = new Set<Member>();
  readonly #spares: Member[] = [];
  #current: Member | undefined;
  #opening = 0;
  #over = false;
  outstanding = 0;

  constructor(order: PublishOrder, run: PublishRun) {
    this.#order = order;
    this.#run = run;
  }

  async open(): Promise<void> {
    const share = Math.ceil(this.#order.total / this.#order.connections / this.#order.target.perConnection);
    for (let n = 0; n < Math.min(share + 1, SPARES_MAX); n++) {
      this.#spares.push(await this.#connect());
      if (this.#order.target.perConnection === Number.POSITIVE_INFINITY) break;
    }
    this.#current = this.#spares.shift();
  }

  fill(): void {
    while (this.outstanding < this.#order.inFlight && !this.#over) {
      const member = this.#usable();
      if (member === undefined) return;
      const frame = this.#run.take();
      if (frame === undefined) return;
      member.sent += 1;
      member.outstanding += 1;
      this.outstanding += 1;
      member.client.send(frame);
    }
  }

  close(): void {
    this.#over = true;
    for (const member of this.#members) member.client.close();
  }

  #usable(): Member | undefined {
    const current = this.#current;
    if (current !== undefined && current.sent < this.#order.target.perConnection && current.client.closed === undefined) return current;
    if (current !== undefined && current.outstanding === 0) this.#drop(current);
    this.#current = this.#spares.shift();
    if (this.#spares.length + this.#opening < 2) void this.#replenish();
    return this.#current;
  }

  async #replenish(): Promise<void> {
    this.#opening += 1;
    try {
      const member = await this.#connect();
      if (this.#over) return member.client.close();
      this.#spares.push(member);
    } catch (error) {
      if (!this.#over) this.#run.stop(error instanceof Error ? error.message : String(error));
    } finally {
      this.#opening -= 1;
    }
    this.fill();
  }

  async #connect(): Promise<Member> {
    const client = await RawClient.connect(this.#order.target.url, () => undefined);
    const member: Member = { client, sent: 0, outstanding: 0 };
    client.onMessage = (bytes, start, end) => {
      if (answerKind(bytes, start) !== "ok") return;
      member.outstanding -= 1;
      this.outstanding -= 1;
      this.#run.answered(bytes, start, end);
      if (member !== this.#current && member.outstanding === 0) this.#drop(member);
      this.fill();
      if (this.outstanding === 0) this.#run.laneRested();
    };
    client.onClosed = (reason) => {
      this.outstanding -= member.outstanding;
      member.outstanding = 0;
      this.#members.delete(member);
      this.#run.closed(reason);
      this.fill();
      if (this.outstanding === 0) this.#run.laneRested();
    };
    this.#members.add(member);
    return member;
  }

  #drop(member: Member): void {
    this.#members.delete(member);
    member.client.close();
  }
}

/** The last part of an OK. */
function reasonOf(message: string): string {
  const parts: unknown = JSON.parse(message);
  return Array.isArray(parts) ? String(parts[3] ?? "no reason given") : message;
}
