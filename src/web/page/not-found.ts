import { type Html, html } from "../html.ts";
import { layout } from "./layout.ts";

/** Says nothing of what was asked for: what a stranger wrote is not repeated. */
export function notFoundPage({ basePath }: { readonly basePath: string }): Html {
  return layout(
    "Not found",
    basePath,
    html`<h1>Not found</h1>
<p class="lead">There is nothing at this address. <a href="${basePath}">Go to the start</a>.</p>`,
  );
}
