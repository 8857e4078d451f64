import { createHash, hash } from "node:crypto";
import { Chance } from "../bench/chance.ts";
import { openSigner, type Signer } from "../bench/signer.ts";
import { LaneModel, type LoadEvent } from "./lane-model.ts";

/** Who writes on a lane: two keys, so that a lane deletes its own only. */
const AUTHORS_A_LANE = 2;
const NOTE_KINDS = [1, 1111, 1621] as const;
const REPLACEABLE_KINDS = [0, 10_002, 10_317] as const;
const ADDRESSABLE_KINDS = [30_617, 30_618] as const;
const IDENTIFIERS = ["anchor", "kelp", "", "Tide-3"] as const;
/** Every escape of NIP-01, several scripts, and a character beyond the first plane: what could come back changed. */
const SPICE = ['a "quoted" line\nand\ta tab \\ ', "Ufermauer ß ", "海藻 ", "🌊 ", "plain words ", "\b\f\r "] as const;
/** Versions of this size fill the log to its checkpoint in some hundred writes, and leave little behind: each removes the one before. */
const BULK_CHARS = 120_000;
const SIXTY_DAYS_S = 60 * 86_400;

/** One event on its way, and what is known of it. */
export interface Sent {
  readonly event: LoadEvent;
  /** What the model says the OK must be. */
  readonly expected: boolean;
  /** Sent for the answer alone: it changes nothing, and may be answered before what was sent earlier. */
  readonly probe: boolean;
  answer: boolean | undefined;
}

interface Author {
  readonly secret: Buffer;
  readonly pubkey: string;
}

/**
 * One connection's endless list of events: notes, replaceable and addressable versions (new and outdated ones), deletions by id and by address, deletions
 * that come before their target, and repetitions. Lanes share no author, so each can be held against a model of its own.
 */
export class Lane {
  readonly number: number;
  /** Every event that was ever sent, by id. */
  readonly everSent = new Map<string, LoadEvent>();
  /** What was sent since the last `settle`, in order. */
  sent: Sent[] = [];
  /** What the server holds for certain. */
  readonly #settled = new LaneModel();
  /** What it will hold once everything sent is stored. */
  #ahead = new LaneModel();
  readonly #chance: Chance;
  readonly #signer: Signer;
  readonly #authors: readonly Author[];
  #time: number;
  #made = 0;
  /** Notes that nobody has deleted or meant to. */
  #notes: LoadEvent[] = [];
  /** Targets of deletions that have their OK: must be refused when they come again. */
  readonly #deleted: LoadEvent[] = [];
  /** Signed already, to be sent next. */
  #queued: LoadEvent[] = [];

  constructor(seed: string, number: number, signer: Signer, now: number) {
    this.number = number;
    this.#signer = signer;
    this.#chance = new Chance(`${seed}:lane ${number}`);
    this.#authors = Array.from({ length: AUTHORS_A_LANE }, (_, at) => {
      const secret = createHash("sha256").update(`${seed}:author ${number}.${at}`).digest();
      return { secret, pubkey: Buffer.from(signer.publicKey(secret)).toString("hex") };
    });
    // Times of lanes do not meet, so a second names few events.
    this.#time = now - SIXTY_DAYS_S + number * 500_000;
  }

  get authors(): readonly string[] {
    return this.#authors.map((author) => author.pubkey);
  }

  /** What the server held when `settle` last looked. */
  get model(): LaneModel {
    return this.#settled;
  }

  /** Draws the next event and notes it as sent. */
  next(bulk: boolean): Sent {
    const probe = this.#queued.length === 0 && this.#chance.next() < 0.05 ? this.#again() : undefined;
    const event = probe?.event ?? this.#queued.shift() ?? this.#draw(bulk);
    const sent: Sent = probe ?? { event, expected: this.#ahead.apply(event) !== "refused", probe: false, answer: undefined };
    this.everSent.set(event.id, event);
    this.sent.push(sent);
    return sent;
  }

  /** An answer came. */
  heard(sent: Sent, answer: boolean): void {
    sent.answer = answer;
    if (sent.probe || sent.event.kind !== 5) return;
    for (const [name, value] of sent.event.tags) {
      const target = name === "e" ? this.everSent.get(value ?? "") : undefined;
      if (target !== undefined) this.#deleted.push(target);
    }
  }

  /**
   * The server died and was asked what it still has. Events of one connection are decided in the order in which they came, so what it has must be what the
   * model has after some number of them, at least up to the last that was answered. Gives the sentence of what is wrong, or undefined.
   */
  settle(served: ReadonlySet<string>): string | undefined {
    const ordered = this.sent.filter((sent) => !sent.probe);
    const certain = ordered.findLastIndex((sent) => sent.answer !== undefined) + 1;
    const model = this.#settled;
    for (const sent of ordered.slice(0, certain)) model.apply(sent.event);
    const wrongAtFirst = model.difference(served);
    let taken = certain;
    let wrong = wrongAtFirst;
    while (wrong !== undefined && taken < ordered.length) {
      model.apply((ordered[taken] as Sent).event);
      taken++;
      wrong = model.difference(served);
    }
    if (wrong !== undefined) {
      return `lane ${this.number}: ${wrongAtFirst} (${certain} of ${ordered.length} answered; no number of the others explains it: ${wrong})`;
    }
    // A client that got no OK sends again.
    this.#queued = ordered.slice(taken).map((sent) => sent.event);
    this.#ahead = model.copy();
    this.#notes = this.#notes.filter((note) => model.served.has(note.id));
    this.sent = [];
    return undefined;
  }

  #draw(bulk: boolean): LoadEvent {
    const author = this.#chance.pick(this.#authors);
    if (bulk && this.#chance.next() < 0.6) return this.#bulk(author);
    const lot = this.#chance.next();
    if (lot < 0.55) return this.#note(author);
    if (lot < 0.68) return this.#sign(author, this.#chance.pick(REPLACEABLE_KINDS), this.#tick(), [], this.#prose());
    if (lot < 0.83) return this.#version(author, this.#tick());
    // Some seconds old: superseded where the address has a newer version, stored where it has none.
    if (lot < 0.87) return this.#version(author, this.#time - this.#chance.below(40));
    if (lot < 0.94) return this.#deleteNotes(author);
    if (lot < 0.97) return this.#deleteAddress(author);
    return this.#deleteTheUnborn(author);
  }

  #note(author: Author): LoadEvent {
    const tags = [["a", `30617:${author.pubkey}:anchor`]];
    const parent = this.#notes[this.#chance.below(this.#notes.length + 1)];
    if (parent !== undefined) tags.push(["e", parent.id, "", "reply"], ["p", parent.pubkey]);
    const note = this.#sign(author, this.#chance.pick(NOTE_KINDS), this.#tick(), tags, this.#prose());
    this.#notes.push(note);
    return note;
  }

  #version(author: Author, createdAt: number): LoadEvent {
    return this.#sign(author, this.#chance.pick(ADDRESSABLE_KINDS), createdAt, [["d", this.#chance.pick(IDENTIFIERS)]], this.#prose());
  }

  #bulk(author: Author): LoadEvent {
    const text = `${this.#made} `.repeat(Math.ceil(BULK_CHARS / 4)).slice(0, BULK_CHARS);
    return this.#sign(author, 30_618, this.#tick(), [["d", "bulk"]], text);
  }

  #deleteNotes(author: Author): LoadEvent {
    const own = this.#notes.filter((note) => note.pubkey === author.pubkey);
    const from = this.#chance.below(Math.max(1, own.length));
    const targets = own.slice(from, from + 1 + this.#chance.below(3));
    if (targets.length === 0) return this.#note(author);
    this.#notes = this.#notes.filter((note) => !targets.includes(note));
    const tags = targets.map((target) => ["e", target.id]);
    return this.#sign(author, 5, this.#tick(), tags, "taken back");
  }

  #deleteAddress(author: Author): LoadEvent {
    const kind = this.#chance.pick(ADDRESSABLE_KINDS);
    const tags = [["a", `${kind}:${author.pubkey}:${this.#chance.pick(IDENTIFIERS)}`]];
    return this.#sign(author, 5, this.#tick(), tags, "");
  }

  /** NIP-09 holds for what comes later, too. */
  #deleteTheUnborn(author: Author): LoadEvent {
    const target = this.#sign(author, 1, this.#tick(), [], this.#prose());
    this.#queued.push(target);
    return this.#sign(author, 5, this.#tick(), [["e", target.id]], "before it came");
  }

  #again(): Sent | undefined {
    const deleted = this.#chance.next() < 0.5 ? this.#deleted[this.#chance.below(this.#deleted.length + 1)] : undefined;
    if (deleted !== undefined) return { event: deleted, expected: false, probe: true, answer: undefined };
    const note = this.#notes[this.#chance.below(this.#notes.length + 1)];
    return note === undefined ? undefined : { event: note, expected: true, probe: true, answer: undefined };
  }

  #tick(): number {
    this.#time++;
    return this.#time;
  }

  #prose(): string {
    let text = "";
    for (let left = this.#chance.below(30); left >= 0; left--) text += this.#chance.pick(SPICE);
    return text;
  }

  #sign(author: Author, kind: number, createdAt: number, tags: readonly (readonly string[])[], content: string): LoadEvent {
    this.#made++;
    // Names this event alone, so that an index of tags can be asked for it.
    const all = [...tags, ["t", `event-${this.number}-${this.#made}`]];
    const body = [author.pubkey, createdAt, kind, all, content] as const;
    const id = hash("sha256", JSON.stringify([0, ...body]), "buffer");
    const sig = Buffer.from(this.#signer.sign(id, author.secret)).toString("hex");
    const event = { id: id.toString("hex"), pubkey: author.pubkey, created_at: createdAt, kind, tags: all, content, sig };
    return { ...event, json: JSON.stringify(event) };
  }
}

export function makeLanes(seed: string, count: number, now: number): readonly Lane[] {
  const signer = openSigner();
  return Array.from({ length: count }, (_, number) => new Lane(seed, number, signer, now));
}
