import { isPublicKey, KIND_MAX } from "./event.ts";
import { type Address, retentionOf } from "./replaceable.ts";

/** `<kind>:<hex pubkey>:` and the rest, which is the identifier and may itself hold colons (grasp.md §1). One address has one spelling: no leading zeros. */
const COORDINATE = /^(0|[1-9][0-9]{0,4}):([0-9a-f]{64}):(.*)$/s;

/** The address that an `a` tag names, or `undefined` when nothing could ever be served there. */
export function parseCoordinate(text: string): Address | undefined {
  const parts = COORDINATE.exec(text);
  if (parts === null) return undefined;
  const [, digits = "", pubkey = "", d = ""] = parts;
  const kind = Number(digits);
  if (kind > KIND_MAX || !isPublicKey(pubkey)) return undefined;
  const retention = retentionOf(kind);
  if (retention === "addressable" || (retention === "replaceable" && d === "")) return { kind, pubkey, d };
  return undefined;
}

/** NIP-01: the trailing colon stays when `d` is empty. */
export const formatCoordinate = (address: Address): string => `${address.kind}:${address.pubkey}:${address.d}`;
