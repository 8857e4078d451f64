import type { IncomingMessage, ServerResponse } from "node:http";
import { notAllowed } from "../git-answer.ts";
import type { ClientAddress, GitPath } from "../ports.ts";
import { writeAnswer } from "./write-answer.ts";

/**
 * What the HTTP server calls for a git path. CORS headers are on the response already (grasp.md 2.2). A request with `Expect: 100-continue` must come from the
 * server's `checkContinue`: the client is told to go on only when its body is wanted. Resolves when the answer is over; never rejects.
 */
export type GitHandler = (request: IncomingMessage, response: ServerResponse, path: GitPath, address: ClientAddress) => Promise<void>;

export interface GitHandlers {
  readonly refs: GitHandler;
  readonly fetch: GitHandler;
  readonly push: GitHandler;
}

/** grasp.md 7.1: refs are read, the two services are posted to. */
export function gitHandler(handlers: GitHandlers): GitHandler {
  return async (request, response, path, address) => {
    // A client that is gone is noticed by `close`; an error that nobody hears would end the server.
    response.on("error", () => undefined);
    if (path.part === "refs") {
      if (request.method === "GET" || request.method === "HEAD") await handlers.refs(request, response, path, address);
      else writeAnswer(request, response, notAllowed("GET, HEAD, OPTIONS"));
    } else if (request.method !== "POST") writeAnswer(request, response, notAllowed("POST, OPTIONS"));
    else await handlers[path.service === "upload-pack" ? "fetch" : "push"](request, response, path, address);
  };
}
