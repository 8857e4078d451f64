import { unreachable } from "../base/machine.ts";
import type { EventId } from "../nostr/event.ts";
import { wins } from "../nostr/replaceable.ts";
import type { Entry, Refusal } from "./ledger-state.ts";
import type { Lifetimes } from "./lifetimes.ts";
import type { Waiting, WaitingPullRequest, WaitingState } from "./waiting.ts";

/** `evicts` leave for the newcomer: they are its author's own. Nobody is ever pushed out by somebody else. */
export type Room = { readonly kind: "room"; readonly evicts: readonly EventId[] } | { readonly kind: "full"; readonly why: Refusal };

const ROOM: Room = { kind: "room", evicts: [] };
const full = (why: Refusal): Room => ({ kind: "full", why });

/** Is there room for it beside what waits (grasp.md 4.5, 6.1)? The same question for the ledger and for whoever answers the client. */
export function roomFor(newcomer: Waiting, waiting: Iterable<Entry>, waitingCount: number, limits: Lifetimes): Room {
  const found = roomByKind(newcomer, waiting, limits);
  if (found.kind === "full" || found.evicts.length > 0) return found;
  return waitingCount < limits.waitingMax ? found : full("full");
}

function roomByKind(newcomer: Waiting, waiting: Iterable<Entry>, limits: Lifetimes): Room {
  switch (newcomer.what) {
    case "announcement":
      return ROOM;
    case "state":
      return roomForState(newcomer, waiting, limits);
    case "pull-request":
      return roomForPullRequest(newcomer, waiting, limits);
    default:
      return unreachable(newcomer);
  }
}

function roomForState(newcomer: WaitingState, waiting: Iterable<Entry>, limits: Lifetimes): Room {
  const own: WaitingState[] = [];
  let strangers = 0;
  for (const { waiting: other } of waiting) {
    if (other.what !== "state" || other.invited !== newcomer.invited || !shares(other, newcomer)) continue;
    if (other.author === newcomer.author) own.push(other);
    else strangers++;
  }
  const max = newcomer.invited ? limits.invitedPerAuthor : limits.statesPerAuthor;
  if (own.length >= max) return roomAmongOwn(newcomer, own, max);
  return newcomer.invited && strangers + own.length >= limits.invitedPerProject ? full("invited") : ROOM;
}

/** A state with overlay records never leaves for want of room: refs already stand where it put them (grasp.md 6.7). */
function roomAmongOwn(newcomer: WaitingState, own: readonly WaitingState[], max: number): Room {
  const oldestFirst = own.filter((state) => !state.overlaid).toSorted((a, b) => (isNewer(a, b) ? 1 : -1));
  const evicts = oldestFirst.slice(0, own.length - max + 1);
  const fits = evicts.length === own.length - max + 1 && evicts.every((state) => isNewer(newcomer, state));
  return fits ? { kind: "room", evicts: evicts.map((state) => state.id) } : full(newcomer.invited ? "invited" : "states");
}

function roomForPullRequest(newcomer: WaitingPullRequest, waiting: Iterable<Entry>, limits: Lifetimes): Room {
  let byAuthor = 0;
  const perRepository = new Map(newcomer.repositories.map((repository) => [repository, 0]));
  for (const { waiting: other } of waiting) {
    if (other.what !== "pull-request") continue;
    if (other.author === newcomer.author) byAuthor++;
    for (const repository of other.repositories) {
      const count = perRepository.get(repository);
      if (count !== undefined) perRepository.set(repository, count + 1);
    }
  }
  if (byAuthor >= limits.pullRequestsPerAuthor) return full("author");
  return [...perRepository.values()].some((count) => count >= limits.pullRequestsPerRepository) ? full("repository") : ROOM;
}

const shares = (a: Waiting, b: Waiting): boolean => a.projects.some((project) => b.projects.includes(project));

/** grasp.md 3.2: ties go to the lower id. */
export const isNewer = (a: Waiting, b: Waiting): boolean =>
  wins({ id: a.id, created_at: a.createdAt }, { id: b.id, created_at: b.createdAt });
