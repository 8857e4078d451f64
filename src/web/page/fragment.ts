import type { PublicKey } from "../../nostr/event.ts";
import { encodeNpub } from "../../nostr/npub.ts";
import { type Html, html } from "../html.ts";

/** What somebody else wrote, in a box of its own: letters that are written from the right, or that turn the order round, end with it. */
export const own = (text: string, className?: string): Html =>
  className === undefined ? html`<bdi>${text}</bdi>` : html`<bdi class="${className}">${text}</bdi>`;

/** A line for a shell; one click selects the whole of it. */
export const command = (line: string): Html => html`<pre><code>${line}</code></pre>`;

/** Both ends of a key tell it apart from others at a look; the whole of it is where the link leads. */
export function keyLink(key: PublicKey): Html {
  const npub = encodeNpub(key);
  return html`<a class="key" href="https://gitworkshop.dev/${npub}" title="${npub}">${npub.slice(0, 10)}…${npub.slice(-6)}</a>`;
}

/** A list of which the first are seen and the rest is opened, without a script. */
export function fold(rows: readonly Html[], shown: number, className: string): Html {
  const list = (part: readonly Html[]): Html => html`<ul class="${className}">
${part}
</ul>`;
  const rest = rows.slice(shown);
  if (rest.length === 0) return list(rows);
  return html`${list(rows.slice(0, shown))}
<details><summary>${rest.length} more</summary>
${list(rest)}
</details>`;
}
