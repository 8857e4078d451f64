import { createHash } from "node:crypto";
import type { ObjectFormat } from "../oid.ts";
import type { Patience } from "./pour.ts";

const HEADER_BYTES = 12;

/** How a pack stream begins, and the whole stream again, its first bytes included. */
export type PackStart =
  | { readonly kind: "nothing" }
  | { readonly kind: "not-a-pack" }
  | { readonly kind: "pack"; readonly count: number; readonly stream: AsyncIterable<Uint8Array> };

/** Reads no more than the chunks that hold the header: whom it asks too much of is refused before git is started. */
export async function readPackStart(source: AsyncIterable<Uint8Array>, patience: Patience): Promise<PackStart> {
  const iterator = source[Symbol.asyncIterator]();
  let head = Buffer.alloc(0);
  while (head.length < HEADER_BYTES) {
    const next = await patience.wait(iterator.next(), "source");
    if (next.done === true) return { kind: head.length === 0 ? "nothing" : "not-a-pack" };
    head = Buffer.concat([head, next.value]);
  }
  const version = head.readUInt32BE(4);
  if (head.toString("latin1", 0, 4) !== "PACK" || (version !== 2 && version !== 3)) {
    void Promise.resolve(iterator.return?.()).catch(() => undefined);
    return { kind: "not-a-pack" };
  }
  return { kind: "pack", count: head.readUInt32BE(8), stream: { [Symbol.asyncIterator]: () => startingWith(head, iterator) } };
}

function startingWith(head: Uint8Array, rest: AsyncIterator<Uint8Array>): AsyncIterator<Uint8Array> {
  let first: Uint8Array | undefined = head;
  return {
    next: () => {
      const value = first;
      first = undefined;
      return value === undefined ? rest.next() : Promise.resolve({ value, done: false });
    },
    return: async () => {
      await rest.return?.();
      return { value: undefined, done: true };
    },
  };
}

/** A pack without objects is its header and the hash of that, and nothing else. */
export async function isEmptyPack(stream: AsyncIterable<Uint8Array>, format: ObjectFormat, patience: Patience): Promise<boolean> {
  let bytes = Buffer.alloc(0);
  const hashBytes = format === "sha1" ? 20 : 32;
  const iterator = stream[Symbol.asyncIterator]();
  for (;;) {
    const next = await patience.wait(iterator.next(), "source");
    if (next.done === true) break;
    bytes = Buffer.concat([bytes, next.value]);
    if (bytes.length > HEADER_BYTES + hashBytes) return false;
  }
  const hash = createHash(format).update(bytes.subarray(0, HEADER_BYTES)).digest();
  return hash.equals(bytes.subarray(HEADER_BYTES));
}
