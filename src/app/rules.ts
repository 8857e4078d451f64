import { availableParallelism } from "node:os";
import type { Place } from "../grasp/place.ts";
import { normaliseRelayUrl, type RelayUrl } from "../nostr/relay-url.ts";
import type { Rules } from "../policy/rules.ts";
import type { RelayLimits } from "../relay/limits.ts";
import type { Retentions } from "../retention/gate-retention.ts";
import type { Config } from "./config.ts";

/** The configuration, as each part wants it. */

export function placesOf({ service }: Config): readonly Place[] {
  const basePath = service.basePath === "/" ? "" : service.basePath;
  return [service.domain, ...service.alsoKnownAs].flatMap((domain) => {
    const url = URL.parse(`http://${domain}`);
    const port = /:(\d+)$/.exec(domain)?.[1];
    return url === null ? [] : [{ hostname: url.hostname, port: port === undefined ? undefined : Number(port), basePath }];
  });
}

/** Every address under which a client may know this relay (NIP-42). */
export function relayUrlsOf({ service }: Config): readonly RelayUrl[] {
  const path = service.basePath === "/" ? "" : service.basePath;
  return [service.domain, ...service.alsoKnownAs]
    .flatMap((domain) => [`ws://${domain}${path}`, `wss://${domain}${path}`])
    .map(normaliseRelayUrl)
    .filter((url) => url !== undefined);
}

export function rulesOf(config: Config): Rules {
  const { service, lists, limits, deletion } = config;
  return {
    acceptance: service.acceptance,
    blockedAuthors: lists.eventBlockList,
    blockedRepositories: lists.repositoryBlockList,
    allowedRepositories: lists.repositoryAllowList.length === 0 ? undefined : lists.repositoryAllowList,
    minPow: service.minPowDifficulty,
    places: placesOf(config),
    eventBytesMax: limits.maxEventBytes,
    deletionTargetsMax: deletion.maxDeletionTargets,
    unusedDeletionsMax: deletion.maxUnusedDeletionRequests,
    ignoreDeletions: deletion.deletionRequestDisrespector,
    // Until pushes are taken here, what waited for git data would wait in vain.
    purgatory: false,
    maintainerPolicy: service.maintainerPolicy,
  };
}

export function relayLimitsOf({ limits, timing }: Config): RelayLimits {
  return {
    subscriptions: limits.maxSubscriptions,
    subscriptionBytes: limits.maxSubscriptionBytes,
    subscriptionIdLength: limits.maxSubscriptionIdLength,
    filtersPerRequest: limits.maxFilters,
    valuesPerRequest: limits.maxFilterValues,
    resultsMax: limits.maxResults,
    resultsDefault: limits.defaultResults,
    messageBytes: limits.maxMessageBytes,
    eventBytes: limits.maxEventBytes,
    negentropySessions: limits.maxNegentropySessions,
    negentropyItems: limits.maxNegentropyItems,
    eventsPerMinute: limits.eventsPerMinute,
    queriesPerMinute: limits.queriesPerMinute,
    messagesPerMinute: limits.messagesPerMinute,
    authsPerMinute: limits.authsPerMinute,
    unansweredEvents: limits.maxUnansweredEvents,
    pingAfterMs: timing.idlePingMs,
    pongWithinMs: timing.pongTimeoutMs,
  };
}

export function retentionsOf({ deletion }: Config): Retentions {
  return {
    unusedServedMs: deletion.deletionRequestRetentionUnusedServedMs,
    unusedGateMs: deletion.deletionRequestRetentionUnusedUnservedMs,
    usedServedMs: deletion.deletionRequestRetentionUsedServedMs,
    usedGateMs: deletion.deletionRequestRetentionUsedUnservedMs,
  };
}

/** The writer takes no more than two of them can prove; without libsecp256k1 it takes more. */
const AUTO_VERIFIERS_MAX = 4;

/** The main loop and the writer want a core too; a verifier more than there are cores only adds waiting. */
export const verifyWorkersOf = ({ limits }: Config): number =>
  limits.verifyWorkers === "auto" ? Math.min(AUTO_VERIFIERS_MAX, Math.max(1, availableParallelism() - 2)) : limits.verifyWorkers;
