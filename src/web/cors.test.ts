import { expect, test } from "vitest";
import { corsLines, PREFLIGHT_HEADERS } from "./cors.ts";

test("grasp.md 2.2: the headers, letter by letter", () => {
  expect(corsLines).toEqual([
    "Access-Control-Allow-Origin: *",
    "Access-Control-Allow-Methods: GET, POST, OPTIONS",
    "Access-Control-Allow-Headers: Authorization, Content-Type, Git-Protocol, Accept, Content-Encoding, X-Requested-With",
    "Access-Control-Expose-Headers: WWW-Authenticate, Retry-After",
  ]);
  expect(PREFLIGHT_HEADERS).toEqual([["Access-Control-Max-Age", "86400"]]);
});
