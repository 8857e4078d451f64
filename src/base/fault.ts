import { unreachable } from "./machine.ts";

type FaultKind =
  | { readonly kind: "dns"; readonly code: string }
  | { readonly kind: "refused" }
  | { readonly kind: "unreachable"; readonly code: string }
  | { readonly kind: "tls"; readonly code: string }
  | { readonly kind: "timeout"; readonly afterMs?: number }
  | { readonly kind: "http"; readonly status: number }
  /** A number is a close code the other side sent; text is the system's code for a connection that just ended. */
  | { readonly kind: "closed"; readonly code: number | string }
  | { readonly kind: "protocol"; readonly what: string }
  | { readonly kind: "rate-limited"; readonly retryAfterMs?: number }
  /** One of our own queues is full. */
  | { readonly kind: "busy"; readonly what: string }
  | { readonly kind: "io"; readonly code: string }
  | { readonly kind: "git-exit"; readonly code: number | undefined; readonly signal: string | undefined }
  | { readonly kind: "aborted" }
  | { readonly kind: "unknown" };

/** The world failed: made once where the failure enters, decided on by `kind`, never by text. */
export type Fault = FaultKind & { readonly cause?: unknown };

/** Carries a fault through code that can only throw. */
export class FaultError extends Error {
  override readonly name = "FaultError";
  readonly fault: Fault;
  constructor(fault: Fault) {
    super(describeFault(fault), { cause: fault.cause });
    this.fault = fault;
  }
}

/** Wrapped errors are followed this far: real chains have two or three links, and a circular one must end. */
const depthMax = 6;

/** Reads Node's error codes; an error without one that we know becomes `unknown`, with the error as its cause. */
export function faultOf(error: unknown): Fault {
  if (error instanceof FaultError) return error.fault;
  return { ...(kindOf(error, depthMax) ?? { kind: "unknown" }), cause: error };
}

function kindOf(error: unknown, depth: number): FaultKind | undefined {
  if (typeof error !== "object" || error === null || depth === 0) return undefined;
  if (error instanceof FaultError) return error.fault;
  const { code, name, syscall, cause, errors } = error as Readonly<Record<string, unknown>>;
  if (name === "AbortError") return { kind: "aborted" };
  if (name === "TimeoutError") return { kind: "timeout" };
  const own = typeof code === "string" ? kindOfCode(code, typeof syscall === "string" ? syscall : "") : undefined;
  // A general code may wrap a telling one, so the inner error is asked before we settle for "io" or "closed".
  if (own && own.kind !== "io" && own.kind !== "closed") return own;
  const inner = kindOf(cause, depth - 1) ?? (Array.isArray(errors) ? kindOf(errors[0], depth - 1) : undefined);
  return inner ?? own;
}

const dnsCodes = new Set([
  "ENOTFOUND",
  "ENODATA",
  "ESERVFAIL",
  "EFORMERR",
  "ENOTIMP",
  "EREFUSED",
  "EBADNAME",
  "EBADRESP",
  "ETIMEOUT",
  "ENONAME",
]);
const unreachableCodes = new Set(["EHOSTUNREACH", "ENETUNREACH", "EHOSTDOWN", "ENETDOWN", "EADDRNOTAVAIL"]);
const timeoutCodes = new Set([
  "ETIMEDOUT",
  "ERR_TLS_HANDSHAKE_TIMEOUT",
  "ERR_HTTP_REQUEST_TIMEOUT",
  "ERR_SOCKET_CONNECTION_TIMEOUT",
  "UND_ERR_CONNECT_TIMEOUT",
  "UND_ERR_HEADERS_TIMEOUT",
  "UND_ERR_BODY_TIMEOUT",
]);
const closedCodes = new Set([
  "ECONNRESET",
  "ECONNABORTED",
  "EPIPE",
  "ENOTCONN",
  "ERR_STREAM_PREMATURE_CLOSE",
  "ERR_STREAM_DESTROYED",
  "ERR_STREAM_WRITE_AFTER_END",
  "ERR_SOCKET_CLOSED",
  "UND_ERR_SOCKET",
]);
const tlsCode =
  /^(ERR_TLS_|ERR_SSL_|CERT_|CRL_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|EPROTO$|HOSTNAME_MISMATCH$|INVALID_CA$|INVALID_PURPOSE$)/;
const protocolCode = /^(HPE_|WS_ERR_|ERR_HTTP_|ERR_HTTP2_|ERR_ENCODING_|ERR_INVALID_URL$|Z_)/;
const ioCode = /^(E[A-Z0-9]+|SQLITE_[A-Z_]+)$/;

function kindOfCode(code: string, syscall: string): FaultKind | undefined {
  if (code === "ABORT_ERR" || code === "ECANCELED") return { kind: "aborted" };
  // A name server that refuses or times out uses the codes of connections; the call tells them apart.
  if (dnsCodes.has(code) || code.startsWith("EAI_") || syscall.startsWith("query") || syscall === "getaddrinfo")
    return { kind: "dns", code };
  if (code === "ECONNREFUSED") return { kind: "refused" };
  if (unreachableCodes.has(code)) return { kind: "unreachable", code };
  if (timeoutCodes.has(code)) return { kind: "timeout" };
  if (closedCodes.has(code)) return { kind: "closed", code };
  if (tlsCode.test(code)) return { kind: "tls", code };
  if (protocolCode.test(code)) return { kind: "protocol", what: code };
  if (ioCode.test(code)) return { kind: "io", code };
  return undefined;
}

/** One sentence for people: logs and pages. Nothing may be decided by it. */
export function describeFault(fault: Fault): string {
  switch (fault.kind) {
    case "dns":
      return `The host name could not be resolved (${fault.code}).`;
    case "refused":
      return "The connection was refused.";
    case "unreachable":
      return `The host could not be reached (${fault.code}).`;
    case "tls":
      return `The secure connection could not be made (${fault.code}).`;
    case "timeout":
      return fault.afterMs === undefined ? "No answer came in time." : `No answer came within ${fault.afterMs} ms.`;
    case "http":
      return `The server answered with HTTP status ${fault.status}.`;
    case "closed":
      return `The connection was closed (${fault.code}).`;
    case "protocol":
      return `The other side broke the protocol (${fault.what}).`;
    case "rate-limited":
      return fault.retryAfterMs === undefined
        ? "The other side asks us to slow down."
        : `The other side asks us to wait ${fault.retryAfterMs} ms.`;
    case "busy":
      return `Too much is waiting already (${fault.what}).`;
    case "io":
      return `The system reported ${fault.code}.`;
    case "git-exit":
      return fault.signal === undefined ? `git ended with code ${fault.code ?? "unknown"}.` : `git was ended by ${fault.signal}.`;
    case "aborted":
      return "The work was called off.";
    case "unknown":
      return "Something failed in a way we have no name for.";
    default:
      return unreachable(fault);
  }
}
