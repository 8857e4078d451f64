/** What must be up before we are ready, and what it is waiting for. Alive needs no thought: who answers is alive. */
export class Health {
  readonly #waiting = new Map<string, string>();

  /** Each part begins as not ready. */
  constructor(parts: Readonly<Record<string, string>>) {
    for (const [part, why] of Object.entries(parts)) this.#waiting.set(part, why);
  }

  /** `why` is read by operators: "the store is opening, 37 %". */
  waiting(part: string, why: string): void {
    this.#waiting.set(part, why);
  }

  ready(part: string): void {
    this.#waiting.delete(part);
  }

  /** Why we are not ready, every reason, or `undefined` when we are. */
  notReady(): string | undefined {
    return this.#waiting.size === 0 ? undefined : [...this.#waiting.values()].join("; ");
  }
}
