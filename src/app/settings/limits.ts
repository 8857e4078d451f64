import { workers } from "./choice-types.ts";
import { setting } from "./setting.ts";
import { bytes, perMinute, whole } from "./value-types.ts";

const KIB = 1024;
const MIB = 1024 * KIB;
const RELIED_ON = "Peers rely on this figure (grasp.md 3.3), so lowering it loses them.";
const TEN_TIMES = "Ten times the limit of one connection: room for a household or an office, not for a flood.";

const count = (example: number, min = 1) => whole({ min, max: 1_000_000_000, example });
const size = (example: number, min: number, max = 4096 * MIB) => bytes({ min, max, example });

export const limitSettings = {
  maxConnections: setting({
    type: count(10_000),
    default: 10_000,
    ngit: ["MAX_CONNECTIONS"],
    meaning: "Open connections in total.",
    reason: "Each costs a file descriptor and some memory; more than this want a larger machine and a larger descriptor limit.",
  }),
  maxConnectionsPerAddress: setting({
    type: count(100),
    default: 100,
    meaning: "Open connections from one address; an IPv6 /64 counts as one, loopback and trusted proxies are not limited.",
    reason:
      "One stranger must not take every place. Behind a proxy on this machine all clients look like loopback unless it is a trusted proxy, and who already is on the machine can do worse.",
  }),
  maxSubscriptions: setting({
    type: count(500),
    default: 500,
    ngit: ["RELAY_MAX_SUBSCRIPTIONS"],
    meaning: "Open subscriptions of one connection.",
    reason: RELIED_ON,
  }),
  maxSubscriptionBytes: setting({
    type: size(5 * MIB, 64 * KIB),
    default: 5 * MIB,
    meaning: "Text of all open subscriptions of one connection together.",
    reason: RELIED_ON,
  }),
  maxSubscriptionIdLength: setting({
    type: whole({ min: 250, max: 10_000, example: 250 }),
    default: 250,
    meaning: "Characters of a subscription id.",
    reason: "Peers use up to 250; longer ones only cost memory.",
  }),
  maxFilters: setting({
    type: count(20),
    default: 20,
    meaning: "Filters of one REQ, COUNT or NEG-OPEN.",
    reason: RELIED_ON,
  }),
  maxFilterValues: setting({
    type: count(10_000),
    default: 10_000,
    meaning: "Values in all lists of one REQ together: ids, authors, kinds and tags.",
    reason: "A syncing peer sends up to 96 KiB of values a REQ, about 1,500 ids; each value is a look-up in an index.",
  }),
  maxResults: setting({
    type: count(500),
    default: 500,
    ngit: ["RELAY_FILTER_LIMIT"],
    meaning: "Stored events that one filter may bring.",
    reason: RELIED_ON,
  }),
  defaultResults: setting({
    type: count(500),
    derived: { from: "`max-results`", derive: (settled) => settled.maxResults },
    meaning: "Stored events that a filter without `limit` brings.",
    reason: "A client that names no limit gets as much as one may have.",
  }),
  maxMessageBytes: setting({
    type: size(5 * MIB, 64 * KIB, 64 * MIB),
    default: 5 * MIB,
    meaning: "Size of one WebSocket message.",
    reason: RELIED_ON,
  }),
  maxEventBytes: setting({
    type: size(192 * KIB, KIB, 5 * MIB),
    default: 192 * KIB,
    ngit: ["RELAY_MAX_EVENT_SIZE_BYTES"],
    meaning: "Size of one event as JSON.",
    reason: "Real patches reach 149 KiB.",
  }),
  maxNegentropySessions: setting({
    type: count(10),
    default: 10,
    meaning: "Open NIP-77 reconciliations of one connection.",
    reason: RELIED_ON,
  }),
  maxNegentropyItems: setting({
    type: count(2_000_000),
    default: 2_000_000,
    meaning: "Events that one reconciliation may range over.",
    reason: "Each costs 40 bytes while the reconciliation lasts; a peer that wants more narrows its filter by time.",
  }),
  eventsPerMinute: setting({
    type: perMinute(600),
    default: 600,
    meaning: "EVENT messages of one connection a minute; one with many single-letter tags counts once for each hundred of them.",
    reason: RELIED_ON,
  }),
  queriesPerMinute: setting({
    type: perMinute(1_200),
    default: 1_200,
    meaning: "REQ, COUNT and NEG-OPEN messages of one connection a minute; one with many values counts once for each 500 of them.",
    reason: RELIED_ON,
  }),
  messagesPerMinute: setting({
    type: perMinute(6_000),
    default: 6_000,
    meaning: "Messages of any kind of one connection a minute; a long one counts once for each 64 KiB.",
    reason: RELIED_ON,
  }),
  authsPerMinute: setting({
    type: perMinute(30),
    default: 30,
    meaning: "AUTH messages of one connection a minute.",
    reason: "Each costs a signature check, and an honest client needs one.",
  }),
  eventsPerMinutePerAddress: setting({
    type: perMinute(6_000),
    default: 6_000,
    meaning: "EVENT messages of one address a minute.",
    reason: TEN_TIMES,
  }),
  queriesPerMinutePerAddress: setting({
    type: perMinute(12_000),
    default: 12_000,
    meaning: "REQ, COUNT and NEG-OPEN messages of one address a minute.",
    reason: TEN_TIMES,
  }),
  messagesPerMinutePerAddress: setting({
    type: perMinute(60_000),
    default: 60_000,
    meaning: "Messages of any kind of one address a minute.",
    reason: TEN_TIMES,
  }),
  authsPerMinutePerAddress: setting({
    type: perMinute(300),
    default: 300,
    meaning: "AUTH messages of one address a minute.",
    reason: TEN_TIMES,
  }),
  maxUnansweredEvents: setting({
    type: count(500),
    default: 500,
    meaning: "Events of one connection that wait for their OK; beyond it we stop reading from that connection.",
    reason: "A sender faster than the disk must not fill memory.",
  }),
  maxOutgoingBytes: setting({
    type: size(16 * MIB, MIB),
    default: 16 * MIB,
    meaning: "Bytes that may wait to be read by one client; beyond it the connection is closed.",
    reason: "A reader slower than its subscriptions must not fill memory; 16 MiB are a hundred of the largest events.",
  }),
  maxOutgoingBytesTotal: setting({
    type: size(256 * MIB, MIB, 1024 * 1024 * MIB),
    default: 256 * MIB,
    meaning: "Bytes that may wait to be read by all clients together; beyond it the slowest are closed.",
    reason: "Many slow readers, each within its own limit, must not fill memory either.",
  }),
  verifyWorkers: setting({
    type: workers,
    default: "auto",
    meaning: "Threads that check signatures; `auto` looks at the machine.",
    reason:
      "A check takes about 40 µs of pure computing. One or two keep the writer busy where libsecp256k1 is there, so `auto` starts at most four.",
  }),
};
