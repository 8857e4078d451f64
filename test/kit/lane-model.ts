/** An event with the exact text that was sent. */
export interface LoadEvent {
  readonly id: string;
  readonly pubkey: string;
  readonly created_at: number;
  readonly kind: number;
  readonly tags: readonly (readonly string[])[];
  readonly content: string;
  readonly sig: string;
  readonly json: string;
}

/** NIP-01: the address of which only one version is kept. Written apart from the server's own: the proof must not inherit its mistakes. */
function addressOf({ kind, pubkey, tags }: LoadEvent): string | undefined {
  if (kind === 0 || kind === 3 || (kind >= 10_000 && kind < 20_000)) return `${kind}:${pubkey}:`;
  if (kind < 30_000 || kind >= 40_000) return undefined;
  return `${kind}:${pubkey}:${tags.find(([name]) => name === "d")?.[1] ?? ""}`;
}

/** A relay in twenty lines: what is served after these events came one after the other. Keys here never delete what is another's. */
export class LaneModel {
  readonly served = new Map<string, LoadEvent>();
  readonly #holders = new Map<string, string>();
  readonly #goneIds = new Set<string>();
  readonly #goneAddresses = new Map<string, number>();

  copy(): LaneModel {
    const copy = new LaneModel();
    for (const [id, event] of this.served) copy.served.set(id, event);
    for (const [address, id] of this.#holders) copy.#holders.set(address, id);
    for (const key of this.#goneIds) copy.#goneIds.add(key);
    for (const [address, until] of this.#goneAddresses) copy.#goneAddresses.set(address, until);
    return copy;
  }

  apply(event: LoadEvent): "stored" | "known" | "superseded" | "refused" {
    if (this.served.has(event.id)) return "known";
    const address = addressOf(event);
    if (event.kind !== 5) {
      if (this.#goneIds.has(`${event.pubkey}:${event.id}`)) return "refused";
      if (address !== undefined && (this.#goneAddresses.get(address) ?? -1) >= event.created_at) return "refused";
    }
    if (address !== undefined) {
      const holder = this.served.get(this.#holders.get(address) ?? "");
      if (holder !== undefined && !isNewer(event, holder)) return "superseded";
      if (holder !== undefined) this.served.delete(holder.id);
      this.#holders.set(address, event.id);
    }
    if (event.kind === 5) for (const [name, value = ""] of event.tags) this.#delete(event, name, value);
    this.served.set(event.id, event);
    return "stored";
  }

  #delete(request: LoadEvent, name: string | undefined, target: string): void {
    if (name === "e") {
      this.#goneIds.add(`${request.pubkey}:${target}`);
      const event = this.served.get(target);
      if (event?.pubkey === request.pubkey && event.kind !== 5) this.served.delete(target);
    } else if (name === "a" && target.split(":")[1] === request.pubkey) {
      this.#goneAddresses.set(target, Math.max(this.#goneAddresses.get(target) ?? -1, request.created_at));
      const holder = this.served.get(this.#holders.get(target) ?? "");
      if (holder !== undefined && holder.created_at <= request.created_at) this.served.delete(holder.id);
    }
  }

  /** What the server has and should not, or has not and should; undefined when both agree. */
  difference(served: ReadonlySet<string>): string | undefined {
    for (const event of this.served.values()) if (!served.has(event.id)) return `kind ${event.kind} ${event.id} is missing`;
    if (served.size === this.served.size) return undefined;
    for (const id of served) if (!this.served.has(id)) return `${id} is served and should not be`;
    return undefined;
  }
}

const isNewer = (a: LoadEvent, b: LoadEvent): boolean => a.created_at > b.created_at || (a.created_at === b.created_at && a.id < b.id);
