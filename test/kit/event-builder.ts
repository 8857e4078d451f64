import { createHash } from "node:crypto";
import { type Actor, signHash } from "./keys.ts";

/** An event as it goes over the wire. Written apart from the server's own type: the suite must not inherit its mistakes. */
export interface WireEvent {
  readonly id: string;
  readonly pubkey: string;
  readonly created_at: number;
  readonly kind: number;
  readonly tags: readonly (readonly string[])[];
  readonly content: string;
  readonly sig: string;
}

export interface Template {
  readonly kind?: number;
  readonly tags?: readonly (readonly string[])[];
  readonly content?: string;
  readonly created_at?: number;
}

export const now = (): number => Math.floor(Date.now() / 1000);

/** NIP-01: seven characters have their own escape, all others stand as they are. */
const ESCAPES: Readonly<Record<string, string>> = {
  "\n": "\\n",
  '"': '\\"',
  "\\": "\\\\",
  "\r": "\\r",
  "\t": "\\t",
  "\b": "\\b",
  "\f": "\\f",
};

function quoted(text: string): string {
  let out = '"';
  for (const char of text) out += ESCAPES[char] ?? char;
  return `${out}"`;
}

/** The text whose hash is the id, made by NIP-01's own rules and not by a JSON library. */
export function serialised(event: Omit<WireEvent, "id" | "sig">): string {
  const tags = event.tags.map((tag) => `[${tag.map(quoted).join(",")}]`).join(",");
  return `[0,${quoted(event.pubkey)},${event.created_at},${event.kind},[${tags}],${quoted(event.content)}]`;
}

const sha256 = (text: string): Uint8Array => new Uint8Array(createHash("sha256").update(text, "utf8").digest());

export const idOf = (event: Omit<WireEvent, "id" | "sig">): string => Buffer.from(sha256(serialised(event))).toString("hex");

export function sign(who: Actor, template: Template = {}): WireEvent {
  const body = {
    pubkey: who.pubkey,
    created_at: template.created_at ?? now(),
    kind: template.kind ?? 1,
    tags: template.tags ?? [],
    content: template.content ?? "",
  };
  const hash = sha256(serialised(body));
  return { id: Buffer.from(hash).toString("hex"), ...body, sig: signHash(who, hash) };
}

/** A correct signature by `who` over an id that is not the hash of the event: what a forger can make. */
export function signWithId(who: Actor, template: Template, id: string): WireEvent {
  return { ...sign(who, template), id, sig: signHash(who, new Uint8Array(Buffer.from(id, "hex"))) };
}

export const note = (who: Actor, content: string, more: Template = {}): WireEvent => sign(who, { kind: 1, content, ...more });

/** NIP-09. Targets that hold a colon are addresses, the others are event ids. */
export function deletion(who: Actor, targets: readonly string[], more: Template = {}): WireEvent {
  const tags = targets.map((target) => [target.includes(":") ? "a" : "e", target]);
  return sign(who, { kind: 5, ...more, tags: [...tags, ...(more.tags ?? [])] });
}

/** NIP-62. */
export const vanish = (who: Actor, relays: readonly string[], more: Template = {}): WireEvent =>
  sign(who, { kind: 62, ...more, tags: [...relays.map((url) => ["relay", url]), ...(more.tags ?? [])] });

/** NIP-42. */
export const auth = (who: Actor, relay: string, challenge: string, more: Template = {}): WireEvent =>
  sign(who, {
    kind: 22_242,
    ...more,
    tags: more.tags ?? [
      ["relay", relay],
      ["challenge", challenge],
    ],
  });

/** NIP-70. */
export const protectedNote = (who: Actor, content: string, more: Template = {}): WireEvent =>
  note(who, content, { ...more, tags: [["-"], ...(more.tags ?? [])] });

/** NIP-34 announcement (kind 30617). */
export function repositoryAnnouncement(
  who: Actor,
  identifier: string,
  urls: { readonly clone?: readonly string[]; readonly relays?: readonly string[] } = {},
  more: Template = {},
): WireEvent {
  const tags = [
    ["d", identifier],
    ["name", identifier],
    ["clone", ...(urls.clone ?? [`https://git.example/${identifier}.git`])],
    ["relays", ...(urls.relays ?? ["wss://relay.example"])],
  ];
  return sign(who, { kind: 30_617, ...more, tags: [...tags, ...(more.tags ?? [])] });
}

/** NIP-13: the number of leading zero bits. */
export function difficulty(id: string): number {
  let bits = 0;
  for (const digit of id) {
    const value = Number.parseInt(digit, 16);
    if (value === 0) {
      bits += 4;
      continue;
    }
    return bits + Math.clz32(value) - 28;
  }
  return bits;
}

/** Searches nonces until the id has a difficulty that `wanted` likes; `commits` is the target that the nonce tag names. */
export function mine(who: Actor, template: Template, wanted: (bits: number) => boolean, commits: number | undefined): WireEvent {
  const body = {
    pubkey: who.pubkey,
    created_at: template.created_at ?? now(),
    kind: template.kind ?? 1,
    content: template.content ?? "",
  };
  for (let nonce = 0; ; nonce++) {
    const tags = [...(template.tags ?? []), commits === undefined ? ["nonce", `${nonce}`] : ["nonce", `${nonce}`, `${commits}`]];
    if (wanted(difficulty(idOf({ ...body, tags })))) return sign(who, { ...body, tags });
  }
}

/** The two events of one second in the order of their ids: the lower one first. */
export function tied(who: Actor, template: Template): readonly [lower: WireEvent, higher: WireEvent] {
  const created_at = template.created_at ?? now();
  const one = sign(who, { ...template, created_at, content: "one" });
  const two = sign(who, { ...template, created_at, content: "two" });
  return one.id < two.id ? [one, two] : [two, one];
}
