import { createHash } from "node:crypto";
import { deflateSync } from "node:zlib";
import type { ObjectFormat } from "../../src/git/oid.ts";

/** The numbers that a pack has for its types. */
const TYPES = { commit: 1, tree: 2, blob: 3, tag: 4, ofsDelta: 6, refDelta: 7 } as const;

export interface PackEntry {
  readonly type: keyof typeof TYPES;
  readonly content: Uint8Array;
  /** What the header claims; the true length unless told. */
  readonly size?: number;
  /** Of a delta: the id of its base. */
  readonly base?: string;
}

/** The id of an object, as git computes it. */
export function objectId(type: "commit" | "tree" | "blob" | "tag", content: Uint8Array, format: ObjectFormat = "sha1"): string {
  return createHash(format).update(`${type} ${content.length}\0`).update(content).digest("hex");
}

/** A pack of exactly these entries, honest or not. `count` is what its header claims. */
export function buildPack(entries: readonly PackEntry[], count = entries.length, format: ObjectFormat = "sha1"): Buffer {
  const header = Buffer.alloc(12);
  header.write("PACK");
  header.writeUInt32BE(2, 4);
  header.writeUInt32BE(count, 8);
  const parts = entries.flatMap(({ type, content, size = content.length, base = "" }) => [
    entryHeader(TYPES[type], size),
    Buffer.from(base, "hex"),
    deflateSync(content),
  ]);
  const body = Buffer.concat([header, ...parts]);
  return Buffer.concat([body, createHash(format).update(body).digest()]);
}

function entryHeader(type: number, size: number): Buffer {
  const bytes = [(type << 4) | (size & 15)];
  for (let rest = Math.floor(size / 16); rest > 0; rest = Math.floor(rest / 128)) {
    bytes[bytes.length - 1] = (bytes.at(-1) as number) | 0x80;
    bytes.push(rest & 127);
  }
  return Buffer.from(bytes);
}

function varint(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest & 127) | 128);
  return [...bytes, rest];
}

/** A delta that copies the first `length` bytes of its base `times` times. */
export function repeatDelta(baseSize: number, length: number, times: number): Buffer {
  const copy = Buffer.from([0x80 | 0x10 | 0x20 | 0x40, length & 255, (length >> 8) & 255, (length >> 16) & 255]);
  return Buffer.concat([Buffer.from([...varint(baseSize), ...varint(length * times)]), ...Array.from({ length: times }, () => copy)]);
}
