import { RawClient } from "./raw-client.ts";
import { answerKind, textFrame } from "./wire.ts";

const ANSWER_MS = 30_000;

/** A client that asks one thing after the other and notes how long each answer takes until EOSE. */
export class Asker {
  readonly #client: RawClient;
  readonly #requests: readonly Buffer[];
  readonly latenciesMs: number[] = [];
  events = 0;
  /** The relay's words when it would not answer. */
  refusal: string | undefined;
  #at = 0;
  #sentAt = 0;
  #done: () => void = () => undefined;

  private constructor(client: RawClient, filters: readonly string[]) {
    this.#client = client;
    this.#requests = filters.map((filter, at) => textFrame(`["REQ","${subscription(at)}",${filter}]`));
  }

  static async open(url: string, filters: readonly string[]): Promise<Asker> {
    return new Asker(await RawClient.connect(url, () => undefined), filters);
  }

  /** Resolves when all is answered, or when the relay would not. */
  async run(): Promise<void> {
    const finished = new Promise<void>((resolve) => {
      this.#done = resolve;
    });
    const watch = setInterval(() => {
      if (performance.now() - this.#sentAt > ANSWER_MS) this.#refused(`no EOSE within ${ANSWER_MS / 1000} s`);
    }, 1_000);
    this.#client.onClosed = (reason) => this.#refused(reason);
    this.#client.onMessage = (bytes, start, end) => this.#hear(bytes, start, end);
    this.#ask();
    await finished;
    clearInterval(watch);
  }

  close(): void {
    this.#client.close();
  }

  #ask(): void {
    const request = this.#requests[this.#at++];
    if (request === undefined) return this.#done();
    this.#sentAt = performance.now();
    this.#client.send(request);
  }

  #hear(bytes: Buffer, start: number, end: number): void {
    const kind = answerKind(bytes, start);
    if (kind === "event") this.events += 1;
    else if (kind === "eose") {
      this.latenciesMs.push(performance.now() - this.#sentAt);
      this.#ask();
    } else if (kind === "notice") this.#refused(bytes.toString("utf8", start, end));
    else if (kind === "closed") {
      // A relay may close a query by ids once it has found them all; that comes after EOSE, when the next question is out already.
      const text = bytes.toString("utf8", start, end);
      if (text.includes(`"${subscription(this.#at - 1)}"`)) this.#refused(text);
    }
  }

  #refused(reason: string): void {
    this.refusal ??= reason;
    this.#done();
  }
}

/** Two ids in turn: a new REQ replaces the one before the last (NIP-01), so no CLOSE is needed, and a late word about the last is told apart. */
const subscription = (at: number): string => (at % 2 === 0 ? "even" : "odd");
