import type { UnixSeconds } from "../base/time.ts";
import { type Oid, readOid } from "../git/oid.ts";
import { parseCoordinate } from "../nostr/coordinate.ts";
import type { EventId, NostrEvent, PublicKey } from "../nostr/event.ts";
import { ANNOUNCEMENT } from "../nostr/kinds.ts";
import type { Address } from "../nostr/replaceable.ts";
import { tagLists, tagValue, tagValues } from "../nostr/tags.ts";
import type { RepoId } from "./repo-id.ts";

/** A kind 1618 or 1619, read: a tip that shall be found at `refs/nostr/<id>` (grasp.md 6.9). */
export interface PullRequest {
  readonly id: EventId;
  readonly author: PublicKey;
  readonly createdAt: UnixSeconds;
  /** `undefined`: the `c` tag is no object id, so it waits and is never satisfied. */
  readonly tip: Oid | undefined;
  /** Every repository that an `a` tag names. */
  readonly repositories: readonly Address[];
  readonly clone: readonly string[];
}

/** `undefined` when it has no `c` tag at all: such an event is refused (`prWithoutTip`). */
export function readPullRequest(event: NostrEvent): PullRequest | undefined {
  const c = tagValue(event, "c");
  if (c === undefined) return undefined;
  return {
    id: event.id,
    author: event.pubkey,
    createdAt: event.created_at,
    tip: readOid(c),
    repositories: tagValues(event, "a")
      .map(parseCoordinate)
      .filter((address) => address?.kind === ANNOUNCEMENT) as Address[],
    clone: tagLists(event, "clone"),
  };
}

/** grasp.md 6.9: a tip is placed in every repository of that name whose maintainer set meets the keys that the `a` tags name. */
export const isFor = (request: PullRequest, repo: Pick<RepoId, "identifier">, confirmed: ReadonlySet<PublicKey>): boolean =>
  request.repositories.some(({ pubkey, d }) => d === repo.identifier && confirmed.has(pubkey));
