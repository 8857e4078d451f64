import type { Brand } from "../base/brand.ts";

/** A full ref name that git itself would take (`git check-ref-format`), below `refs/`. */
export type RefName = Brand<string, "RefName">;

/** Control characters, space and `~ ^ : ? * [ \` stand nowhere in a ref name. */
// oxlint-disable-next-line no-control-regex -- they are what is looked for
const FORBIDDEN = /[\u0000-\u0020\u007f~^:?*[\\]/;
/** Longer names do not fit a file system once `.lock` is added. */
const BYTES_MAX = 240;

/** The name, or `undefined` when git would refuse it. */
export function readRefName(text: string): RefName | undefined {
  if (!text.startsWith("refs/") || FORBIDDEN.test(text) || !text.isWellFormed()) return undefined;
  if (text.includes("..") || text.includes("@{") || text.endsWith(".")) return undefined;
  for (const part of text.split("/")) {
    if (part === "" || part.startsWith(".") || part.endsWith(".lock")) return undefined;
    if (new TextEncoder().encode(part).length > BYTES_MAX) return undefined;
  }
  return text as RefName;
}

export const isBranch = (name: string): boolean => name.startsWith("refs/heads/") && name.length > "refs/heads/".length;
export const isTag = (name: string): boolean => name.startsWith("refs/tags/") && name.length > "refs/tags/".length;

const NOSTR_REF = /^refs\/nostr\/([0-9a-f]{64})$/;

/** The event id of `refs/nostr/<id>`, or `undefined` for every other name. */
export const nostrRefId = (name: string): string | undefined => NOSTR_REF.exec(name)?.[1];
