import type { InfoDocument } from "../../nostr/info-document.ts";
import { type Html, html } from "../html.ts";
import type { PublicUrls } from "../public-url.ts";
import { layout } from "./layout.ts";

export interface HomeFacts {
  readonly urls: PublicUrls;
  readonly basePath: string;
  readonly info: InfoDocument;
  readonly git: boolean;
}

function contact(text: string): Html {
  return /^(https?:\/\/|mailto:)/i.test(text) ? html`<a href="${text}" rel="nofollow noreferrer">${text}</a>` : html`${text}`;
}

/** What this is, where it is, and how to try it. */
export function homePage({ urls, basePath, info, git }: HomeFacts): Html {
  const base = basePath === "/" ? "" : basePath;
  const name = info.name ?? urls.relay;
  return layout(
    name,
    basePath,
    html`<header><img src="${base}/icon.svg" alt="" width="52" height="52"><h1>${name}</h1></header>
<p>${info.description}</p>
<p>Nobody logs in here: signed Nostr events say which repositories there are and what belongs to them (issues, patches, pull requests and the talk about them),
and any Nostr client can read them.</p>
<h2>Address</h2>
<dl>
<dt>Relay</dt><dd><code>${urls.relay}</code></dd>
${git && html`<dt>Repositories</dt><dd><code>${urls.home}&lt;npub&gt;/&lt;identifier&gt;.git</code></dd>`}
${info.contact !== undefined && html`<dt>Contact</dt><dd>${contact(info.contact)}</dd>`}
<dt>Accepted</dt><dd>${info.repo_acceptance_criteria}</dd>
</dl>
<h2>Try it</h2>
<p>Ask for the newest repositories with any Nostr client, for example <a href="https://github.com/fiatjaf/nak">nak</a>:</p>
<pre><code>nak req -k 30617 -l 10 ${urls.relay}</code></pre>
<p>Read what this relay says about itself:</p>
<pre><code>curl -H 'Accept: application/nostr+json' ${urls.home}</code></pre>
${
  git &&
  html`<p>Publish a repository with <a href="https://ngit.dev">ngit</a>, then clone it with plain git:</p>
<pre><code>git clone ${urls.home}&lt;npub&gt;/&lt;identifier&gt;.git</code></pre>`
}
<footer>Holdfast ${info.version}</footer>`,
  );
}
