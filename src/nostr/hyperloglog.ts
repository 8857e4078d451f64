import { hash } from "node:crypto";
import type { PublicKey } from "./event.ts";
import type { Filter } from "./filter.ts";

const HEX_64 = /^[0-9a-f]{64}$/;

/** NIP-45: where in a key the registers are read from, given by the filter's first tag condition. `undefined`: no such count is defined for it. */
export function hllOffset(filter: Filter): number | undefined {
  const [values] = filter.tags.values();
  const value = values?.[0];
  return value === undefined ? undefined : Number.parseInt(hexOf(value).charAt(32), 16) + 8;
}

function hexOf(value: string): string {
  if (HEX_64.test(value)) return value;
  const pubkey = /^[0-9]+:([0-9a-f]{64}):/.exec(value)?.[1];
  return pubkey ?? hash("sha256", value, "hex");
}

/** NIP-45: 256 registers of one byte that relays' counts of distinct authors can be merged by. */
export class HyperLogLog {
  readonly #registers = new Uint8Array(256);
  readonly #offset: number;

  constructor(offset: number) {
    this.#offset = offset;
  }

  add(pubkey: PublicKey): void {
    const bytes = Buffer.from(pubkey, "hex");
    const register = bytes[this.#offset] ?? 0;
    let zeros = 0;
    for (let i = this.#offset + 1; i < bytes.length; i++) {
      const bits = Math.clz32(bytes[i] ?? 0) - 24;
      zeros += bits;
      if (bits < 8) break;
    }
    if (zeros + 1 > (this.#registers[register] ?? 0)) this.#registers[register] = zeros + 1;
  }

  /** 512 hex digits. */
  toHex(): string {
    return Buffer.from(this.#registers).toString("hex");
  }
}
