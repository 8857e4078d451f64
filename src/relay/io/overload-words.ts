import { reason } from "../../nostr/reason.ts";

/** What is said when there is too much of something (grasp.md 3.4): never a word that makes a peer leave for good. */
export const BUSY = reason("rate-limited", "the server has too many events under way, try again in a moment");
export const WAITING = reason("rate-limited", "too many of your requests wait already, slow down");
export const TOO_MANY = reason("rate-limited", "too many requests from your address in a minute, slow down");
