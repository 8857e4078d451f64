import type { Log } from "./log.ts";
import type { Meters } from "./meters.ts";
import {
  type ClientMessageLabel,
  type Ending,
  kindLabel,
  type QueryLabel,
  type RelayMessageLabel,
  refusalLabel,
  statusClass,
  type TURNED_AWAY,
} from "./metric-names.ts";

/** One helper per event that matters: its line and its number together, so that neither is forgotten. */
export interface Report {
  starting(version: string): void;
  listening(url: string, address: string): void;
  stopping(why: string): void;
  stopped(): void;
  /** Something about the configuration or the start that works, but perhaps not as meant. */
  advice(sentence: string): void;

  connectionOpened(connection: number, ip: string): void;
  connectionClosed(connection: number, by: Ending, lastedMs: number): void;
  connectionRefused(why: (typeof TURNED_AWAY)[number]): void;

  messageReceived(type: ClientMessageLabel): void;
  messagesSent(type: RelayMessageLabel, count: number): void;
  eventReceived(kind: number): void;
  eventStored(kind: number, tookMs: number): void;
  /** `prefix` is the first word of the refusal. */
  eventRejected(kind: number, prefix: string): void;
  queryAnswered(type: QueryLabel, tookMs: number): void;
  /** How many there are now. */
  open(now: { readonly subscriptions: number; readonly negentropySessions: number; readonly outgoingBytes: number }): void;

  httpAnswered(route: string, status: number): void;
  /** The world failed, or we did; `where` is ours, never a stranger's text. */
  fault(where: string, error: unknown): void;
}

export function createReport(log: Log, meters: Meters): Report {
  let connections = 0;
  return {
    starting: (version) => log.write("info", "starting", { version }),
    listening: (url, address) => log.write("info", "listening", { url, address }),
    stopping: (why) => log.write("info", "stopping", { why }),
    stopped: () => log.write("info", "stopped"),
    advice: (sentence) => log.write("warn", sentence),

    connectionOpened(connection, ip) {
      connections += 1;
      meters.set("ngit_websocket_connections_active", connections);
      meters.count("ngit_websocket_connections_total");
      log.write("debug", "connection opened", { connection, ip });
    },
    connectionClosed(connection, by, lastedMs) {
      connections -= 1;
      meters.set("ngit_websocket_connections_active", connections);
      meters.count("holdfast_connections_ended_total", { by });
      meters.observe("ngit_websocket_connection_duration_seconds", lastedMs / 1_000);
      log.write("debug", "connection closed", { connection, by, lastedMs });
    },
    connectionRefused(why) {
      meters.count("holdfast_connections_refused_total", { why });
      log.write("debug", "connection refused", { why });
    },

    // The paths below run for every message: numbers only.
    messageReceived: (type) => meters.count("ngit_websocket_messages_received_total", { type }),
    messagesSent: (type, count) => meters.count("ngit_websocket_messages_sent_total", { type }, count),
    eventReceived: (kind) => meters.count("ngit_events_received_total", { kind: kindLabel(kind) }),
    eventStored(kind, tookMs) {
      meters.count("ngit_events_stored_total", { kind: kindLabel(kind) });
      meters.observe("holdfast_event_answer_seconds", tookMs / 1_000);
    },
    eventRejected: (kind, prefix) => meters.count("ngit_events_rejected_total", { kind: kindLabel(kind), reason: refusalLabel(prefix) }),
    queryAnswered: (type, tookMs) => meters.observe("holdfast_query_duration_seconds", tookMs / 1_000, { type }),
    open({ subscriptions, negentropySessions, outgoingBytes }) {
      meters.set("holdfast_subscriptions_active", subscriptions);
      meters.set("holdfast_negentropy_sessions_active", negentropySessions);
      meters.set("holdfast_outgoing_bytes", outgoingBytes);
    },

    httpAnswered: (route, status) => meters.count("holdfast_http_requests_total", { route, status: statusClass(status) }),
    fault(where, error) {
      meters.count("holdfast_faults_total");
      const { name, message, stack } = error instanceof Error ? error : { name: "thrown", message: String(error), stack: undefined };
      log.write("error", "fault", { where, error: `${name}: ${message}`, stack });
    },
  };
}
