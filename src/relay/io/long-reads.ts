import { toUnixSeconds } from "../../base/time.ts";
import type { Filter } from "../../nostr/filter.ts";
import { reason } from "../../nostr/reason.ts";
import { closedText, countText, negErrText, negMsgText } from "../../nostr/relay-message.ts";
import type { Reconciled } from "../reader-messages.ts";
import { WAITING } from "./overload-words.ts";
import type { RelayPorts } from "./relay-ports.ts";

/** What one client asks of the thread for long reads: counts and reconciliations. `lane` is whose they are. */
export class LongReads {
  readonly #ports: Pick<RelayPorts, "far" | "clock">;
  readonly #lane: number;
  readonly #sessions = new Map<string, number>();

  constructor(ports: Pick<RelayPorts, "far" | "clock">, lane: number) {
    this.#ports = ports;
    this.#lane = lane;
  }

  /** The answer to a COUNT. */
  async count(sub: string, filters: readonly Filter[]): Promise<string> {
    const { far, clock } = this.#ports;
    const counted = await far.count(this.#lane, filters, toUnixSeconds(clock.now()));
    if (counted === "busy") return closedText(sub, WAITING);
    if (counted === undefined) return closedText(sub, reason("error", "the store could not be read"));
    return countText(sub, counted.count, counted.hll === undefined ? undefined : { hll: counted.hll });
  }

  /** A message of a reconciliation, its first with the filter; `done` hears the answer to each, and whether it was the last. */
  reconcile(sub: string, filter: Filter | undefined, message: string, done: (text: string, over: boolean) => void): void {
    const { far, clock } = this.#ports;
    let session = this.#sessions.get(sub);
    if (session === undefined) {
      session = far.open(this.#lane, (outcome) => done(reconciledText(sub, outcome), outcome.kind !== "reply"));
      this.#sessions.set(sub, session);
    }
    far.reconcile(session, filter, message, toUnixSeconds(clock.now()));
  }

  end(sub: string): void {
    const session = this.#sessions.get(sub);
    if (session !== undefined) this.#ports.far.end(session);
    this.#sessions.delete(sub);
  }

  endAll(): void {
    for (const sub of this.#sessions.keys()) this.end(sub);
    this.#ports.far.leave(this.#lane);
  }
}

function reconciledText(sub: string, outcome: Reconciled): string {
  switch (outcome.kind) {
    case "reply":
      return negMsgText(sub, outcome.message);
    case "too-many":
      return negErrText(sub, reason("blocked", "this query is too big"), outcome.max);
    case "malformed":
      return negErrText(sub, reason("invalid", outcome.text));
    case "busy":
      return negErrText(sub, WAITING);
    case "evicted":
      return negErrText(sub, reason("closed", "it was quiet for too long while others needed the room; open it again"));
    case "failed":
      return negErrText(sub, reason("error", "the store could not be read"));
  }
}
