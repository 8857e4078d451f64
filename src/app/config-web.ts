import type { PublicKey } from "../nostr/event.ts";
import type { InfoFacts } from "../web/info.ts";
import { publicUrls } from "../web/public-url.ts";
import type { Config } from "./config.ts";

export interface Build {
  readonly version: string;
  /** `GRASP-01` … : what this build and configuration really do (grasp.md 2.4). */
  readonly grasps: readonly string[];
}

/** What the information document is made of. */
export function infoFacts(config: Config, serverKey: PublicKey, build: Build): InfoFacts {
  const { service, limits, lists, deletion } = config;
  const urls = publicUrls(service.domain, service.basePath);
  return {
    urls,
    name: service.relayName,
    description: service.relayDescription,
    contact: service.relayContact,
    icon: service.relayIcon,
    serverKey,
    // NIP-11 wants a URL; the page of this server says what it runs.
    software: urls.home,
    ...build,
    acceptance: service.acceptance,
    allowList: lists.repositoryAllowList.length > 0,
    blockList: lists.eventBlockList.length > 0 || lists.repositoryBlockList.length > 0,
    minPowDifficulty: service.minPowDifficulty,
    ignoresDeletion: deletion.deletionRequestDisrespector,
    limits,
  };
}
