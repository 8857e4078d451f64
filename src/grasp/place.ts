/** An address under which this server is known. Without a port, each scheme's own default is meant (grasp.md 5.2). */
export interface Place {
  /** Lower case, as `URL` writes it. */
  readonly hostname: string;
  readonly port: number | undefined;
  /** `""` or `/base`, never with a slash at its end. */
  readonly basePath: string;
}

const DEFAULT_PORTS: Readonly<Record<string, number>> = { "http:": 80, "ws:": 80, "https:": 443, "wss:": 443 };

/** The path below the base path when this URL leads to us, else `undefined`. URLs are parsed, never compared as text. */
export function pathAt(places: readonly Place[], url: URL): string | undefined {
  const byDefault = DEFAULT_PORTS[url.protocol];
  if (byDefault === undefined || url.username !== "" || url.password !== "") return undefined;
  const port = url.port === "" ? byDefault : Number(url.port);
  for (const place of places) {
    if (url.hostname !== place.hostname || port !== (place.port ?? byDefault)) continue;
    if (place.basePath === "") return url.pathname;
    if (url.pathname === place.basePath) return "/";
    if (url.pathname.startsWith(`${place.basePath}/`)) return url.pathname.slice(place.basePath.length);
  }
  return undefined;
}

/** Does this relay URL, however it is spelt, lead to us? */
export function isOurRelay(places: readonly Place[], text: string): boolean {
  const url = URL.parse(text.trim());
  if (url === null || (url.protocol !== "ws:" && url.protocol !== "wss:")) return false;
  return pathAt(places, url) === "/" || pathAt(places, url) === "";
}
