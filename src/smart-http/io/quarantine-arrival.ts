import { invariant } from "../../base/assert.ts";
import type { Objects } from "../../git/io/objects.ts";
import { PACK_LIMITS, type Quarantine } from "../../git/io/quarantine.ts";
import type { Oid } from "../../git/oid.ts";
import type { Arrival, PackOptions, PackOutcome, PushedTip, TipProblem, UnsignedTip } from "../push-ports.ts";

export interface QuarantineArrivalOptions {
  readonly quarantine: Quarantine;
  readonly objects: Objects;
  /** Values of refs that the server holds now: whatever they reach is here. */
  readonly held: () => Iterable<Oid>;
  /** Changes whenever a reclaim has removed objects (grasp.md 7.10). */
  readonly epoch: () => number;
}

/** A push whose tips are all signed: through quarantine into permanent storage. */
export class QuarantineArrival implements Arrival {
  readonly #options: QuarantineArrivalOptions;
  #checkedIn: number;

  constructor(options: QuarantineArrivalOptions) {
    this.#options = options;
    this.#checkedIn = options.epoch();
  }

  async receive(source: AsyncIterable<Uint8Array>, { signal, address, ...limits }: PackOptions): Promise<PackOutcome> {
    // The epoch before the check: a reclaim that runs beside it counts as one after it.
    this.#checkedIn = this.#options.epoch();
    return this.#options.quarantine.receive(source, {
      signal,
      limits: { ...PACK_LIMITS, ...limits },
      ...(address === undefined ? {} : { address }),
    });
  }

  problems(tips: readonly PushedTip[]): Promise<readonly TipProblem[]> {
    return this.#options.quarantine.problems(tips, this.#options.objects);
  }

  async isStillConnected(tips: readonly Oid[]): Promise<boolean> {
    const { quarantine, held, epoch } = this.#options;
    return epoch() === this.#checkedIn || quarantine.isConnected(tips, held());
  }

  migrate(): Promise<void> {
    return this.#options.quarantine.migrate();
  }

  async stage(tip: UnsignedTip): Promise<never> {
    invariant(false, `a quarantine stages nothing: ${tip.event}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#options.quarantine[Symbol.asyncDispose]();
  }
}
