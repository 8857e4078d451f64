import type { Brand } from "../base/brand.ts";

/** The name of a git object: 40 (SHA-1) or 64 (SHA-256) lower-case hex digits. Nothing else reaches a command line. */
export type Oid = Brand<string, "Oid">;
export type ObjectFormat = "sha1" | "sha256";

const SHA1 = /^[0-9a-f]{40}$/;
const SHA256 = /^[0-9a-f]{64}$/;

/** The object id, or `undefined`. All zeros is no object: in a push it stands for "none". */
export function readOid(text: string): Oid | undefined {
  if (!SHA1.test(text) && !SHA256.test(text)) return undefined;
  return /[^0]/.test(text) ? (text as Oid) : undefined;
}

export const formatOf = (oid: Oid): ObjectFormat => (oid.length === 40 ? "sha1" : "sha256");

/** How "no object" is written in this format. */
export const zeroOid = (format: ObjectFormat): string => "0".repeat(format === "sha1" ? 40 : 64);
