import { bech32 } from "@scure/base";
import { concatBytes, toUtf8 } from "../base/bytes.ts";
import type { Address } from "./replaceable.ts";

/** NIP-19: such texts have at most this many characters. */
const LENGTH_MAX = 5_000;

/** A length is one byte. */
const VALUE_BYTES_MAX = 255;

/** NIP-19: an address as one text that apps can open, with relays where it is found; a relay that does not fit is left out. */
export function encodeNaddr(address: Address, relays: readonly string[]): string | undefined {
  const d = toUtf8(address.d);
  if (d.length > VALUE_BYTES_MAX) return undefined;
  const kind = new Uint8Array(4);
  new DataView(kind.buffer).setUint32(0, address.kind);
  const fitting = relays.map(toUtf8).filter((relay) => relay.length <= VALUE_BYTES_MAX);
  const parts = [entry(0, d), ...fitting.map((relay) => entry(1, relay)), entry(2, Buffer.from(address.pubkey, "hex")), entry(3, kind)];
  return bech32.encode("naddr", bech32.toWords(concatBytes(parts)), LENGTH_MAX);
}

const entry = (type: number, value: Uint8Array): Uint8Array => Uint8Array.of(type, value.length, ...value);
