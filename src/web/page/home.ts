import type { InfoDocument } from "../../nostr/info-document.ts";
import { type Html, html } from "../html.ts";
import type { PublicUrls } from "../public-url.ts";
import { command } from "./fragment.ts";
import { layout } from "./layout.ts";

export interface HomeFacts {
  readonly urls: PublicUrls;
  readonly basePath: string;
  readonly info: InfoDocument;
  readonly git: boolean;
}

function contact(text: string): Html {
  return /^(https?:\/\/|mailto:)/i.test(text)
    ? html`<a href="${text}" rel="nofollow noreferrer">${text.replace(/^mailto:/i, "")}</a>`
    : html`${text}`;
}

/** What this is, where it is, and how to try it. */
export function homePage({ urls, basePath, info, git }: HomeFacts): Html {
  const base = basePath === "/" ? "" : basePath;
  const name = info.name ?? urls.relay;
  return layout(
    name,
    basePath,
    html`<header><img src="${base}/icon.svg" alt="" width="52" height="52"><h1>${name}</h1></header>
<p class="lead">${info.description}</p>
<p>Nobody logs in here: signed Nostr events say which repositories there are and what belongs to them (issues, patches, pull requests and the talk about them),
and any Nostr client can read them.</p>
<dl class="card">
<dt>Relay</dt><dd><code>${urls.relay}</code></dd>
${git && html`<dt>Repositories</dt><dd><code>${urls.home}&lt;npub&gt;/&lt;identifier&gt;.git</code></dd>`}
<dt>Accepted</dt><dd>${info.repo_acceptance_criteria}</dd>
${info.contact !== undefined && html`<dt>Contact</dt><dd>${contact(info.contact)}</dd>`}
<dt>Speaks</dt><dd class="badges">${[...info.supported_grasps, ...info.supported_nips.map(nipName)].map((what) => html`<span class="badge">${what}</span> `)}</dd>
</dl>
${git && hosting(urls)}
<h2>${git ? "Look around" : "Try it"}</h2>
<p>Ask for the newest repositories with any Nostr client, for example <a href="https://github.com/fiatjaf/nak">nak</a>:</p>
${command(`nak req -k 30617 -l 10 ${urls.relay}`)}
<p>Read what this relay says about itself:</p>
${command(`curl -H 'Accept: application/nostr+json' ${urls.home}`)}
<footer>Holdfast ${info.version}</footer>`,
  );
}

/** As NIPs are called: with two digits at least. */
const nipName = (nip: number): string => `NIP-${String(nip).padStart(2, "0")}`;

const hosting = (urls: PublicUrls): Html => html`<h2>Host a repository here</h2>
<ol class="steps">
<li><p>Install <a href="https://ngit.dev">ngit</a>, which teaches git about Nostr.</p></li>
<li><p>In your repository, announce it, sign its branches and push them, all at once:</p>
${command(`ngit init --grasp-server ${urls.relay}`)}</li>
<li><p>From then on <code>git push</code> signs what you push, and anybody can clone it with plain git:</p>
<pre><code>git clone ${urls.home}&lt;npub&gt;/&lt;identifier&gt;.git</code></pre></li>
</ol>
<details><summary>With another client, or by hand</summary>
<p>Publish an announcement (kind 30617) whose <code>clone</code> tag has the address above with your own npub, and whose <code>relays</code> tag has this relay.
It waits until its git data is here. Publish a state (kind 30618) that names each branch and its commit, then push exactly that with git:
the state is what allows the push.</p>
</details>`;
