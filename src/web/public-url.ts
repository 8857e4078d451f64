import { isLoopback, readIp } from "./ip.ts";

export interface PublicUrls {
  /** `https://host[:port]` and the base path, with a slash at the end. */
  readonly home: string;
  /** The same as a WebSocket address, without a slash at the end. */
  readonly relay: string;
}

/** Where nobody puts TLS: this machine itself, and onion services, which have their own encryption. */
function isPlain(host: string): boolean {
  if (host === "localhost" || host.endsWith(".localhost") || host.endsWith(".onion")) return true;
  const ip = readIp(host.replace(/^\[|\]$/g, ""));
  return ip !== undefined && isLoopback(ip);
}

/** From the configuration alone: what a request claims in its headers is never repeated. */
export function publicUrls(domain: string, basePath: string): PublicUrls {
  const secure = isPlain(domain.replace(/:\d+$/, "")) ? "" : "s";
  const path = basePath === "/" ? "" : basePath;
  return { home: `http${secure}://${domain}${path}/`, relay: `ws${secure}://${domain}${path}` };
}
