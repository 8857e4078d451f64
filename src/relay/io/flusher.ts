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
    const flush = () => {
      this.#liveScheduled = false;
      this.#liveAt = this.#clock.now();
      flushAll(this.#live);
    };
    const since = this.#clock.now() - this.#liveAt;
    // A clock that was set back must not make everybody wait until the old time returns.
    if (since >= COMPANY_MS || since < 0) setImmediate(flush);
    else this.#clock.at(plus(this.#liveAt, COMPANY_MS), flush);
  }
}

function flushAll(outboxes: Set<Outbox>): void {
  for (const outbox of outboxes) outbox.flush();
  outboxes.clear();
}
