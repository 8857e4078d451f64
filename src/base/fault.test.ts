import { lookup } from "node:dns/promises";
import { open } from "node:fs/promises";
import { connect } from "node:net";
import { expect, test } from "vitest";
import { describeFault, type Fault, FaultError, faultOf } from "./fault.ts";

const coded = (code: string, more: object = {}): Error => Object.assign(new Error("text must not matter"), { code, ...more });

const table: readonly (readonly [string, unknown, object])[] = [
  ["name not found", coded("ENOTFOUND", { syscall: "getaddrinfo" }), { kind: "dns", code: "ENOTFOUND" }],
  ["name server down for now", coded("EAI_AGAIN"), { kind: "dns", code: "EAI_AGAIN" }],
  ["refused by the name server", coded("ECONNREFUSED", { syscall: "queryA" }), { kind: "dns", code: "ECONNREFUSED" }],
  ["refused by the host", coded("ECONNREFUSED", { syscall: "connect" }), { kind: "refused" }],
  ["no route", coded("ENETUNREACH"), { kind: "unreachable", code: "ENETUNREACH" }],
  ["certificate", coded("CERT_HAS_EXPIRED"), { kind: "tls", code: "CERT_HAS_EXPIRED" }],
  ["wrong host in the certificate", coded("ERR_TLS_CERT_ALTNAME_INVALID"), { kind: "tls", code: "ERR_TLS_CERT_ALTNAME_INVALID" }],
  ["handshake too slow", coded("ERR_TLS_HANDSHAKE_TIMEOUT"), { kind: "timeout" }],
  ["connect too slow", coded("ETIMEDOUT"), { kind: "timeout" }],
  ["reset", coded("ECONNRESET"), { kind: "closed", code: "ECONNRESET" }],
  ["bad http", coded("HPE_INVALID_CONSTANT"), { kind: "protocol", what: "HPE_INVALID_CONSTANT" }],
  ["bad frame", coded("WS_ERR_INVALID_UTF8"), { kind: "protocol", what: "WS_ERR_INVALID_UTF8" }],
  ["bad gzip", coded("Z_DATA_ERROR"), { kind: "protocol", what: "Z_DATA_ERROR" }],
  ["disk full", coded("ENOSPC"), { kind: "io", code: "ENOSPC" }],
  ["database", coded("SQLITE_BUSY"), { kind: "io", code: "SQLITE_BUSY" }],
  ["aborted", AbortSignal.abort().reason, { kind: "aborted" }],
  ["wrapped once", new TypeError("fetch failed", { cause: coded("ECONNREFUSED") }), { kind: "refused" }],
  ["a telling cause in a general error", coded("ECONNRESET", { cause: coded("CERT_REVOKED") }), { kind: "tls", code: "CERT_REVOKED" }],
  ["several addresses tried", new AggregateError([coded("EHOSTUNREACH")]), { kind: "unreachable", code: "EHOSTUNREACH" }],
  ["our own mistake", new TypeError("x is not a function"), { kind: "unknown" }],
  ["not even an error", "ECONNREFUSED", { kind: "unknown" }],
  ["nothing", undefined, { kind: "unknown" }],
];

test.each(table)("%s", (_, error, expected) => {
  const fault = faultOf(error);
  expect(fault).toMatchObject(expected);
  expect(fault.cause).toBe(error);
});

test("text alone decides nothing", () => {
  expect(faultOf(new Error("connect ECONNREFUSED 127.0.0.1:1")).kind).toBe("unknown");
});

test("a thrown fault comes back as it was", () => {
  const fault: Fault = { kind: "rate-limited", retryAfterMs: 5, cause: "notice" };
  expect(faultOf(new FaultError(fault))).toBe(fault);
  expect(faultOf(new Error("wrapper", { cause: new FaultError(fault) }))).toMatchObject({ kind: "rate-limited", retryAfterMs: 5 });
});

test("a circle of causes ends", () => {
  const error = new Error("round");
  error.cause = error;
  expect(faultOf(error).kind).toBe("unknown");
});

test("what this Node really throws", async () => {
  const refused = await new Promise((resolve) => connect(1, "127.0.0.1").on("error", resolve));
  expect(faultOf(refused).kind).toBe("refused");
  expect(faultOf(await lookup("a..invalid").catch((error: unknown) => error)).kind).toBe("dns");
  expect(faultOf(await open("/nowhere/at/all").catch((error: unknown) => error))).toMatchObject({ kind: "io", code: "ENOENT" });
  const late = AbortSignal.timeout(0);
  await new Promise((resolve) => (late.aborted ? resolve(0) : late.addEventListener("abort", resolve)));
  expect(faultOf(late.reason).kind).toBe("timeout");
});

test("every kind has its sentence", () => {
  const faults: { readonly [K in Fault["kind"]]: Extract<Fault, { kind: K }> } = {
    dns: { kind: "dns", code: "ENOTFOUND" },
    refused: { kind: "refused" },
    unreachable: { kind: "unreachable", code: "EHOSTUNREACH" },
    tls: { kind: "tls", code: "CERT_HAS_EXPIRED" },
    timeout: { kind: "timeout", afterMs: 5000 },
    http: { kind: "http", status: 503 },
    closed: { kind: "closed", code: 1006 },
    protocol: { kind: "protocol", what: "two heads" },
    "rate-limited": { kind: "rate-limited" },
    busy: { kind: "busy", what: "lane" },
    io: { kind: "io", code: "ENOSPC" },
    "git-exit": { kind: "git-exit", code: 128, signal: undefined },
    aborted: { kind: "aborted" },
    unknown: { kind: "unknown" },
  };
  const sentences = Object.values(faults).map(describeFault);
  for (const sentence of sentences) expect(sentence).toMatch(/^[A-Zg].*\.$/);
  expect(new Set(sentences).size).toBe(sentences.length);
  expect(describeFault(faults.timeout)).toBe("No answer came within 5000 ms.");
  expect(describeFault({ kind: "git-exit", code: undefined, signal: "SIGKILL" })).toBe("git was ended by SIGKILL.");
});
