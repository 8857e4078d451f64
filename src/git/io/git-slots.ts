import { FaultError } from "../../base/fault.ts";
import { RoundRobin } from "../../base/round-robin.ts";

/** A push feeds a pack in, a fetch reads one out, upkeep is everything that nobody waits for at a door. */
export type GitPurpose = "push" | "fetch" | "upkeep";

export interface SlotLimits {
  /** Processes in all (grasp.md 7.16: 8 per core). */
  readonly totalMax: number;
  /** Never taken by anything else, so that neither door can shut the other. */
  readonly keptForPushes: number;
  readonly keptForFetches: number;
  readonly perAddressMax: number;
  /** Waiting behind one address, and in all; beyond it a request fails as busy instead of growing memory. */
  readonly waitingPerAddressMax: number;
  readonly waitingMax: number;
}

export const slotLimits = (cores: number): SlotLimits => ({
  totalMax: 8 * cores,
  keptForPushes: 2,
  keptForFetches: 2,
  perAddressMax: 8,
  waitingPerAddressMax: 64,
  waitingMax: 1_024,
});

interface Waiter {
  readonly begin: () => void;
  isGone: boolean;
}

/** Who may start a git process now; the others wait, and addresses take turns. */
export class GitSlots {
  readonly #limits: SlotLimits;
  readonly #running: Record<GitPurpose, number> = { push: 0, fetch: 0, upkeep: 0 };
  readonly #byAddress = new Map<string, number>();
  readonly #waiting: RoundRobin<string, Waiter>;

  constructor(limits: SlotLimits) {
    this.#limits = limits;
    this.#waiting = new RoundRobin({ perKeyMax: limits.waitingPerAddressMax, totalMax: limits.waitingMax });
  }

  get running(): number {
    return this.#running.push + this.#running.fetch + this.#running.upkeep;
  }
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Resolves with the function that gives the slot back. Work without an address is our own and bounded elsewhere. */
  take(purpose: GitPurpose, address: string | undefined, signal?: AbortSignal): Promise<() => void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(new FaultError({ kind: "aborted", cause: signal.reason }));
      const key = `${purpose} ${address ?? ""}`;
      const leave = () => {
        waiter.isGone = true;
        reject(new FaultError({ kind: "aborted", cause: signal?.reason }));
      };
      const waiter: Waiter = {
        isGone: false,
        begin: () => {
          signal?.removeEventListener("abort", leave);
          resolve(this.#begin(purpose, address));
        },
      };
      if (!this.#waiting.push(key, waiter)) return reject(new FaultError({ kind: "busy", what: "git processes" }));
      signal?.addEventListener("abort", leave, { once: true });
      this.#pump();
    });
  }

  #begin(purpose: GitPurpose, address: string | undefined): () => void {
    this.#running[purpose]++;
    if (address !== undefined) this.#byAddress.set(address, (this.#byAddress.get(address) ?? 0) + 1);
    let isBack = false;
    return () => {
      if (isBack) return;
      isBack = true;
      this.#running[purpose]--;
      if (address !== undefined) {
        const left = (this.#byAddress.get(address) ?? 1) - 1;
        if (left === 0) this.#byAddress.delete(address);
        else this.#byAddress.set(address, left);
      }
      this.#pump();
    };
  }

  #pump(): void {
    for (let next = this.#waiting.take((key) => this.#isFree(key)); next; next = this.#waiting.take((key) => this.#isFree(key)))
      if (!next.item.isGone) next.item.begin();
  }

  #isFree(key: string): boolean {
    const space = key.indexOf(" ");
    const purpose = key.slice(0, space);
    const address = key.slice(space + 1);
    if (address !== "" && (this.#byAddress.get(address) ?? 0) >= this.#limits.perAddressMax) return false;
    const forPushes = purpose === "push" ? 0 : Math.max(0, this.#limits.keptForPushes - this.#running.push);
    const forFetches = purpose === "fetch" ? 0 : Math.max(0, this.#limits.keptForFetches - this.#running.fetch);
    return this.running + forPushes + forFetches < this.#limits.totalMax;
  }
}
