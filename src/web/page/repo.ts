import type { UnixSeconds } from "../../base/time.ts";
import type { RefMap } from "../../git/ref-map.ts";
import { isBranch, isTag, nostrRefId } from "../../git/ref-name.ts";
import type { RepoId } from "../../grasp/repo-id.ts";
import type { PublicKey } from "../../nostr/event.ts";
import { encodeNpub } from "../../nostr/npub.ts";
import { type Html, html } from "../html.ts";
import type { PublicUrls } from "../public-url.ts";
import { type RepoLinks, repoLinks } from "../repo-links.ts";
import { command, fold, keyLink, own } from "./fragment.ts";
import { layout, top } from "./layout.ts";

/** What the page of a repository tells. Texts are as their authors wrote them. */
export interface RepoPageModel {
  readonly repo: RepoId;
  readonly urls: PublicUrls;
  readonly basePath: string;
  readonly name: string | undefined;
  readonly description: string | undefined;
  readonly web: readonly string[];
  /** The confirmed set; those who are only invited are listed apart (grasp.md 4.5). */
  readonly maintainers: readonly PublicKey[];
  readonly invited: readonly PublicKey[];
  readonly content: RepoContent;
}

export type RepoContent =
  | { readonly kind: "served"; readonly refs: RefMap; readonly signed: { readonly by: PublicKey; readonly at: UnixSeconds } | undefined }
  /** Announced; its objects have not come (grasp.md 5.4). */
  | { readonly kind: "waiting" };

/** Announcements are up to 192 KiB: nobody reads so much here, and a page that is asked for often must be small. */
const NAME_MAX = 200;
const DESCRIPTION_MAX = 2_000;
const LINKS_MAX = 10;
const KEYS_MAX = 50;
const KEYS_SHOWN = 12;
const BRANCHES_SHOWN = 12;
const TAGS_SHOWN = 5;
const REFS_MAX = 500;

export function repoPage(model: RepoPageModel): Html {
  const { repo, basePath, content } = model;
  const links = repoLinks(repo, model.urls);
  const name = clipped(model.name?.trim() || repo.identifier, NAME_MAX);
  return layout(
    name,
    basePath,
    html`${top(basePath, model.urls.home)}
<header class="repo">
<h1>${own(name)}</h1>
<p class="by">${name.toLowerCase() !== repo.identifier.toLowerCase() && html`${own(repo.identifier)} · `}by ${keyLink(repo.owner)}
${content.kind === "served" ? html`<span class="badge good">served here</span>` : html`<span class="badge wait">waiting for git data</span>`}</p>
</header>
${model.description?.trim() && html`<p class="lead">${own(clipped(model.description.trim(), DESCRIPTION_MAX))}</p>`}
${content.kind === "waiting" && waiting(links)}
${content.kind === "served" && cloning(links)}
${content.kind === "served" && refs(content)}
${people(model)}
${elsewhere(model, links)}`,
  );
}

const clipped = (text: string, max: number): string => (text.length <= max ? text : `${text.slice(0, max).toWellFormed()}…`);

const cloning = (links: RepoLinks): Html => html`<section>
<h2>Clone</h2>
${command(`git clone ${links.clone}`)}
<p>With <a href="https://ngit.dev">ngit</a> installed, git finds every server that has this repository, and can send pull requests:</p>
${command(`git clone ${links.nostr}`)}
</section>`;

const waiting = (links: RepoLinks): Html => html`<section class="notice">
<h2>Announced, and waiting for its git data</h2>
<p>This server knows the repository and has none of its objects yet. It is served as soon as a maintainer has signed a state and pushed
what it names.</p>
<p>If it is yours, push to it:</p>
${command(`git push ${links.clone} --all`)}
<p>A push is taken when a signed state already says that the branch shall be at that commit; <a href="https://ngit.dev">ngit</a> signs one with every push.</p>
</section>`;

function refs({ refs: { refs, head }, signed }: Extract<RepoContent, { kind: "served" }>): Html {
  const names = [...refs.keys()].sort(inOrder);
  const branches = names.filter(isBranch).sort((a, b) => Number(b === head) - Number(a === head));
  const tags = names.filter(isTag).reverse();
  const pulls = names.filter((name) => nostrRefId(name) !== undefined).length;
  const row = (name: (typeof names)[number], prefix: string): Html =>
    html`<li>${own(name.slice(prefix.length), "name")}${name === head && html` <span class="badge">default</span>`}<code class="oid">${refs.get(name)?.slice(0, 10)}</code></li>`;
  const list = (title: string, all: readonly (typeof names)[number][], prefix: string, shown: number): Html =>
    html`<h2>${title} <span class="count">${all.length}</span></h2>
${fold(
  all.slice(0, REFS_MAX).map((name) => row(name, prefix)),
  shown,
  "refs",
)}
${all.length > REFS_MAX && html`<p class="soft">Only ${REFS_MAX} of them are shown.</p>`}`;
  return html`<section>
${branches.length > 0 ? list("Branches", branches, "refs/heads/", BRANCHES_SHOWN) : html`<h2>Branches</h2><p class="soft">There is no branch yet.</p>`}
${tags.length > 0 && list("Tags", tags, "refs/tags/", TAGS_SHOWN)}
${pulls > 0 && html`<p class="soft">${pulls === 1 ? "One pull request has" : `${pulls} pull requests have`} a commit here.</p>`}
${signed !== undefined && html`<p class="soft">As signed by ${keyLink(signed.by)} on ${day(signed.at)}.</p>`}
</section>`;
}

/** By name, with numbers as numbers: 1.10 comes after 1.9. */
const collator = new Intl.Collator("en", { numeric: true });
const inOrder = (a: string, b: string): number => collator.compare(a, b) || (a < b ? -1 : 1);

/** The latest day that a calendar here can say; an event may claim any second up to 2⁵³. */
const SECONDS_MAX = 8_640_000_000_000;
function day(at: UnixSeconds): Html {
  if (at > SECONDS_MAX) return html`a day far ahead`;
  const text = new Date(at * 1000).toISOString();
  return html`<time datetime="${text}">${text.slice(0, 10)} ${text.slice(11, 16)} UTC</time>`;
}

function people({ repo, maintainers, invited }: RepoPageModel): Html {
  const others = maintainers.filter((key) => key !== repo.owner);
  const rows = [
    ...(maintainers.includes(repo.owner) ? [html`<li>${keyLink(repo.owner)} <span class="badge">owner</span></li>`] : []),
    ...others.map((key) => html`<li>${keyLink(key)}</li>`),
    ...invited.map((key) => html`<li>${keyLink(key)} <span class="badge wait">invited</span></li>`),
  ];
  return html`<section>
<h2>Maintainers</h2>
${rows.length === 0 ? html`<p class="soft">Nobody may change this repository at present.</p>` : fold(rows.slice(0, KEYS_MAX), KEYS_SHOWN, "keys")}
</section>`;
}

/** Only addresses that a browser opens as a page: a stranger wrote them. */
const isPage = (link: string): boolean => /^https?:$/.test(URL.parse(link)?.protocol ?? "");

function elsewhere({ repo, web }: RepoPageModel, links: RepoLinks): Html {
  return html`<section>
<h2>Elsewhere</h2>
<ul class="links">
<li><a href="${links.gitworkshop}">gitworkshop.dev</a> <span class="soft">code, issues and pull requests in the browser</span></li>
${links.app !== undefined && html`<li><a href="${links.app}">Nostr app</a> <span class="soft">whatever opens Nostr addresses on this device</span></li>`}
${web
  .filter(isPage)
  .slice(0, LINKS_MAX)
  .map((link) => html`<li><a href="${link}" rel="nofollow noreferrer ugc">${own(clipped(link, NAME_MAX))}</a></li>`)}
</ul>
<p class="soft">Owner <code class="key">${encodeNpub(repo.owner)}</code></p>
</section>`;
}
