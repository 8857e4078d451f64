import type { Brand } from "../base/brand.ts";

/** The `d` of a repository that may stand in a URL and, encoded, in a path. */
export type Identifier = Brand<string, "Identifier">;

/** Long enough for every real name, short enough for every file system once percent-encoded (grasp.md 5.1). */
const BYTES_MAX = 100;

const FORBIDDEN = /[/\\\p{Cc}]/u;

/** grasp.md 5.1: any UTF-8 except empty, `.`, `..`, slashes and control characters; at most 100 bytes. */
export function readIdentifier(text: string): Identifier | undefined {
  if (text === "" || text === "." || text === ".." || FORBIDDEN.test(text) || !text.isWellFormed()) return undefined;
  return new TextEncoder().encode(text).length > BYTES_MAX ? undefined : (text as Identifier);
}
