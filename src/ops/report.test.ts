import { describe, expect, test } from "vitest";
import { systemClock } from "../base/io/system-clock.ts";
import { instant } from "../base/time.ts";
import { createLogger } from "./io/logger.ts";
import { createPrometheus } from "./io/prometheus.ts";
import { clientMessageLabel, kindLabel, METRICS, refusalLabel } from "./metric-names.ts";
import { printable } from "./printable.ts";
import { createReport } from "./report.ts";
import { textLine } from "./text-line.ts";

const clock = { ...systemClock, now: () => instant(1_700_000_000_000) };
const TIME = "2023-11-14T22:13:20.000Z";

function world(level: "debug" | "info" = "debug", format: "text" | "json" = "text") {
  const lines: string[] = [];
  const log = createLogger({ level, format, clock, write: (line) => lines.push(line) });
  const prometheus = createPrometheus({ clock, version: "1.2.3", commit: "abc" });
  return { lines, prometheus, report: createReport(log, prometheus.meters) };
}

const EVIL = "a\u001b[2J\nfake line\r\u202eevil\u2028\u0085\u0000\ud800";

describe("nothing a stranger wrote begins a line or moves a cursor", () => {
  test("printable", () => {
    expect(printable(EVIL)).toBe("a\\x1b[2J\\x0afake line\\x0d\\u{202e}evil\\u{2028}\\x85\\x00\\u{d800}");
    expect(printable("ordinary – text ✓ 漢字")).toBe("ordinary – text ✓ 漢字");
    expect(printable("x".repeat(600))).toHaveLength(501);
  });

  test.each(["text", "json"] as const)("%s lines", (format) => {
    const { lines, report } = world("debug", format);
    report.connectionOpened(7, EVIL);
    report.advice(EVIL);
    report.fault("relay", new Error(EVIL));
    for (const line of lines) {
      const first = format === "json" ? line : (line.split("\n    at ")[0] ?? "");
      expect(first.trimEnd()).not.toMatch(/[\p{Cc}\u202e\u2028]/u);
    }
    expect(lines).toHaveLength(3);
  });
});

describe("lines", () => {
  test("for people", () => {
    expect(textLine(TIME, "info", "listening", { url: "ws://x", note: "two words", n: 3, none: undefined })).toBe(
      `${TIME} info  listening url=ws://x note="two words" n=3\n`,
    );
  });

  test("for machines", () => {
    const { lines, report } = world("info", "json");
    report.listening("ws://x", "127.0.0.1:1");
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      { level: "info", time: TIME, message: "listening", url: "ws://x", address: "127.0.0.1:1" },
    ]);
  });

  test.each(["text", "json"] as const)("below the level nothing is written: %s", (format) => {
    const { lines, report } = world("info", format);
    report.connectionOpened(1, "192.0.2.1");
    expect(lines).toEqual([]);
  });

  test("a fault keeps where it was thrown", () => {
    const { lines, report } = world();
    report.fault("http", new Error("broken"));
    expect(lines[0]).toMatch(/error fault where=http error="Error: broken"\n {4}at /);
    report.fault("http", "a thrown text");
    expect(lines[1]).toContain('error="thrown: a thrown text"');
  });
});

describe("numbers (grasp.md 12.3)", () => {
  test("every helper moves its number, under the names of the reference", async () => {
    const { report, prometheus } = world();
    report.connectionOpened(1, "192.0.2.1");
    report.connectionOpened(2, "192.0.2.2");
    report.connectionClosed(1, "idle", 4_000);
    report.connectionRefused("address");
    report.messageReceived("REQ");
    report.messagesSent("EVENT", 5);
    report.eventReceived(30_617);
    report.eventStored(30_617, 3);
    report.eventRejected(1, "restricted");
    report.eventRejected(4_711, "made up");
    report.queryAnswered("REQ", 2);
    report.open({ subscriptions: 3, negentropySessions: 1, outgoingBytes: 99 });
    report.httpAnswered("info", 200);
    report.fault("x", new Error("y"));
    const text = await prometheus.text();
    for (const line of [
      "ngit_websocket_connections_active 1",
      "ngit_websocket_connections_total 2",
      "ngit_websocket_connection_duration_seconds_count 1",
      'ngit_websocket_connection_duration_seconds_bucket{le="5"} 1',
      'ngit_websocket_messages_received_total{type="REQ"} 1',
      'ngit_websocket_messages_sent_total{type="EVENT"} 5',
      'ngit_events_received_total{kind="30617"} 1',
      'ngit_events_stored_total{kind="30617"} 1',
      'ngit_events_rejected_total{kind="other",reason="restricted"} 1',
      'ngit_events_rejected_total{kind="other",reason="other"} 1',
      'ngit_build_info{version="1.2.3",commit="abc"} 1',
      "ngit_uptime_seconds 0",
      'holdfast_connections_ended_total{by="idle"} 1',
      'holdfast_connections_refused_total{why="address"} 1',
      "holdfast_subscriptions_active 3",
      "holdfast_negentropy_sessions_active 1",
      "holdfast_outgoing_bytes 99",
      'holdfast_query_duration_seconds_count{type="REQ"} 1',
      'holdfast_http_requests_total{route="info",status="2xx"} 1',
      "holdfast_faults_total 1",
    ]) {
      expect(text).toContain(`${line}\n`);
    }
    expect(text).toContain("process_resident_memory_bytes");
  });

  test("what is looked up at the time of asking is in the answer", async () => {
    const prometheus = createPrometheus({
      clock,
      version: "1",
      commit: "x",
      onScrape: (meters) => meters.set("ngit_websocket_unique_ips", 12),
    });
    expect(await prometheus.text()).toContain("ngit_websocket_unique_ips 12\n");
  });

  test("a label value that the catalogue does not have is our bug", () => {
    const { prometheus } = world();
    expect(() => prometheus.meters.count("holdfast_connections_ended_total", { by: "a stranger" })).toThrow("no such label value");
    expect(() => prometheus.meters.count("holdfast_connections_ended_total")).toThrow("no such label value");
    expect(() => prometheus.meters.observe("holdfast_faults_total", 1)).toThrow("another type");
  });

  test("strangers choose no label", () => {
    expect(kindLabel(30_618)).toBe("30618");
    expect(kindLabel(12_345)).toBe("other");
    expect(refusalLabel("blocked")).toBe("blocked");
    expect(refusalLabel('x"} 1')).toBe("other");
    expect(clientMessageLabel("NEG-MSG")).toBe("NEG-MSG");
    expect(clientMessageLabel("DROP TABLE")).toBe("invalid");
  });

  test("names are as Prometheus wants them: counters end in _total", () => {
    for (const [name, { type }] of Object.entries(METRICS)) expect(name.endsWith("_total")).toBe(type === "counter");
  });
});
