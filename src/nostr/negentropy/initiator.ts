import { type Bound, INFINITE, ORIGIN } from "./bound.ts";
import { fingerprint, sameBytes } from "./fingerprint.ts";
import { compareLists } from "./id-lists.ts";
import { IdPile } from "./id-pile.ts";
import type { ItemSet } from "./items.ts";
import { MessageReader, VERSION } from "./message-reader.ts";
import { FRAME_BYTES_MAX, MessageWriter } from "./message-writer.ts";
import { type NegProblem, problem } from "./problem.ts";
import { endsBefore, isListed, overlap, push, type Region, within } from "./region.ts";
import { writeSplit } from "./split.ts";

export interface InitiatorLimits {
  readonly frameBytesMax?: number | undefined;
  /** A set of 10 million ids that we lack comes in 60,000-byte frames within this; a relay that splits hairs for ever does not. */
  readonly roundsMax?: number | undefined;
  /** An honest relay leaves some 50,000 regions open at once; each costs about 150 bytes here. */
  readonly openMax?: number | undefined;
}

/** What one answer taught us: ids of 32 bytes one after the other. Over a whole exchange no difference is told twice by an honest relay. */
export interface Learnt {
  readonly kind: "learnt";
  /** Ours that they lack. */
  readonly have: Uint8Array;
  /** Theirs that we lack. Not trusted: a relay can name whatever it likes. */
  readonly need: Uint8Array;
  /** What to send next; undefined when all is known. */
  readonly next: Uint8Array | undefined;
}

/**
 * The asking side of NIP-77. It remembers what is still open and asks about the lowest part of it that fits a frame; the rest waits for a later
 * round. So a cut, ours or theirs, never makes it ask again about what it already knows.
 */
export class Initiator {
  readonly #items: ItemSet;
  readonly #frameBytesMax: number;
  readonly #roundsMax: number;
  readonly #openMax: number;
  #rounds = 0;
  /** In order; the first `#asked` of them are in the message we sent last. */
  #open: Region[];
  #asked = 0;

  constructor(items: ItemSet, limits: InitiatorLimits = {}) {
    this.#items = items;
    this.#frameBytesMax = limits.frameBytesMax ?? FRAME_BYTES_MAX;
    this.#roundsMax = limits.roundsMax ?? 10_000;
    this.#openMax = limits.openMax ?? 500_000;
    this.#open = [{ lower: ORIGIN, upper: INFINITE, low: 0, high: items.length }];
  }

  /** The message for NEG-OPEN. */
  start(): Uint8Array {
    return this.#ask();
  }

  /** After a problem the exchange is over. */
  receive(message: Uint8Array): Learnt | NegProblem {
    this.#rounds += 1;
    if (this.#rounds > this.#roundsMax) return problem("runaway");
    if (message.length === 0) return problem("empty");
    if (message[0] !== VERSION) return problem("version");

    const have = new IdPile();
    const need = new IdPile();
    const open = this.#sift(message, have, need);
    if (!Array.isArray(open)) return open;
    for (let i = this.#asked; i < this.#open.length; i += 1) open.push(this.#open[i] as Region);
    if (open.length > this.#openMax) return problem("runaway");
    this.#open = open;
    return { kind: "learnt", have: have.packed(), need: need.packed(), next: open.length === 0 ? undefined : this.#ask() };
  }

  #ask(): Uint8Array {
    const out = new MessageWriter(this.#frameBytesMax);
    this.#asked = 0;
    for (const region of this.#open) {
      out.skipTo(region.lower);
      if (!writeSplit(out, this.#items, region.low, region.high, region.upper)) break;
      this.#asked += 1;
    }
    return out.finish();
  }

  /** What of the regions we asked about is still open. What the answer says about any other place is not listened to. */
  #sift(message: Uint8Array, have: IdPile, need: IdPile): Region[] | NegProblem {
    const reader = new MessageReader(message);
    const open: Region[] = [];
    let asked = 0;
    let lower: Bound = ORIGIN;
    let low = 0;
    for (let range = reader.next(); range !== undefined; range = reader.next()) {
      if (range.kind === "problem") return range;
      // Skipped is settled: they agree with what we said there.
      if (range.kind !== "skip") {
        low = this.#items.lowerBound(lower, low);
        const high = this.#items.lowerBound(range.upper, low);
        const span: Region = { lower, upper: range.upper, low, high };
        while (asked < this.#asked && endsBefore(this.#open[asked] as Region, span)) asked += 1;
        const parts = this.#shared(span, asked);
        if (range.kind === "ids") {
          if (parts.length > 0) compareLists(this.#items, span, parts, range.ids, have, need);
        } else if (!this.#agrees(range.fingerprint, span, asked)) {
          for (const part of parts) push(open, part);
        }
        low = high;
      }
      lower = range.upper;
      if (reader.isSpent) {
        const unread: Region = { lower, upper: INFINITE, low: this.#items.lowerBound(lower, low), high: this.#items.length };
        for (const part of this.#shared(unread, asked)) push(open, part);
        break;
      }
    }
    return open;
  }

  /** The parts of the span that we asked about; `from` is the first region that can have one. */
  #shared(span: Region, from: number): readonly Region[] {
    const parts: Region[] = [];
    for (let i = from; i < this.#asked && !endsBefore(span, this.#open[i] as Region); i += 1) {
      const part = overlap(this.#open[i] as Region, span);
      if (part !== undefined) parts.push(part);
    }
    return parts;
  }

  /**
   * A fingerprint that reaches out of what we asked about, or answers a list, is the rest of a cut answer. It covers differences that we already
   * know and, from some relays, leaves items out that were cut off: it settles nothing.
   */
  #agrees(theirs: Uint8Array, span: Region, asked: number): boolean {
    const region = asked < this.#asked ? this.#open[asked] : undefined;
    if (region === undefined || isListed(region) || !within(span, region)) return false;
    return sameBytes(theirs, fingerprint(this.#items, span.low, span.high));
  }
}
