import { RawClient } from "../bench/raw-client.ts";

const PREFIX = '["EVENT","q",';

/** Asks one question after the other and gives the events' own texts, byte for byte. */
export class Asker implements Disposable {
  readonly #client: RawClient;

  private constructor(client: RawClient) {
    this.#client = client;
  }

  static async connect(url: string): Promise<Asker> {
    return new Asker(await RawClient.connect(url, () => undefined));
  }

  ask(filter: Readonly<Record<string, unknown>>): Promise<string[]> {
    return new Promise((resolve, reject) => {
      const texts: string[] = [];
      this.#client.onClosed = (reason) => reject(new Error(`${reason} while ${JSON.stringify(filter).slice(0, 300)} was asked`));
      this.#client.onMessage = (bytes, start, end) => {
        const message = bytes.toString("utf8", start, end);
        if (message.startsWith(PREFIX)) texts.push(message.slice(PREFIX.length, -1));
        else if (message === '["EOSE","q"]') resolve(texts);
        else reject(new Error(`asked ${JSON.stringify(filter).slice(0, 300)}, was told ${message.slice(0, 300)}`));
      };
      this.#client.sendText(`["REQ","q",${JSON.stringify(filter)}]`);
    });
  }

  [Symbol.dispose](): void {
    this.#client.close();
  }
}

/** Our own events have their id first. */
export const idOfText = (text: string): string => text.slice(7, 71);
