export type Header = readonly [name: string, value: string];

/** grasp.md 2.2: on every response, errors and the 101 included, so that pages of any origin can use this server. */
export const CORS_HEADERS: readonly Header[] = [
  ["Access-Control-Allow-Origin", "*"],
  ["Access-Control-Allow-Methods", "GET, POST, OPTIONS"],
  ["Access-Control-Allow-Headers", "Authorization, Content-Type, Git-Protocol, Accept, Content-Encoding, X-Requested-With"],
  ["Access-Control-Expose-Headers", "WWW-Authenticate, Retry-After"],
];

/** grasp.md 2.2: a browser may remember the answer to a preflight for a day. */
export const PREFLIGHT_HEADERS: readonly Header[] = [["Access-Control-Max-Age", "86400"]];

/** The same as lines, for responses that are not written by node:http (the 101 of a WebSocket server's `headers` event, refusals on raw sockets). */
export const corsLines: readonly string[] = CORS_HEADERS.map(([name, value]) => `${name}: ${value}`);
