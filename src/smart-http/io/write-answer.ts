import type { IncomingMessage, ServerResponse } from "node:http";
import type { GitAnswer } from "../git-answer.ts";

/** What is read of a body that nobody wants: git sends up to so much in one piece before it listens (`http.postBuffer`), and a reset connection would lose the answer. */
const UNWANTED_BYTES_MAX = 1024 * 1024;

/** Answers, whether the body has come or not. */
export function writeAnswer(request: IncomingMessage, response: ServerResponse, { status, headers, body }: GitAnswer): void {
  response.statusCode = status;
  for (const [name, value] of headers) response.setHeader(name, value);
  response.setHeader("Content-Length", body.length);
  // A client that was never told to go on may send its body or not: what it sends next could be either.
  if (request.headers.expect !== undefined && !request.complete) response.setHeader("Connection", "close");
  response.end(request.method === "HEAD" ? undefined : body);
  discard(request);
}

const discarding = new WeakSet<IncomingMessage>();

/** Reads what is left of a body, so that the connection can carry the next request; where that is long, the connection ends. */
export function discard(request: IncomingMessage): void {
  if (request.readableEnded || request.destroyed || discarding.has(request)) return;
  discarding.add(request);
  let left = UNWANTED_BYTES_MAX;
  request.on("error", () => undefined);
  request.on("data", (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) request.destroy();
  });
  request.resume();
}
