import { type RepoId, repoAddress, repoPath } from "../grasp/repo-id.ts";
import { encodeNaddr } from "../nostr/naddr.ts";
import { encodeNpub } from "../nostr/npub.ts";
import type { PublicUrls } from "./public-url.ts";

/** The addresses under which one repository is found. */
export interface RepoLinks {
  /** For `git clone`. */
  readonly clone: string;
  /** NIP-34: for git with ngit's helper; it finds the other servers too. */
  readonly nostr: string;
  /** Its page in a web client that reads this relay. */
  readonly gitworkshop: string;
  /** NIP-21: for apps that open Nostr addresses. */
  readonly app: string | undefined;
}

/** People paste these into a shell, where `'`, `(` and `!` are not letters; `encodeURIComponent` leaves them as they are. */
const forShell = (encoded: string): string => encoded.replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);

/** NIP-34: a relay as part of a path; without a scheme it is `wss`. */
const relayPart = (relay: string): string => forShell(encodeURIComponent(relay.replace(/^wss:\/\//, "")));

export function repoLinks(repo: RepoId, urls: PublicUrls): RepoLinks {
  const below = `${encodeNpub(repo.owner)}/${relayPart(urls.relay)}/${forShell(encodeURIComponent(repo.identifier))}`;
  const naddr = encodeNaddr(repoAddress(repo), [urls.relay]);
  return {
    clone: `${urls.home.replace(/\/$/, "")}${forShell(repoPath(repo))}`,
    nostr: `nostr://${below}`,
    gitworkshop: `https://gitworkshop.dev/${below}`,
    app: naddr === undefined ? undefined : `nostr:${naddr}`,
  };
}
