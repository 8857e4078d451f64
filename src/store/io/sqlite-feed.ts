import { invariant } from "../../base/assert.ts";
import { unixSeconds } from "../../base/time.ts";
import type { EventId } from "../../nostr/event.ts";
import { type Feed, type FeedChange, type Seq, seq } from "../event-store.ts";
import { type Connection, HEAD_SQL } from "./sqlite-file.ts";
import { GONE_HELD, GONE_PASSED } from "./sqlite-tables.ts";

/** Changes a slice reads: a few milliseconds at a kilobyte an event. */
const SLICE = 1_000;

/** The feed is not stored apart: numbers of served events stand in `event`, all others in `gone`, texts of held events in `held`. */
export class SqliteFeed implements Feed {
  readonly #served;
  readonly #gone;
  readonly #held;
  readonly #head;
  /** A removal between the two reads of a slice would show a number twice. */
  readonly #atOneMoment: (after: number, upTo: number) => FeedChange[];

  constructor(db: Connection) {
    this.#served = db
      .prepare<[number, number], [number, number, string]>(
        "SELECT e.seq, e.created_at, b.text FROM event e CROSS JOIN body b ON b.seq = e.seq WHERE e.seq > ? AND e.seq <= ? ORDER BY e.seq",
      )
      .raw(true);
    this.#gone = db
      .prepare<[number, number], [number, number, Buffer]>("SELECT seq, change, id FROM gone WHERE seq > ? AND seq <= ? ORDER BY seq")
      .raw(true);
    this.#held = db.prepare<[Buffer], [number, string]>("SELECT created_at, text FROM held WHERE id = ?").raw(true);
    this.#head = db.prepare<[], number>(HEAD_SQL).pluck();
    this.#atOneMoment = db.transaction((after: number, upTo: number) => this.#slice(after, upTo));
  }

  read(after: Seq): AsyncGenerator<readonly FeedChange[], void, void> {
    return this.#slices(after, this.#head.get() ?? 0);
  }

  async *#slices(after: number, head: number): AsyncGenerator<readonly FeedChange[], void, void> {
    for (let from = after; from < head; from += SLICE) yield this.#atOneMoment(from, Math.min(head, from + SLICE));
  }

  #slice(after: number, upTo: number): FeedChange[] {
    const changes: FeedChange[] = [];
    for (const [number, createdAt, text] of this.#served.all(after, upTo)) {
      const event = { seq: seq(number), id: text.slice(7, 71) as EventId, createdAt: unixSeconds(createdAt), text };
      changes.push({ seq: seq(number), change: "served", event });
    }
    for (const [number, change, bytes] of this.#gone.all(after, upTo)) {
      const id = bytes.toString("hex") as EventId;
      if (change === GONE_HELD) changes.push(this.#heldChange(number, id, bytes));
      else changes.push({ seq: seq(number), change: change === GONE_PASSED ? "passed" : "removed", id });
    }
    return changes.sort((a, b) => a.seq - b.seq);
  }

  #heldChange(number: number, id: EventId, bytes: Buffer): FeedChange {
    const row = this.#held.get(bytes);
    invariant(row !== undefined, "a number of the feed that holds something names what is held");
    return { seq: seq(number), change: "held", id, createdAt: unixSeconds(row[0]), text: row[1] };
  }
}
