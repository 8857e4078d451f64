import { toUtf8 } from "../base/bytes.ts";
import { resultType } from "../git/service.ts";
import { type GitAnswer, gitHeaders } from "./git-answer.ts";

export const PUSH_HEADERS = gitHeaders(resultType("receive-pack"));

/** grasp.md 7.11: a decision, whichever it is, is HTTP 200. */
export const pushed = (body: Uint8Array): GitAnswer => ({ status: 200, headers: PUSH_HEADERS, body });

const refusal = (status: number, text: string, ...more: GitAnswer["headers"]): GitAnswer => ({
  status,
  headers: [...gitHeaders("text/plain; charset=utf-8"), ...more],
  body: toUtf8(`${text}\n`),
});

/** A push takes longer than a fetch, so one that waits is asked to wait longer. */
const RETRY = ["Retry-After", "15"] as const;

export const TOO_MANY_PUSHES = refusal(429, "Too many pushes from this address are under way.", RETRY);
export const PUSHES_BUSY = refusal(503, "Too many pushes are waiting; try again in a moment.", RETRY);
export const PUSH_TOO_LONG = refusal(413, "The push is longer than a pack may be here.");
