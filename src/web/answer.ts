import type { Header } from "./cors.ts";
import type { Html } from "./html.ts";

/** A response as a value; CORS, length and HEAD are the server's business. */
export interface Answer {
  readonly status: number;
  readonly headers: readonly Header[];
  readonly body: string;
}

/** No script, nothing from elsewhere, no framing: what somebody else wrote can at most look odd. */
const PAGE_HEADERS: readonly Header[] = [
  ["Content-Type", "text/html; charset=utf-8"],
  [
    "Content-Security-Policy",
    "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  ],
  ["Referrer-Policy", "no-referrer"],
];

/** A browser must not guess another type than the one we say. */
const NO_SNIFF: Header = ["X-Content-Type-Options", "nosniff"];

export const page = (status: number, content: Html, headers: readonly Header[] = []): Answer => ({
  status,
  headers: [...PAGE_HEADERS, NO_SNIFF, ...headers],
  body: content.text,
});

export const plain = (status: number, text: string, headers: readonly Header[] = []): Answer => ({
  status,
  headers: [["Content-Type", "text/plain; charset=utf-8"], NO_SNIFF, ...headers],
  body: `${text}\n`,
});

export const typed = (type: string, body: string, headers: readonly Header[] = []): Answer => ({
  status: 200,
  headers: [["Content-Type", type], NO_SNIFF, ...headers],
  body,
});
