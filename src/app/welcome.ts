import type { RunningServer } from "./build.ts";

/** What a person reads after `npm start`: where it listens and what to try next. */
export function welcome({ url, config, verifier }: RunningServer): string {
  const relay = url.replace(/^http/, "ws").replace(/\/$/, "");
  const mode = config.service.acceptance === "open" ? "any valid event" : "events about repositories that name this server";
  const place = config.storage.store === "memory" ? "memory, gone when it stops" : config.storage.relayDataPath;
  return `
  Holdfast is listening on ${url}

    relay      ${relay}   takes ${mode}
    data       ${place}
    signatures ${verifier}${verifier.startsWith("libsecp256k1") ? "" : "   (install libsecp256k1 to check them several times faster)"}

  Try next:
    curl -H 'Accept: application/nostr+json' ${url}     what this relay is and allows
    curl ${url}readyz                                   is it ready?
    HOLDFAST_ACCEPTANCE=open npm start                  a relay that takes any event
    npm start -- --print-config                         every setting and where it comes from

  Ctrl-C stops it; nothing that was answered with OK is lost.

`;
}
