import { logLevel } from "./choice-types.ts";
import { setting } from "./setting.ts";
import { choice, duration, onOff, text, whole } from "./value-types.ts";

const SECOND = 1_000;
const DAY = 86_400 * SECOND;
const GATE = "Bounded in time so that requests cannot pile up without end (grasp.md 11.2).";

const short = (example: number) => duration({ min: 10, max: 3_600 * SECOND, example });
const long = (example: number) => duration({ min: 0, max: 36_500 * DAY, example });

export const timingSettings = {
  idlePingMs: setting({
    type: short(25 * SECOND),
    default: 25 * SECOND,
    meaning: "A client that was silent for so long is pinged.",
    reason: "Home routers forget a silent connection after 30 s and more (grasp.md 3.3).",
  }),
  pongTimeoutMs: setting({
    type: short(20 * SECOND),
    default: 20 * SECOND,
    meaning: "A pinged client that stays silent for so long is dropped.",
    reason: "A connection that is gone must give its place back (grasp.md 3.3).",
  }),
  handshakeTimeoutMs: setting({
    type: short(10 * SECOND),
    default: 10 * SECOND,
    meaning: "Time for the headers of a request to arrive.",
    reason: "A connection that says nothing must not keep a place.",
  }),
  stopGraceMs: setting({
    type: short(30 * SECOND),
    default: 30 * SECOND,
    meaning: "Time for running work to finish when the server is told to stop.",
    reason: "Long enough for what is being answered, shorter than the 90 s after which service managers kill.",
  }),
};

export const deletionSettings = {
  deletionRequestRetentionUnusedServedMs: setting({
    type: long(30 * DAY),
    default: 30 * DAY,
    ngit: ["DELETION_REQUEST_RETENTION_UNUSED_SERVED_SECS"],
    meaning: "How long a deletion request that never removed or refused anything is served.",
    reason: GATE,
  }),
  deletionRequestRetentionUnusedUnservedMs: setting({
    type: long(180 * DAY),
    default: 180 * DAY,
    ngit: ["DELETION_REQUEST_RETENTION_UNUSED_UNSERVED_GATING_ADDITIONAL_SECS"],
    meaning: "How long after that it still refuses its targets.",
    reason: GATE,
  }),
  deletionRequestRetentionUsedServedMs: setting({
    type: long(270 * DAY),
    default: 270 * DAY,
    ngit: ["DELETION_REQUEST_RETENTION_USED_SERVED_AFTER_LAST_USED_SECS"],
    meaning: "How long after its last use a deletion request that removed or refused something is served.",
    reason: GATE,
  }),
  deletionRequestRetentionUsedUnservedMs: setting({
    type: long(90 * DAY),
    default: 90 * DAY,
    ngit: ["DELETION_REQUEST_RETENTION_USED_UNSERVED_GATING_ADDITIONAL_SECS"],
    meaning: "How long after that it still refuses its targets.",
    reason: GATE,
  }),
  maxDeletionTargets: setting({
    type: whole({ min: 1, max: 100_000, example: 2_048 }),
    default: 2_048,
    meaning: "Targets of one deletion request.",
    reason: "Each target is a look-up inside the one writer (grasp.md 11.1); peers have the same limit.",
  }),
  maxUnusedDeletionRequests: setting({
    type: whole({ min: 0, max: 1_000_000, example: 1_000 }),
    default: 1_000,
    meaning: "Deletion requests of one author that removed or refused nothing and are kept all the same.",
    reason: "They are free to make and cost a place each (grasp.md 11.1).",
  }),
  deletionRequestDisrespector: setting({
    type: onOff,
    default: false,
    ngit: ["DELETION_REQUEST_DISRESPECTOR"],
    meaning: "Store deletion and vanish requests and do nothing about them; the information document then lists neither NIP-09 nor NIP-62.",
    reason: "Off: authors may take back what they wrote. An archive may decide otherwise and says so.",
  }),
};

export const opsSettings = {
  logLevel: setting({
    type: logLevel,
    default: "info",
    ngit: ["LOG_LEVEL"],
    meaning: "The least important lines that are logged.",
    reason: "`info` tells starts, stops and trouble, and no line per message.",
  }),
  logFormat: setting({
    type: choice("text", "json"),
    default: "text",
    meaning: "`text` for people, `json` for machines.",
    reason: "A person reads the first log of a new server.",
  }),
  metricsEnabled: setting({
    type: onOff,
    default: true,
    ngit: ["METRICS_ENABLED"],
    meaning: "Whether `/metrics` answers.",
    reason: "It shows sums only, never names or contents.",
  }),
  metricsConnectionPerIpAbuseThreshold: setting({
    type: whole({ min: 1, max: 1_000_000, example: 10 }),
    default: 10,
    ngit: ["METRICS_CONNECTION_PER_IP_ABUSE_THRESHOLD", "ABUSE_THRESHOLD"],
    meaning: "From how many connections on an address counts in `ngit_websocket_flagged_abusers`; nothing else depends on it.",
    reason: "A browser with several tabs stays below.",
  }),
  buildRevision: setting({
    type: text("a revision", 100),
    default: "unknown",
    ngit: ["BUILD_REVISION"],
    meaning: "The commit this build was made from, shown in `ngit_build_info`.",
    reason: "The source does not know its own commit; who packages it does.",
  }),
  testTimers: setting({
    type: onOff,
    default: false,
    ngit: ["TEST"],
    meaning: "Background passes that otherwise run by the minute or day (the retirement of old deletion requests) run every 200 ms.",
    reason: "Tests wait for conditions, and should not wait long. Not for service: the passes would never rest.",
  }),
};
