import type { ObjectFormat, Oid } from "../git/oid.ts";
import type { RefName } from "../git/ref-name.ts";
import type { EventId, PublicKey } from "../nostr/event.ts";
import { encodeNpub } from "../nostr/npub.ts";

/** A reason stands in one pkt-line beside a ref name, and people read it: a name that fills the line is cut. */
const NAME_LENGTH_MAX = 200;

const short = (ref: RefName): string => (ref.length > NAME_LENGTH_MAX ? `${ref.slice(0, NAME_LENGTH_MAX)}...` : ref);

/** What stands behind `ng <ref>`: one line each, for the person who pushed (grasp.md 7.11). */
export const PUSH_REASONS = {
  twice: "the push names this ref twice",
  outside: "only refs/heads/, refs/tags/ and refs/nostr/<event id> can be pushed",
  zeroToZero: "the old and the new value are both zero",
  format: (format: ObjectFormat): string => `the objects of this repository are ${format}`,
  notThere: (now: Oid | undefined): string => (now === undefined ? "there is no such ref here" : `the ref is at ${now} here`),
  standsInTheWay: (other: RefName): string => `it cannot stand beside ${short(other)}: one is a directory of the other`,
  nobody: "nobody may change this repository: its announcements name no lead that all agree on",
  noState: "no state event of a maintainer of this repository is known here; publish it, then push",
  pullRequestDelete: "a ref of a pull request goes with its event, not by a push",
  noRoomForUnsigned: "there is no room for more objects without an event; publish the event first, or try again later",
} as const;

/** grasp.md 7.7: the allowed ones say which other one stopped them. */
export const stoppedBy = (ref: RefName): string => `not done, because ${short(ref)} was refused`;

/** grasp.md 7.11: which state, by whom. Made once for many refs: an npub costs its checksum. */
export const stateName = (id: EventId, author: PublicKey | undefined): string =>
  author === undefined ? `state ${id}` : `state ${id} by ${encodeNpub(author)}`;

/** … expects which value. */
export const expects = (state: string, value: Oid | undefined): string => `${state} expects ${value ?? "no such ref"}`;

export const allowsNoPush = (state: string, why: string): string => `${state} allows no push: ${why}`;

export const isNewerAndExpects = (state: string, value: Oid | undefined): string =>
  `${state} is newer and expects ${value ?? "no such ref"}, which an earlier push has done`;

export const pullRequestExpects = (event: EventId, author: PublicKey, tip: Oid | undefined): string =>
  `pull request ${event} by ${encodeNpub(author)} expects ${tip ?? "something that is no object id"}`;

export const pullRequestElsewhere = (event: EventId, author: PublicKey): string =>
  `pull request ${event} by ${encodeNpub(author)} is not for this repository`;

export const tooManyTips = (max: number): string => `${max} other commits wait for this event already`;
