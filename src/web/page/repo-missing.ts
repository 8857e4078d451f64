import { type Html, html } from "../html.ts";
import type { PublicUrls } from "../public-url.ts";
import { command } from "./fragment.ts";
import { layout, top } from "./layout.ts";

/** Repeats nothing of what was asked for, and looks alike whether a repository is unknown, private or gone (grasp.md 13.2). */
export function repoMissingPage({ basePath, urls }: { readonly basePath: string; readonly urls: PublicUrls }): Html {
  return layout(
    "No repository here",
    basePath,
    html`${top(basePath, urls.home)}
<h1>No repository here</h1>
<p class="lead">This server holds no repository at this address.</p>
<p>It may be spelt otherwise, live on another server, or not be announced here yet. If it is yours, announce it with
<a href="https://ngit.dev">ngit</a>, in its directory:</p>
${command(`ngit init --grasp-server ${urls.relay}`)}
<p><a href="${basePath}">What this server is and takes</a></p>`,
  );
}
