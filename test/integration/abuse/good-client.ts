import { expect } from "vitest";
import { note } from "../../kit/event-builder.ts";
import { type Actor, actor } from "../../kit/keys.ts";
import { RelayClient } from "../../kit/relay-client.ts";
import type { ServerUnderTest } from "../../kit/server-under-test.ts";

let guests = 0;

/** Somebody who does everything right: publishes, hears of it live, finds it again. Each answer is checked, whatever else happens on the server. */
export class GoodClient {
  readonly #writer: RelayClient;
  readonly #listener: RelayClient;
  readonly #who: Actor;
  readonly #published: string[] = [];
  readonly #tookMs: number[] = [];

  private constructor(writer: RelayClient, listener: RelayClient, who: Actor) {
    this.#writer = writer;
    this.#listener = listener;
    this.#who = who;
  }

  static async come(server: ServerUnderTest): Promise<GoodClient> {
    const who = actor(`guest ${++guests}`);
    const [writer, listener] = await Promise.all([RelayClient.connect(server.url), RelayClient.connect(server.url)]);
    const { eose, events } = await listener.subscribe("live", { authors: [who.pubkey] });
    expect({ eose, events }).toEqual({ eose: true, events: [] });
    return new GoodClient(writer, listener, who);
  }

  async rounds(count: number): Promise<void> {
    for (let n = 0; n < count; n++) {
      const event = note(this.#who, `${n}`, { created_at: 1_800_000_000 + n, tags: [["t", this.#who.name]] });
      const since = performance.now();
      expect(await this.#writer.publish(event)).toEqual({ ok: true, message: "" });
      this.#published.unshift(event.id);
      expect((await this.#listener.nextEvent("live")).id).toBe(event.id);
      expect(await this.#writer.ids({ ids: [event.id] })).toEqual([event.id]);
      expect(await this.#listener.ids({ "#t": [this.#who.name], limit: 3 })).toEqual(this.#published.slice(0, 3));
      this.#tookMs.push(performance.now() - since);
    }
  }

  /** Everything is there, once, and nothing came that was not asked for. */
  async leave(): Promise<number> {
    const all = await this.#writer.request({ authors: [this.#who.pubkey] });
    expect(all.events.map(({ id }) => id)).toEqual(this.#published);
    expect(await this.#writer.count({ authors: [this.#who.pubkey] })).toMatchObject({ result: { count: this.#published.length } });
    expect(this.#listener.seen("live")).toEqual(this.#published.toReversed());
    expect([...this.#writer.notices(), ...this.#listener.notices()]).toEqual([]);
    expect([this.#writer.isClosed, this.#listener.isClosed]).toEqual([false, false]);
    await Promise.all([this.#writer.close(), this.#listener.close()]);
    return median(this.#tookMs);
  }
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
