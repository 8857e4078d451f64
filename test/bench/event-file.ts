import { closeSync, mkdirSync, openSync, readFileSync, readSync, renameSync, writeSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { type EventSet, eventFrame, type World } from "./events.ts";
import type { Progress } from "./progress.ts";
import { frameLength } from "./wire.ts";

/** Raise when the generator's output changes: older files are then left alone and not used. */
const FORMAT = 1;
/** created_at (4), author's rank (2), kind (2), id (32). */
const RECORD_BYTES = 40;
const CHUNK_BYTES = 1 << 20;
const YIELD_EVERY = 2_000;

/** A set on disk: ready-made frames for the socket, and a small index for what queries and reconciliation need to know. */
export interface EventFile {
  readonly set: EventSet;
  readonly framesPath: string;
  readonly index: Buffer;
}

export interface IndexRecord {
  readonly createdAt: number;
  readonly author: number;
  readonly kind: number;
  readonly id: Buffer;
}

export function recordAt(file: EventFile, position: number): IndexRecord {
  const at = position * RECORD_BYTES;
  return {
    createdAt: file.index.readUInt32LE(at),
    author: file.index.readUInt16LE(at + 4),
    kind: file.index.readUInt16LE(at + 6),
    id: file.index.subarray(at + 8, at + RECORD_BYTES),
  };
}

/** Opens the cached set or makes it; never more than a chunk of it is in memory. */
export async function eventFile(cacheDir: string, world: World, set: EventSet, progress: Progress): Promise<EventFile> {
  mkdirSync(cacheDir, { recursive: true });
  const base = join(cacheDir, `v${FORMAT}-${world.seed}-${set.name}-${set.size}-${set.count}`);
  const framesPath = `${base}.frames`;
  try {
    return { set, framesPath, index: readFileSync(`${base}.index`) };
  } catch {
    // Not made yet: the index is renamed into place last, so an interrupted run leaves nothing that looks whole.
  }
  const index = Buffer.alloc(set.count * RECORD_BYTES);
  const frames = openSync(`${framesPath}.part`, "w");
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  let position = 0;
  const flush = (): void => {
    writeSync(frames, Buffer.concat(pending, pendingBytes));
    pending = [];
    pendingBytes = 0;
  };
  for (const event of world.events(set)) {
    const frame = eventFrame(event);
    pending.push(frame);
    pendingBytes += frame.length;
    if (pendingBytes >= CHUNK_BYTES) flush();
    const at = position * RECORD_BYTES;
    index.writeUInt32LE(event.createdAt, at);
    index.writeUInt16LE(event.author, at + 4);
    index.writeUInt16LE(event.kind, at + 6);
    event.id.copy(index, at + 8);
    position += 1;
    progress.count(`signing ${set.name}`, position, set.count);
    // Signals are heard in between.
    if (position % YIELD_EVERY === 0) await nextTurn();
  }
  flush();
  closeSync(frames);
  renameSync(`${framesPath}.part`, framesPath);
  const indexHandle = openSync(`${base}.index.part`, "w");
  writeSync(indexHandle, index);
  closeSync(indexHandle);
  renameSync(`${base}.index.part`, `${base}.index`);
  return { set, framesPath, index };
}

/** Frames of a set in order, leaving out those that `wanted` says no to. */
export class FrameReader implements Disposable {
  readonly #handle: number;
  readonly #wanted: (position: number) => boolean;
  #bytes: Buffer = Buffer.alloc(0);
  #at = 0;
  #position = 0;

  constructor(file: EventFile, wanted: (position: number) => boolean = () => true) {
    this.#handle = openSync(file.framesPath, "r");
    this.#wanted = wanted;
  }

  next(): Buffer | undefined {
    for (;;) {
      let size = frameLength(this.#bytes, this.#at);
      while (size === 0 || this.#at + size > this.#bytes.length) {
        if (!this.#readMore()) return undefined;
        size = frameLength(this.#bytes, this.#at);
      }
      const frame = this.#bytes.subarray(this.#at, this.#at + size);
      this.#at += size;
      this.#position += 1;
      if (this.#wanted(this.#position - 1)) return frame;
    }
  }

  /** A new buffer each time: sockets may still hold slices of the old one. */
  #readMore(): boolean {
    const rest = this.#bytes.subarray(this.#at);
    const bytes = Buffer.allocUnsafe(rest.length + CHUNK_BYTES);
    rest.copy(bytes);
    const read = readSync(this.#handle, bytes, rest.length, CHUNK_BYTES, null);
    this.#bytes = bytes.subarray(0, rest.length + read);
    this.#at = 0;
    return read > 0;
  }

  [Symbol.dispose](): void {
    closeSync(this.#handle);
  }
}
