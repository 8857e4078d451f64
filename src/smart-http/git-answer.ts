import { toUtf8 } from "../base/bytes.ts";
import { advertisementType, resultType, type Service } from "../git/service.ts";

/** A whole answer as a value; CORS is set by the server before. */
export interface GitAnswer {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Uint8Array;
}

/** A browser must not guess another type than the one we say. */
const NO_SNIFF = ["X-Content-Type-Options", "nosniff"] as const;

/** grasp.md 7.2: refs are asked for again right after a push. */
export const gitHeaders = (type: string): GitAnswer["headers"] => [["Content-Type", type], ["Cache-Control", "no-cache"], NO_SNIFF];

export const advertised = (service: Service, body: Uint8Array): GitAnswer => ({
  status: 200,
  headers: gitHeaders(advertisementType(service)),
  body,
});

export const fetched = (body: Uint8Array): GitAnswer => ({ status: 200, headers: gitHeaders(resultType("upload-pack")), body });

const refusal = (status: number, text: string, ...more: GitAnswer["headers"]): GitAnswer => ({
  status,
  // git shows a body of this type to its user, line by line behind `remote:`.
  headers: [...gitHeaders("text/plain; charset=utf-8"), ...more],
  body: toUtf8(`${text}\n`),
});

/** Long enough for a running fetch to end, short enough that a script which waits is not given up. */
const RETRY = ["Retry-After", "10"] as const;

/** grasp.md 7.11: plain statuses for transport matters. */
export const NOT_FOUND = refusal(404, "There is no such repository here.");
export const SMART_ONLY = refusal(
  403,
  "Only git's smart protocol is spoken here: ask for info/refs?service=git-upload-pack, as git since 1.6.6 does.",
);
export const notAllowed = (allow: string): GitAnswer => refusal(405, "This address knows no such method.", ["Allow", allow]);
/** The connection ends with it: the rest would drip on. */
export const TOO_SLOW = refusal(408, "The request did not arrive in time.", ["Connection", "close"]);
export const TOO_LONG = refusal(413, "The request is longer than any fetch needs.");
export const UNKNOWN_ENCODING = refusal(415, "The body may be gzip'd or plain, nothing else.", ["Accept-Encoding", "gzip"]);
export const BROKEN_BODY = refusal(400, "The body is not the gzip that it is said to be.");
export const TOO_MANY = refusal(429, "Too many fetches from this address are under way.", RETRY);
export const BUSY = refusal(503, "Too many fetches are waiting; try again in a moment.", RETRY);
export const FAILED = refusal(500, "Something went wrong here.");
