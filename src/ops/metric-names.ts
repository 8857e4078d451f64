/** A metric: its name, what it says, and the only label values it may ever have. */
export interface Metric {
  readonly type: "counter" | "gauge" | "histogram";
  readonly help: string;
  /** Label names with all their values: few, and none from a stranger's text. */
  readonly labels?: Readonly<Record<string, readonly string[]>>;
  readonly buckets?: readonly number[];
}

/** Kinds that are counted by name; every other is `other`, because strangers choose among 65,536. */
export const KIND_LABELS = ["0", "5", "62", "1111", "1617", "1618", "1619", "1621", "10002", "10317", "30617", "30618"] as const;
const KINDS = [...KIND_LABELS, "other"];

export const CLIENT_MESSAGES = ["EVENT", "REQ", "CLOSE", "COUNT", "AUTH", "NEG-OPEN", "NEG-MSG", "NEG-CLOSE", "invalid"] as const;
export const RELAY_MESSAGES = ["EVENT", "OK", "EOSE", "CLOSED", "NOTICE", "COUNT", "AUTH", "NEG-MSG", "NEG-ERR"] as const;
export type ClientMessageLabel = (typeof CLIENT_MESSAGES)[number];
export type RelayMessageLabel = (typeof RELAY_MESSAGES)[number];

/** The first word of a refusal (NIP-01). */
export const REFUSALS = [
  "duplicate",
  "pow",
  "blocked",
  "rate-limited",
  "invalid",
  "restricted",
  "auth-required",
  "error",
  "other",
] as const;
export type RefusalLabel = (typeof REFUSALS)[number];

/** Why a connection was not let in, or ended. */
export const TURNED_AWAY = ["total", "address", "malformed"] as const;
export const ENDINGS = ["client", "idle", "slow-reader", "protocol", "message-too-large", "stopping", "fault"] as const;
export type Ending = (typeof ENDINGS)[number];

export const QUERIES = ["REQ", "COUNT", "NEG-OPEN"] as const;
export type QueryLabel = (typeof QUERIES)[number];

/** Routes of the HTTP front, as `web/route.ts` calls them. */
export const ROUTES = [
  "preflight",
  "relay",
  "bad-upgrade",
  "bad-request",
  "info",
  "home",
  "nip05",
  "metrics",
  "alive",
  "ready",
  "asset",
  "repo-page",
  "git-refs",
  "git-dumb",
  "git-fetch",
  "git-push",
  "not-found",
  "not-allowed",
] as const;
const CLASSES = ["2xx", "3xx", "4xx", "5xx"];

/** grasp.md 12.3: the `ngit_*` names of the reference where the meaning is the same; what is only ours begins with `holdfast_`. */
export const METRICS = {
  ngit_websocket_connections_active: { type: "gauge", help: "Open WebSocket connections" },
  ngit_websocket_connections_total: { type: "counter", help: "WebSocket connections since the start" },
  ngit_websocket_unique_ips: {
    type: "gauge",
    help: "Addresses with at least one open connection; loopback and trusted proxies do not count",
  },
  ngit_websocket_flagged_abusers: {
    type: "gauge",
    help: "Addresses with at least as many open connections as the threshold in the configuration",
  },
  ngit_websocket_connection_duration_seconds: {
    type: "histogram",
    help: "How long WebSocket connections lasted",
    buckets: [1, 5, 15, 30, 60, 300, 900, 3600],
  },
  ngit_websocket_messages_received_total: { type: "counter", help: "Messages from clients", labels: { type: CLIENT_MESSAGES } },
  ngit_websocket_messages_sent_total: { type: "counter", help: "Messages to clients", labels: { type: RELAY_MESSAGES } },
  ngit_events_received_total: { type: "counter", help: "Events that clients sent", labels: { kind: KINDS } },
  ngit_events_stored_total: { type: "counter", help: "Events that were stored", labels: { kind: KINDS } },
  ngit_events_rejected_total: { type: "counter", help: "Events that were refused", labels: { kind: KINDS, reason: REFUSALS } },
  ngit_build_info: { type: "gauge", help: "Always 1; version and commit of this build", labels: {} },
  ngit_uptime_seconds: { type: "gauge", help: "Seconds since the start" },
  holdfast_connections_refused_total: { type: "counter", help: "Connections that were not let in", labels: { why: TURNED_AWAY } },
  holdfast_connections_ended_total: {
    type: "counter",
    help: "WebSocket connections that ended, by what ended them",
    labels: { by: ENDINGS },
  },
  holdfast_subscriptions_active: { type: "gauge", help: "Open subscriptions" },
  holdfast_negentropy_sessions_active: { type: "gauge", help: "Open NIP-77 reconciliations" },
  holdfast_query_duration_seconds: {
    type: "histogram",
    help: "From a query to the last stored event of its answer",
    labels: { type: QUERIES },
    buckets: [0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10],
  },
  holdfast_event_answer_seconds: {
    type: "histogram",
    help: "From an EVENT to its OK",
    buckets: [0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10],
  },
  holdfast_outgoing_bytes: { type: "gauge", help: "Bytes that clients have not read yet" },
  holdfast_http_requests_total: {
    type: "counter",
    help: "Requests that were answered over HTTP",
    labels: { route: ROUTES, status: CLASSES },
  },
  holdfast_faults_total: { type: "counter", help: "Failures of our own that were logged" },
} as const satisfies Readonly<Record<string, Metric>>;

export type MetricName = keyof typeof METRICS;

const KIND_SET: ReadonlySet<string> = new Set(KIND_LABELS);
export const kindLabel = (kind: number): string => (KIND_SET.has(String(kind)) ? String(kind) : "other");

const CLIENT_MESSAGE_SET: ReadonlySet<string> = new Set(CLIENT_MESSAGES);
/** The label of a message by its first word; what is no message we know is `invalid`. */
export const clientMessageLabel = (verb: string): ClientMessageLabel =>
  CLIENT_MESSAGE_SET.has(verb) ? (verb as ClientMessageLabel) : "invalid";

const REFUSAL_SET: ReadonlySet<string> = new Set(REFUSALS);
/** The label of a refusal by its prefix; what is no prefix we know is `other`. */
export const refusalLabel = (prefix: string): RefusalLabel => (REFUSAL_SET.has(prefix) ? (prefix as RefusalLabel) : "other");

export const statusClass = (status: number): string => `${Math.floor(status / 100)}xx`;
