import type { Service } from "../git/service.ts";
import type { RepoId } from "../grasp/repo-id.ts";
import type { ForwardingHeaders } from "./client-address.ts";
import { type GitPath, readGitPath } from "./git-path.ts";

/** What a request asks for. */
export type Route =
  | { readonly kind: "preflight" }
  | { readonly kind: "relay" }
  | { readonly kind: "bad-upgrade"; readonly status: 400 | 426; readonly why: string }
  | { readonly kind: "bad-request"; readonly why: string }
  | { readonly kind: "info" }
  | { readonly kind: "home" }
  | { readonly kind: "nip05" }
  | { readonly kind: "metrics" }
  | { readonly kind: "alive" }
  | { readonly kind: "ready" }
  | { readonly kind: "asset"; readonly asset: "style" | "icon" }
  | { readonly kind: "repo-page"; readonly repo: RepoId }
  | { readonly kind: "git-refs"; readonly repo: RepoId; readonly service: Service }
  | { readonly kind: "git-dumb"; readonly repo: RepoId }
  | { readonly kind: "git-fetch"; readonly repo: RepoId }
  | { readonly kind: "git-push"; readonly repo: RepoId }
  | { readonly kind: "not-found" }
  | { readonly kind: "not-allowed"; readonly allow: string };

export type RouteKind = Route["kind"];

export interface RouteInput {
  readonly method: string;
  /** As it stood in the request line. */
  readonly url: string;
  readonly headers: ForwardingHeaders;
}

const PATHS: Readonly<Record<string, Route>> = {
  "/.well-known/nostr.json": { kind: "nip05" },
  "/metrics": { kind: "metrics" },
  "/healthz": { kind: "alive" },
  "/readyz": { kind: "ready" },
  "/style.css": { kind: "asset", asset: "style" },
  "/icon.svg": { kind: "asset", asset: "icon" },
};

const NOT_FOUND: Route = { kind: "not-found" };
const READ_ONLY: Route = { kind: "not-allowed", allow: "GET, HEAD, OPTIONS" };

/** grasp.md 2.1. Total: every request is something, if only not found. */
export function routeOf(request: RouteInput, basePath: string): Route {
  if (request.method === "OPTIONS") return { kind: "preflight" };
  const asked = targetOf(request.url);
  if (asked === undefined) return { kind: "bad-request", why: "the request names no path" };
  const inside = within(asked.path, basePath);
  if (inside === undefined) return NOT_FOUND;
  const git = readGitPath(inside, asked.query);
  if (git !== undefined) return gitRoute(git, request.method);
  const found = inside === "/" ? rootRoute(request) : Object.hasOwn(PATHS, inside) ? (PATHS[inside] ?? NOT_FOUND) : NOT_FOUND;
  // NIP-05 is about a whole domain, so a part of one has no names.
  if (found.kind === "nip05" && basePath !== "/") return NOT_FOUND;
  const answersAnyMethod = found.kind === "not-found" || found.kind === "bad-upgrade";
  if (answersAnyMethod || request.method === "GET" || request.method === "HEAD") return found;
  return READ_ONLY;
}

/** grasp.md 7.1: pages and refs are read, the two services are posted to. */
function gitRoute(git: GitPath, method: string): Route {
  const { repo } = git;
  if (git.part === "service") {
    if (method !== "POST") return { kind: "not-allowed", allow: "POST, OPTIONS" };
    return { kind: git.service === "upload-pack" ? "git-fetch" : "git-push", repo };
  }
  if (method !== "GET" && method !== "HEAD") return READ_ONLY;
  if (git.part === "page") return { kind: "repo-page", repo };
  return git.service === undefined ? { kind: "git-dumb", repo } : { kind: "git-refs", repo, service: git.service };
}

function rootRoute({ method, headers }: RouteInput): Route {
  if (asksForWebSocket(headers)) return upgradeRoute(method, headers);
  return wants(headers, "accept", "application/nostr+json") ? { kind: "info" } : { kind: "home" };
}

/** RFC 6455 4.2.1. */
function upgradeRoute(method: string, headers: ForwardingHeaders): Route {
  if (method !== "GET") return { kind: "bad-upgrade", status: 400, why: "a WebSocket begins with GET" };
  if (headers["sec-websocket-version"] !== "13") return { kind: "bad-upgrade", status: 426, why: "WebSocket version 13 is spoken here" };
  const key = headers["sec-websocket-key"];
  if (typeof key !== "string" || !/^[A-Za-z0-9+/]{22}==$/.test(key)) {
    return { kind: "bad-upgrade", status: 400, why: "Sec-WebSocket-Key is missing or malformed" };
  }
  return { kind: "relay" };
}

/** Any `Connection` list that contains `upgrade`: browsers send `keep-alive, Upgrade` too. */
export function asksForWebSocket(headers: ForwardingHeaders): boolean {
  return wants(headers, "connection", "upgrade") && wants(headers, "upgrade", "websocket");
}

/** Does a comma-separated header hold this word, whatever its parameters? */
function wants(headers: ForwardingHeaders, name: string, word: string): boolean {
  const value = headers[name];
  if (typeof value !== "string") return false;
  return value.split(",").some((part) => part.split(";")[0]?.trim().toLowerCase() === word);
}

/** Path and query as they were written; proxies may send the whole URL. */
function targetOf(url: string): { readonly path: string; readonly query: string } | undefined {
  const absolute = /^https?:\/\/[^/?#]*/i.exec(url)?.[0];
  const [, path = "", query = ""] = /^([^?#]*)(?:\?([^#]*))?/.exec(url.slice(absolute?.length ?? 0)) ?? [];
  if (path === "") return absolute === undefined ? undefined : { path: "/", query };
  return path.startsWith("/") ? { path, query } : undefined;
}

/** The path below the base path, `/` for the base path itself with or without its slash. */
function within(path: string, basePath: string): string | undefined {
  if (basePath === "/") return path;
  if (path === basePath) return "/";
  return path.startsWith(`${basePath}/`) ? path.slice(basePath.length) : undefined;
}
