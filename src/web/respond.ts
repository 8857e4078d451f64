import type { InfoDocument } from "../nostr/info-document.ts";
import { type Answer, page, plain, typed } from "./answer.ts";
import { iconSvg } from "./asset/icon.ts";
import { styleCss } from "./asset/style.ts";
import { PREFLIGHT_HEADERS } from "./cors.ts";
import { homePage } from "./page/home.ts";
import { notFoundPage } from "./page/not-found.ts";
import { repoMissingPage } from "./page/repo-missing.ts";
import type { PublicUrls } from "./public-url.ts";
import type { Route } from "./route.ts";

/** What the answers are made of. */
export interface Site {
  readonly urls: PublicUrls;
  readonly basePath: string;
  readonly info: InfoDocument;
  /** Whether repositories can be cloned here: the home page says how only when it is true. */
  readonly git: boolean;
  /** Why the server is not ready, or `undefined` when it is. */
  readonly notReady: () => string | undefined;
  /** The metrics as text, or `undefined` when they are switched off. */
  readonly metrics: (() => Promise<string>) | undefined;
}

/** Everything but the relay itself, which needs its socket. */
export type PlainRoute = Exclude<Route, { kind: "relay" }>;

const NO_STORE = ["Cache-Control", "no-store"] as const;
/** The same address answers differently to `Accept: application/nostr+json`, and caches must know. */
const VARY = ["Vary", "Accept"] as const;
/** Assets change with a release only. */
const AN_HOUR = ["Cache-Control", "public, max-age=3600"] as const;
const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** grasp.md 7.1: `info/refs` without `service` is git's old way, for which every object would have to be a file of its own. */
const SMART_ONLY = "Only git's smart protocol is spoken here: ask for info/refs?service=git-upload-pack, as git since 1.6.6 does.";

export async function respond(route: PlainRoute, site: Site): Promise<Answer> {
  switch (route.kind) {
    case "preflight":
      return { status: 204, headers: PREFLIGHT_HEADERS, body: "" };
    case "info":
      return typed("application/nostr+json; charset=utf-8", JSON.stringify(site.info), [VARY]);
    case "home":
      return page(200, homePage(site), [VARY]);
    case "nip05":
      return typed("application/json; charset=utf-8", JSON.stringify({ names: { _: site.info.self ?? site.info.pubkey } }));
    case "metrics":
      return site.metrics === undefined ? plain(404, "Metrics disabled") : typed(METRICS_TYPE, await site.metrics(), [NO_STORE]);
    case "alive":
      return plain(200, "alive", [NO_STORE]);
    case "ready": {
      const why = site.notReady();
      return why === undefined ? plain(200, "ready", [NO_STORE]) : plain(503, `not ready: ${why}`, [NO_STORE, ["Retry-After", "5"]]);
    }
    case "asset":
      return route.asset === "style" ? typed("text/css; charset=utf-8", styleCss, [AN_HOUR]) : typed("image/svg+xml", iconSvg, [AN_HOUR]);
    case "git-dumb":
      if (site.git) return plain(403, SMART_ONLY);
      return page(404, notFoundPage(site));
    // Where repositories are served, their own handlers answer these; whatever comes here names nothing.
    case "repo-page":
      return page(404, site.git ? repoMissingPage(site) : notFoundPage(site));
    case "git-refs":
    case "git-fetch":
    case "git-push":
    case "not-found":
      return page(404, notFoundPage(site));
    case "not-allowed":
      return plain(405, "This address knows no such method.", [["Allow", route.allow]]);
    case "bad-request":
      return plain(400, `Bad request: ${route.why}.`);
    case "bad-upgrade":
      return plain(route.status, `Bad request: ${route.why}.`, [
        ["Sec-WebSocket-Version", "13"],
        ["Upgrade", "websocket"],
      ]);
  }
}
