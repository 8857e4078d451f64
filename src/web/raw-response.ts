import { corsLines } from "./cors.ts";

const PHRASES = {
  400: "Bad Request",
  405: "Method Not Allowed",
  408: "Request Timeout",
  429: "Too Many Requests",
  431: "Request Header Fields Too Large",
  503: "Service Unavailable",
} as const;

/** A whole response for a socket that node:http does not answer itself. The connection ends with it. */
export function rawResponse(status: keyof typeof PHRASES, text: string, headers: readonly string[] = []): string {
  const body = `${text}\n`;
  const lines = [
    `HTTP/1.1 ${status} ${PHRASES[status]}`,
    ...corsLines,
    "Content-Type: text/plain; charset=utf-8",
    `Content-Length: ${new TextEncoder().encode(body).length}`,
    "Connection: close",
    ...headers,
  ];
  return `${lines.join("\r\n")}\r\n\r\n${body}`;
}
