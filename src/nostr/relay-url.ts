import type { Brand } from "../base/brand.ts";

/** One spelling per relay: `ws` or `wss`, lower-case ASCII host, no default port, no trailing slash, no fragment. */
export type RelayUrl = Brand<string, "RelayUrl">;

/** Nobody's relay has a longer address, and every announcement may name many of them. */
const URL_LENGTH_MAX = 1_024;

/** The URL parser drops tabs and line breaks and turns backslashes around, so that different texts would name one host: refused instead. */
const SUSPICIOUS = /[\s\p{Cc}\\]/u;

/** The relay that this text names, or `undefined` when it names none. Parsed, never compared as text (grasp.md 5.2). */
export function normaliseRelayUrl(text: string): RelayUrl | undefined {
  const trimmed = text.trim();
  if (trimmed.length > URL_LENGTH_MAX || SUSPICIOUS.test(trimmed)) return undefined;
  const url = URL.parse(trimmed);
  if (url === null || (url.protocol !== "ws:" && url.protocol !== "wss:")) return undefined;
  if (url.username !== "" || url.password !== "") return undefined;
  const host = plainHost(url.hostname);
  if (host === undefined) return undefined;
  const port = url.port === "" ? "" : `:${url.port}`;
  const path = url.pathname.replace(/\/+$/, "");
  const normal = `${url.protocol}//${host}${port}${path}${url.search}`;
  return normal.length > URL_LENGTH_MAX ? undefined : (normal as RelayUrl);
}

/** `example.com.` is `example.com`; a name with an empty label is no name. */
function plainHost(hostname: string): string | undefined {
  const host = hostname.endsWith(".") ? hostname.slice(0, -1) : hostname;
  return host === "" || host.startsWith(".") || host.endsWith(".") || host.includes("..") ? undefined : host;
}
