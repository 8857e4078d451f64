import type { Config } from "./settings/table.ts";

/** What single values cannot show: settings that contradict one another, in sentences. */
export function checkConfig(config: Config): readonly string[] {
  const { limits, storage, service } = config;
  const problems: string[] = [];
  const atMost = (small: number, smallName: string, large: number, largeName: string): void => {
    if (small > large)
      problems.push(`\`${smallName}\` is ${small} and \`${largeName}\` is ${large}: the first must not be larger than the second.`);
  };
  atMost(limits.defaultResults, "default-results", limits.maxResults, "max-results");
  atMost(limits.maxEventBytes, "max-event-bytes", limits.maxMessageBytes, "max-message-bytes");
  atMost(limits.maxOutgoingBytes, "max-outgoing-bytes", limits.maxOutgoingBytesTotal, "max-outgoing-bytes-total");
  atMost(limits.maxEventBytes, "max-event-bytes", limits.maxOutgoingBytes, "max-outgoing-bytes");
  if (tidy(storage.relayDataPath) === tidy(storage.gitDataPath)) {
    problems.push("`relay-data-path` and `git-data-path` are the same directory: a repository could take the place of the store.");
  }
  if (service.alsoKnownAs.includes(service.domain)) problems.push("`also-known-as` names the `domain` itself: leave it out there.");
  return problems;
}

/** What works, but perhaps not as meant. */
export function adviseConfig(config: Config, isSet: (key: string) => boolean): readonly string[] {
  const advice: string[] = [];
  if (
    isSet("domain") &&
    !isSet("trustedProxies") &&
    /^(127\.|::1$|localhost$)/.test(config.network.bindAddress.host) &&
    !/^(127\.|\[::1\]|localhost)/.test(config.service.domain)
  ) {
    advice.push(
      "The server listens on loopback only, so a proxy stands before it, but `trusted-proxies` is empty: all clients look like that proxy and limits per address do not apply.",
    );
  }
  if (isSet("maintainerPolicy"))
    advice.push("`maintainer-policy` is set, and has no effect in this version: states are not settled before git is served.");
  return advice;
}

const tidy = (path: string): string => path.replace(/^\.\//, "").replace(/\/+/g, "/").replace(/\/$/, "");
