import { RawClient } from "../bench/raw-client.ts";
import type { Lane, Sent } from "./write-load.ts";

export interface DriveOptions {
  /** Events of one connection that wait for their OK. */
  readonly depth: number;
  /** Large versions among the events. */
  readonly bulk: boolean;
  /** After every OK: how many there were in this drive. */
  readonly onAnswer: (count: number) => void;
}

/** All lanes at once, each on a connection of its own, until the server is gone. */
export class Drive {
  /** Answers that should not have been. */
  readonly problems: string[] = [];
  answers = 0;
  /** Resolves when every connection has ended; by then every OK that was sent has been read. */
  readonly ended: Promise<void>;
  readonly #options: DriveOptions;
  readonly #clients: RawClient[];
  #stopped = false;

  private constructor(lanes: readonly Lane[], clients: RawClient[], options: DriveOptions) {
    this.#options = options;
    this.#clients = clients;
    this.ended = Promise.all(clients.map((client, at) => this.#run(client, lanes[at] as Lane))).then(() => undefined);
  }

  static async start(url: string, lanes: readonly Lane[], options: DriveOptions): Promise<Drive> {
    const clients = await Promise.all(lanes.map(() => RawClient.connect(url, () => undefined)));
    return new Drive(lanes, clients, options);
  }

  /** Sends nothing more; what is under way may still be answered. */
  stop(): void {
    this.#stopped = true;
  }

  close(): void {
    for (const client of this.#clients) client.close();
  }

  #run(client: RawClient, lane: Lane): Promise<void> {
    const waiting = new Map<string, Sent[]>();
    const sendOne = (): void => {
      if (this.#stopped) return;
      const sent = lane.next(this.#options.bulk);
      const same = waiting.get(sent.event.id);
      if (same === undefined) waiting.set(sent.event.id, [sent]);
      else same.push(sent);
      client.sendText(`["EVENT",${sent.event.json}]`);
    };
    client.onMessage = (bytes, start, end) => {
      const text = bytes.toString("utf8", start, end);
      const sent = text.startsWith('["OK","') ? waiting.get(text.slice(7, 71)) : undefined;
      const first = sent?.shift();
      if (first === undefined) {
        this.problems.push(`lane ${lane.number} was told ${text.slice(0, 300)}`);
        return;
      }
      const answer = text.startsWith("true", 73);
      if (answer !== first.expected)
        this.problems.push(`lane ${lane.number} expected ${first.expected} for kind ${first.event.kind}: ${text}`);
      lane.heard(first, answer);
      this.answers++;
      this.#options.onAnswer(this.answers);
      sendOne();
    };
    return new Promise((resolve) => {
      client.onClosed = () => resolve();
      for (let at = 0; at < this.#options.depth; at++) sendOne();
    });
  }
}
