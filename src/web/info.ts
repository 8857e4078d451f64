import type { PublicKey } from "../nostr/event.ts";
import { type InfoDocument, infoDocument } from "../nostr/info-document.ts";
import type { PublicUrls } from "./public-url.ts";

/** What the configuration and the build say about this relay. */
export interface InfoFacts {
  readonly urls: PublicUrls;
  readonly name: string;
  readonly description: string;
  readonly contact: string | undefined;
  readonly icon: string | undefined;
  readonly serverKey: PublicKey;
  /** The project's homepage; empty: none is named. */
  readonly software: string;
  readonly version: string;
  readonly acceptance: "grasp" | "open";
  /** Only repositories on a list are taken. */
  readonly allowList: boolean;
  readonly blockList: boolean;
  readonly minPowDifficulty: number;
  readonly ignoresDeletion: boolean;
  /** `GRASP-01` … : only what is true of this build and configuration. */
  readonly grasps: readonly string[];
  readonly limits: {
    readonly maxMessageBytes: number;
    readonly maxSubscriptions: number;
    readonly maxResults: number;
    readonly defaultResults: number;
    readonly maxSubscriptionIdLength: number;
  };
}

/** grasp.md 3.1, as far as it is true. */
function nips(facts: InfoFacts): readonly number[] {
  // 13: committed work is checked against `min_pow_difficulty`, which may be 0.
  const list = [1, 11, 13, 40, 42, 45, 70, 77];
  // Who ignores deletions must not promise them.
  if (!facts.ignoresDeletion) list.push(9, 62);
  return list;
}

/** grasp.md 2.4: an honest sentence built from the configuration. */
export function acceptanceSentence(facts: InfoFacts): string {
  const first =
    facts.acceptance === "open"
      ? "Every valid event is accepted."
      : facts.allowList
        ? "Repositories on the operator's list whose announcements name this server, and events that refer to them, are accepted."
        : "Repositories whose announcements name this server, and events that refer to them, are accepted.";
  const work = facts.minPowDifficulty > 0 ? ` Events need ${facts.minPowDifficulty} bits of committed work.` : "";
  const blocked = facts.blockList ? " The operator refuses some authors or repositories." : "";
  const deletion = facts.ignoresDeletion ? " Deletion requests are stored and not followed." : "";
  return first + work + blocked + deletion;
}

/** grasp.md 2.4: the NIP-11 document. */
export function relayInfo(facts: InfoFacts): InfoDocument {
  const { limits } = facts;
  return infoDocument({
    name: facts.name,
    description: facts.description,
    contact: facts.contact,
    icon: facts.icon ?? `${facts.urls.home}icon.svg`,
    software: facts.software,
    version: facts.version,
    serverKey: facts.serverKey,
    nips: nips(facts),
    grasps: facts.grasps,
    acceptance: acceptanceSentence(facts),
    curation: facts.allowList ? "Only repositories that the operator has listed are accepted." : undefined,
    limitation: {
      max_message_length: limits.maxMessageBytes,
      max_subscriptions: limits.maxSubscriptions,
      max_limit: limits.maxResults,
      default_limit: limits.defaultResults,
      max_subid_length: limits.maxSubscriptionIdLength,
      min_pow_difficulty: facts.minPowDifficulty,
      auth_required: false,
      payment_required: false,
      restricted_writes: facts.acceptance === "grasp" || facts.minPowDifficulty > 0,
    },
  });
}
