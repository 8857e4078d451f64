import type { Clock } from "../../base/clock.ts";
import { type Instant, instant, plus } from "../../base/time.ts";
import type { Outbox } from "./outbox.ts";

/** Live events that follow a burst closely wait this long for company: one write then carries several. The first after a quiet time goes at once. */
const COMPANY_MS = 5;

/** Decides when what was put into outboxes goes out: answers at the end of the turn, live events in company. */
export class Flusher {
  readonly #clock: Clock;
  readonly #dirty = new Set<Outbox>();
  readonly #live = new Set<Outbox>();
  #scheduled = false;
  #liveAt: Instant = instant(0);
  #liveScheduled = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** At the end of this turn. */
  soon(outbox: Outbox): void {
    this.#dirty.add(outbox);
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      flushAll(this.#dirty);
    });
  }

  /** At the end of this turn, or, right after another live flush, a little later. */
  inCompany(outbox: Outbox): void {
    this.#live.add(outbox);
    if (this.#liveScheduled) return;
    this.#liveScheduled = true;
    const due = plus(this.#liveAt, COMPANY_MS);
    const flush = () => {
      this.#liveScheduled = false;
      this.#liveAt = this.#clock.now();
      flushAll(this.#live);
    };
    if (this.#clock.now() >= due) setImmediate(flush);
    else this.#clock.at(due, flush);
  }
}

function flushAll(outboxes: Set<Outbox>): void {
  for (const outbox of outboxes) outbox.flush();
  outboxes.clear();
}
