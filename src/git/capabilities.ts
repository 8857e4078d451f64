import type { ObjectFormat } from "./oid.ts";
import type { RefName } from "./ref-name.ts";

/** What every list of capabilities ends in. `agent` is one word, like `holdfast/1.0`. */
export interface CapabilityFacts {
  readonly format: ObjectFormat;
  readonly agent: string;
}

/**
 * Of a fetch in protocol 0 and 1: grasp.md 7.3 and what else `git upload-pack` does, in its order, since it does the work.
 * Without `thin-pack` and `no-done` a small fetch would cost more bytes and one more round trip.
 */
export function uploadCapabilities(facts: CapabilityFacts, head: RefName | undefined): string {
  const symref = head === undefined ? [] : [`symref=HEAD:${head}`];
  return [...UPLOAD, ...symref, "filter", `object-format=${facts.format}`, `agent=${facts.agent}`].join(" ");
}

const UPLOAD = [
  "multi_ack",
  "thin-pack",
  "side-band",
  "side-band-64k",
  "ofs-delta",
  "shallow",
  "deepen-since",
  "deepen-not",
  "deepen-relative",
  "no-progress",
  "include-tag",
  "multi_ack_detailed",
  "allow-tip-sha1-in-want",
  "allow-reachable-sha1-in-want",
  "no-done",
];

/** Of a push: exactly the list of grasp.md 7.3. No push options and no push-cert: a state event is the authority. */
export const receiveCapabilities = (facts: CapabilityFacts): string =>
  `report-status delete-refs side-band-64k quiet atomic ofs-delta object-format=${facts.format} agent=${facts.agent}`;

/** Of a fetch in protocol 2, one a line. `server-option` and `object-info` are not offered: nothing here uses them. */
export const uploadCapabilitiesV2 = (facts: CapabilityFacts): readonly string[] => [
  `agent=${facts.agent}`,
  "ls-refs=unborn",
  "fetch=shallow wait-for-done filter",
  `object-format=${facts.format}`,
];
