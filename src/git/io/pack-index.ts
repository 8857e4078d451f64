import { type FileHandle, open } from "node:fs/promises";
import { FaultError } from "../../base/fault.ts";
import type { Oid } from "../oid.ts";
import type { ObjectType } from "./objects.ts";

const MAGIC = 0xff744f63;
const HEADER_BYTES = 8;
const FANOUT_BYTES = 256 * 4;
const LARGE = 0x8000_0000;
/** The longest header of an entry: ten bytes of size, then ten of an offset or 32 of an id. */
const ENTRY_BYTES = 64;
/** git makes chains of 50, at most 4,095; a longer one is no chain. */
const CHAIN_MAX = 4_096;
const TYPES: readonly (ObjectType | undefined)[] = [undefined, "commit", "tree", "blob", "tag"];
const OFS_DELTA = 6;
const REF_DELTA = 7;

/** The types of a few objects in a pack that was just indexed, without starting git: its id is looked up in the index, its type is in the first bits of its entry. */
export class PackIndex implements AsyncDisposable {
  readonly #index: FileHandle;
  readonly #pack: FileHandle;
  readonly #idBytes: number;
  readonly #fanout: Buffer;

  private constructor(index: FileHandle, pack: FileHandle, idBytes: number, fanout: Buffer) {
    this.#index = index;
    this.#pack = pack;
    this.#idBytes = idBytes;
    this.#fanout = fanout;
  }

  /** `path` without its ending. */
  static async open(path: string, idBytes: number): Promise<PackIndex> {
    const index = await open(`${path}.idx`, "r");
    const pack = await open(`${path}.pack`, "r").catch(async (error: unknown) => {
      await index.close();
      throw error;
    });
    const self = new PackIndex(index, pack, idBytes, Buffer.alloc(HEADER_BYTES + FANOUT_BYTES));
    await index.read(self.#fanout, 0, self.#fanout.length, 0);
    if (self.#fanout.readUInt32BE(0) === MAGIC && self.#fanout.readUInt32BE(4) === 2) return self;
    await self[Symbol.asyncDispose]();
    return fail();
  }

  get count(): number {
    return this.#countBelow(256);
  }

  /** `undefined` when the pack does not hold it. */
  async typeOf(oid: Oid): Promise<ObjectType | undefined> {
    let offset = await this.#offsetOf(Buffer.from(oid, "hex"));
    for (let links = 0; offset !== undefined && links < CHAIN_MAX; links++) {
      const entry = await this.#bytes(this.#pack, offset, ENTRY_BYTES);
      const type = ((entry[0] ?? 0) >> 4) & 7;
      if (TYPES[type] !== undefined) return TYPES[type];
      let at = 0;
      while (((entry[at] ?? 0) & 0x80) !== 0) at++;
      at++;
      if (type === OFS_DELTA) offset -= backOffset(entry, at);
      else if (type === REF_DELTA) offset = await this.#offsetOf(entry.subarray(at, at + this.#idBytes));
      else return fail();
    }
    return offset === undefined ? undefined : fail();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#index.close();
    await this.#pack.close();
  }

  /** How many ids begin with a byte below this one. */
  #countBelow(byte: number): number {
    return byte === 0 ? 0 : this.#fanout.readUInt32BE(HEADER_BYTES + (byte - 1) * 4);
  }

  async #offsetOf(id: Buffer): Promise<number | undefined> {
    const first = id[0] as number;
    let [low, high] = [this.#countBelow(first), this.#countBelow(first + 1)];
    const ids = HEADER_BYTES + FANOUT_BYTES;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const order = (await this.#bytes(this.#index, ids + middle * this.#idBytes, this.#idBytes)).compare(id);
      if (order === 0) return this.#offsetAt(middle);
      if (order < 0) low = middle + 1;
      else high = middle;
    }
    return undefined;
  }

  async #offsetAt(n: number): Promise<number> {
    const offsets = HEADER_BYTES + FANOUT_BYTES + this.count * (this.#idBytes + 4);
    const small = (await this.#bytes(this.#index, offsets + n * 4, 4)).readUInt32BE(0);
    if (small < LARGE) return small;
    const large = offsets + this.count * 4 + (small - LARGE) * 8;
    return Number((await this.#bytes(this.#index, large, 8)).readBigUInt64BE(0));
  }

  async #bytes(file: FileHandle, at: number, length: number): Promise<Buffer> {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, at);
    return buffer.subarray(0, bytesRead);
  }
}

/** Seven bits a byte, and one is added for each further byte. */
function backOffset(entry: Buffer, at: number): number {
  let value = (entry[at] ?? 0) & 0x7f;
  for (let n = at; ((entry[n] ?? 0) & 0x80) !== 0; n++) value = (value + 1) * 128 + ((entry[n + 1] ?? 0) & 0x7f);
  return value;
}

function fail(): never {
  throw new FaultError({ kind: "protocol", what: "the index of a pack" });
}
