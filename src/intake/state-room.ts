import type { Announcements, MaintainerPolicy } from "../grasp/maintainers.ts";
import { memberships } from "../grasp/membership.ts";
import { projectKey } from "../grasp/project.ts";
import type { PublicKey, VerifiedEvent } from "../nostr/event.ts";
import type { Entry } from "../purgatory/ledger-state.ts";
import { LIFETIMES } from "../purgatory/lifetimes.ts";
import { type Room, roomFor } from "../purgatory/room.ts";
import type { ProjectKey, WaitingState } from "../purgatory/waiting.ts";
import type { Transaction } from "../store/event-store.ts";
import type { HeldEvent } from "../store/held.ts";

/** More than all the places that invited keys have in the projects of one name, unless that name is very common. */
const STATES_MAX = 1_000;

/** Is there room for this state beside those that wait (grasp.md 4.5, 6.1)? */
export async function roomForState(
  tx: Transaction,
  event: VerifiedEvent,
  identifier: string,
  announcements: Announcements,
  policy: MaintainerPolicy,
): Promise<Room> {
  const standing = standings(announcements, policy);
  const own = (await tx.held.heldFor(event.pubkey, identifier)).filter(({ what, stage }) => what === "state" && stage === "waiting");
  const newcomer = waitingState(event, standing(event.pubkey), false);
  const entries: Entry[] = [];
  for (const held of own) entries.push(entryOf(held, standing(event.pubkey), await tx.held.hasOverlay(held.event.id)));
  // Only invited keys share their places with each other.
  const others = newcomer.invited ? await tx.held.heldByIdentifier("state", identifier, STATES_MAX) : [];
  for (const held of others) if (held.event.pubkey !== event.pubkey) entries.push(entryOf(held, standing(held.event.pubkey), false));
  return roomFor(newcomer, entries, entries.length, LIFETIMES);
}

interface Membership {
  readonly projects: readonly ProjectKey[];
  readonly invited: boolean;
}

/** The projects of one identifier for which a key is confirmed; when there are none, those it is invited to. */
function standings(announcements: Announcements, policy: MaintainerPolicy): (key: PublicKey) => Membership {
  const membership = memberships(announcements, policy);
  const sets = [...announcements.keys()].map((owner) => ({ owner, ...membership(owner) }));
  const nameOf = ({ owner, confirmed }: (typeof sets)[number]): ProjectKey => projectKey(owner, confirmed) as ProjectKey;
  return (key) => {
    const confirmed = sets.filter((set) => set.confirmed.has(key));
    const found = confirmed.length > 0 ? confirmed : sets.filter((set) => set.invited.has(key));
    return { projects: [...new Set(found.map(nameOf))], invited: confirmed.length === 0 };
  };
}

const waitingState = ({ id, pubkey, created_at }: VerifiedEvent, { projects, invited }: Membership, overlaid: boolean): WaitingState => ({
  what: "state",
  id,
  author: pubkey,
  createdAt: created_at,
  projects,
  invited,
  overlaid,
});

const entryOf = ({ event, heldAt, until }: HeldEvent, membership: Membership, overlaid: boolean): Entry => ({
  waiting: waitingState(event, membership, overlaid),
  heldAt,
  until: until ?? heldAt,
  settleUntil: undefined,
});
