/** The machine-readable first word of OK, CLOSED and NEG-ERR: NIP-01, with `auth-required` of NIP-42 and `closed` of NIP-77. */
export type Prefix =
  | "duplicate"
  | "pow"
  | "blocked"
  | "rate-limited"
  | "invalid"
  | "restricted"
  | "mute"
  | "error"
  | "auth-required"
  | "unsupported"
  | "closed";

export interface Reason {
  readonly prefix: Prefix;
  readonly text: string;
}

const PREFIXES: ReadonlySet<string> = new Set<Prefix>([
  "duplicate",
  "pow",
  "blocked",
  "rate-limited",
  "invalid",
  "restricted",
  "mute",
  "error",
  "auth-required",
  "unsupported",
  "closed",
]);

const isPrefix = (word: string): word is Prefix => PREFIXES.has(word);

export const reason = (prefix: Prefix, text: string): Reason => ({ prefix, text });

export const formatReason = (r: Reason): string => `${r.prefix}: ${r.text}`;

/** What another relay said, or `undefined` when it does not begin with a word we know. */
export function parseReason(text: string): Reason | undefined {
  const colon = text.indexOf(":");
  if (colon < 0) return undefined;
  const prefix = text.slice(0, colon);
  if (!isPrefix(prefix)) return undefined;
  return { prefix, text: text[colon + 1] === " " ? text.slice(colon + 2) : text.slice(colon + 1) };
}

/** grasp.md 3.7: the text of `OK true` for what is held. `purgatory` is no prefix of NIP-01, and clients look for these very words. */
export const PURGATORY_TEXT = "purgatory: won't be served until git data arrives";

/** grasp.md 3.7: words that clients and other servers match on. Change one and somebody stops understanding us. */
export const REASONS = {
  alreadyHave: reason("duplicate", "already have this event"),
  superseded: reason("duplicate", "superseded by a newer event"),
  inPurgatory: reason("duplicate", "in purgatory"),
  rememberedRequest: reason("duplicate", "this request is remembered and still refuses what it names, but is no longer served"),
  noAnnouncement: reason("invalid", "no announcement exists for this repository"),
  expiredFromPurgatory: reason("invalid", "previously expired from purgatory without git data"),
  deleted: reason("invalid", "this event is deleted"),
  vanished: reason("invalid", "this pubkey has requested to vanish"),
  tooManyDeletionTargets: reason("invalid", "too many deletion targets"),
  deletesOthers: reason("invalid", "cannot delete event authored by another pubkey"),
  privateAnnouncement: reason("invalid", "Announcement author is not authorized on this private service"),

  notAuthorized: reason("restricted", "author not authorized for this repository"),
  orphan: reason("restricted", "Event must reference an accepted repository or accepted event"),
  strangersProfile: reason("restricted", "Kind 0/10002 author must participate in an accepted repository thread"),
  strangersGraspList: reason("restricted", "Kind 10317 author must participate in an accepted repository thread"),
  notMember: reason("restricted", "authenticated pubkey is not whitelisted"),

  authToPublish: reason("auth-required", "authenticate before publishing"),
  authToRead: reason("auth-required", "authenticate before reading"),
  authToSync: reason("auth-required", "authenticate before syncing"),
  protectedEvent: reason("auth-required", "this event may only be published by its author"),

  unknownFilterElements: reason("unsupported", "filter contains unknown elements"),
} as const satisfies Record<string, Reason>;

/** Takes the npub, not the hex: people read this one. */
export const blockedAuthor = (npub: string): Reason => reason("blocked", `Event author ${npub} is blacklisted`);

export const prWithoutTip = (id: string): Reason => reason("invalid", `PR event ${id} has no 'c' tag`);
