import { type Announcement, readAnnouncement } from "../grasp/announcement.ts";
import { repoAddress } from "../grasp/repo-id.ts";
import { formatCoordinate } from "../nostr/coordinate.ts";
import type { EventId, NostrEvent, PublicKey, VerifiedEvent } from "../nostr/event.ts";
import { ANNOUNCEMENT, STATE } from "../nostr/kinds.ts";
import type { Address } from "../nostr/replaceable.ts";
import type { HoldingNeeds } from "../policy/facts.ts";
import { type Crowd, counting, type HoldingFacts, type KnownAnnouncement } from "../policy/holding-facts.ts";
import { isHosted } from "../policy/holding-policy.ts";
import type { Rules } from "../policy/rules.ts";
import { judgeStateAuthor } from "../policy/state-policy.ts";
import { LIFETIMES } from "../purgatory/lifetimes.ts";
import type { Transaction } from "../store/event-store.ts";
import { type HeldEvent, isLive } from "../store/held.ts";
import type { Origin } from "./origin.ts";
import { roomForState } from "./state-room.ts";

export interface GatheredHolding {
  readonly facts: HoldingFacts;
  /** The author's announcement with this identifier that is in purgatory. */
  readonly before: HeldEvent | undefined;
  /** States of the same author that leave to make room. */
  readonly evicts: readonly EventId[];
}

/** Strangers may take the same identifier, and each costs every decision under it a look; beyond this many, the newest count. */
const ANNOUNCEMENTS_MAX = 1_000;

export async function gatherHolding(
  tx: Transaction,
  event: VerifiedEvent,
  asked: HoldingNeeds,
  rules: Rules,
  origin: Origin,
): Promise<GatheredHolding> {
  const common = { direct: origin.kind === "direct", stage: await tx.held.waits(event.id) };
  // It waits already, and nothing more is asked about it.
  if (common.stage === "waiting") return alone({ ...common, announcements: [], repositories: [], crowd: undefined });
  if (asked.kind === "repositories") {
    const repositories = await repositoriesHere(tx, asked.addresses, rules);
    const crowd = repositories.length === 0 ? undefined : await crowdOfPullRequests(tx, event.pubkey, repositories);
    return alone({ ...common, announcements: [], repositories, crowd });
  }
  const everybody = event.kind === STATE || !(await isNewRepository(tx, event, rules));
  const { known, before } = await knownAnnouncements(tx, asked.identifier, event.pubkey, everybody);
  const facts: HoldingFacts = { ...common, announcements: known, repositories: [], crowd: undefined };
  if (event.kind !== STATE) return { facts, before, evicts: [] };
  const room = await roomForState(tx, event, asked.identifier, counting(facts), rules.maintainerPolicy);
  return room.kind === "full" ? alone({ ...facts, crowd: crowdOf(room.why) }) : { facts, before: undefined, evicts: room.evicts };
}

const alone = (facts: HoldingFacts): GatheredHolding => ({ facts, before: undefined, evicts: [] });

const crowdOf = (why: Crowd | "older"): Crowd => (why === "older" ? "full" : why);

/** Then it needs nobody who lists it, and those who share its name need not be read: ten thousand new repositories must cost little (grasp.md 5.5). */
async function isNewRepository(tx: Transaction, event: VerifiedEvent, rules: Rules): Promise<boolean> {
  const announcement = readAnnouncement(event);
  if (typeof announcement === "string" || !isHosted(announcement, rules)) return false;
  return (await tx.incumbent(repoAddress(announcement))) === undefined;
}

async function knownAnnouncements(
  tx: Transaction,
  identifier: string,
  author: PublicKey,
  everybody: boolean,
): Promise<{ known: readonly KnownAnnouncement[]; before: HeldEvent | undefined }> {
  const held = everybody ? [...(await tx.held.heldByIdentifier("announcement", identifier, ANNOUNCEMENTS_MAX))] : [];
  // The author's own is looked for by itself, so that no crowd of strangers can hide it.
  const before = (await tx.held.heldFor(author, identifier)).find(({ what, stage }) => what === "announcement" && isLive(stage));
  if (before !== undefined && !held.some(({ event }) => event.id === before.event.id)) held.push(before);
  const served = everybody ? await tx.servedByIdentifier(ANNOUNCEMENT, identifier, ANNOUNCEMENTS_MAX) : [];
  const known = [
    ...served.map((event) => ({ event, served: true })),
    ...held.map(({ event }) => ({ event: event as NostrEvent, served: false })),
  ].flatMap(({ event, served: isServed }): KnownAnnouncement[] => {
    const announcement: Announcement | string = readAnnouncement(event);
    return typeof announcement === "string" ? [] : [{ announcement, served: isServed }];
  });
  return { known, before };
}

/** Clients name every maintainer of a project, so there may be many; each is a look-up, and a place that the PR takes. */
const REPOSITORIES_MAX = 64;

/** Those of a PR's repositories that are announced here, served or in purgatory; a maintainer's counts too when only others announced it (grasp.md 6.9). */
async function repositoriesHere(tx: Transaction, addresses: readonly Address[], rules: Rules): Promise<readonly string[]> {
  const here = new Set<string>();
  for (const address of addresses) {
    if (here.size >= REPOSITORIES_MAX) break;
    if (await isAnnounced(tx, address)) here.add(formatCoordinate(address));
  }
  if (here.size > 0) return [...here];
  for (const address of addresses.slice(0, LISTED_LOOKUPS_MAX)) {
    const { known } = await knownAnnouncements(tx, address.d, address.pubkey, true);
    const standing = judgeStateAuthor(address.pubkey, counting({ announcements: known }), rules.maintainerPolicy);
    if (standing.kind === "confirmed") here.add(formatCoordinate(address));
  }
  return [...here];
}

/** Each reads all the announcements of a name; a PR that names only keys without one is rare. */
const LISTED_LOOKUPS_MAX = 4;

async function isAnnounced(tx: Transaction, address: Address): Promise<boolean> {
  if ((await tx.incumbent(address)) !== undefined) return true;
  const held = await tx.held.heldFor(address.pubkey, address.d);
  return held.some(({ what, stage }) => what === "announcement" && isLive(stage));
}

/** grasp.md 6.1. */
async function crowdOfPullRequests(tx: Transaction, author: PublicKey, repositories: readonly string[]): Promise<Crowd | undefined> {
  if ((await tx.held.waitingBy(author, "pull-request")) >= LIFETIMES.pullRequestsPerAuthor) return "author";
  for (const repository of repositories) {
    if ((await tx.held.pullRequestsFor([repository])).length >= LIFETIMES.pullRequestsPerRepository) return "repository";
  }
  return undefined;
}
