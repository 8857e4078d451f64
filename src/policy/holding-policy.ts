import { type Announcement, namesUs, readAnnouncement } from "../grasp/announcement.ts";
import { readPullRequest } from "../grasp/pull-request.ts";
import type { NostrEvent } from "../nostr/event.ts";
import { ANNOUNCEMENT, STATE } from "../nostr/kinds.ts";
import { prWithoutTip, REASONS, type Reason, reason } from "../nostr/reason.ts";
import { wins } from "../nostr/replaceable.ts";
import { type AnnouncementFacts, placeAnnouncement } from "./announcement-policy.ts";
import { covers } from "./block-policy.ts";
import type { Facts } from "./facts.ts";
import { type Crowd, counting, type HoldingFacts } from "./holding-facts.ts";
import type { Rules } from "./rules.ts";
import { judgeStateAuthor } from "./state-policy.ts";
import { ACCEPT, DELIST, duplicate, hold, reject, type Verdict } from "./verdict.ts";

/** What becomes of an announcement, a state or a PR where git data is waited for. Blocks and gates have nothing against it. */
export function decideHolding(event: NostrEvent, facts: Facts, holding: HoldingFacts, rules: Rules): Verdict {
  // grasp.md 6.3: sync must not bring it back every hour; whoever hands it in himself may know better.
  if (holding.stage === "expired" && !holding.direct) return reject(REASONS.expiredFromPurgatory);
  switch (event.kind) {
    case ANNOUNCEMENT:
      return decideAnnouncement(event, facts, holding, rules);
    case STATE:
      return decideState(event, facts, holding, rules);
    default:
      return decidePullRequest(event, holding, rules);
  }
}

function decideAnnouncement(event: NostrEvent, facts: Facts, holding: HoldingFacts, rules: Rules): Verdict {
  const own = holding.announcements.find(({ announcement, served }) => !served && announcement.owner === event.pubkey)?.announcement;
  // grasp.md 5.4: an older announcement never replaces a newer one, in purgatory too.
  const isOlder = own !== undefined && own.id !== event.id && !wins(event, { id: own.id, created_at: own.createdAt });
  const superseded = isOlder || isSuperseded(event, facts);
  const announcement = readAnnouncement(event);
  if (typeof announcement === "string") return outside(reason("invalid", announcement), superseded, rules);
  const place = placeAnnouncement(announcement, placeFacts(facts, holding, rules), rules);
  if (place.kind === "refused") return outside(place.reason, superseded, rules);
  if (superseded) return duplicate(REASONS.superseded);
  // It waits on: what shows life is somebody who hands it in.
  if (holding.stage === "soft-expired" && !holding.direct) return duplicate(REASONS.inPurgatory);
  const replaces = replacesHosted(event, facts, holding, rules);
  if (place.kind === "repository") return replaces ? ACCEPT : roomOr(holding, { what: "announcement" });
  if (replaces && !namesUs(announcement, rules.places)) return DELIST;
  return facts.incumbent !== undefined || isListedByServed(announcement, holding) ? ACCEPT : roomOr(holding, { what: "announcement" });
}

function placeFacts(facts: Facts, holding: HoldingFacts, rules: Rules): AnnouncementFacts {
  const accepted = [...counting(holding).values()].map((announcement) => ({ announcement, hasRepository: isHosted(announcement, rules) }));
  return { accepted, wasServed: facts.incumbent !== undefined };
}

/** A repository is kept here for it: it names us, and the operator allows it. */
export const isHosted = (announcement: Announcement, rules: Rules): boolean =>
  namesUs(announcement, rules.places) &&
  (rules.allowedRepositories?.some((rule) => covers(rule, announcement.owner, announcement.identifier)) ?? true);

/** Is what it replaces an announcement with a repository here? One that was stored without is not: with it nothing was hosted yet. */
function replacesHosted(event: NostrEvent, { incumbent }: Facts, { announcements }: HoldingFacts, { places }: Rules): boolean {
  if (incumbent === undefined) return false;
  const found = announcements.find(({ announcement, served }) => served && announcement.owner === event.pubkey);
  return found === undefined || namesUs(found.announcement, places);
}

/** §1: what only waiting things vouch for waits with them. */
const isListedByServed = ({ owner }: Announcement, { announcements }: HoldingFacts): boolean =>
  announcements.some(({ announcement, served }) => served && announcement.owner !== owner && announcement.roles.listed.has(owner));

function decideState(event: NostrEvent, facts: Facts, holding: HoldingFacts, rules: Rules): Verdict {
  const standing = judgeStateAuthor(event.pubkey, counting(holding), rules.maintainerPolicy);
  const superseded = isSuperseded(event, facts);
  if (standing.kind === "refused") return outside(standing.reason, superseded, rules);
  if (superseded) return duplicate(REASONS.superseded);
  return roomOr(holding, { what: "state", invited: standing.kind === "invited" });
}

function decidePullRequest(event: NostrEvent, holding: HoldingFacts, rules: Rules): Verdict {
  if (readPullRequest(event) === undefined) return reject(prWithoutTip(event.id));
  if (holding.repositories.length === 0) return rules.acceptance === "open" ? ACCEPT : reject(REASONS.orphan);
  return roomOr(holding, { what: "pull-request", repositories: holding.repositories });
}

/** What is no business of a repository here; an open relay takes it like any other event. */
function outside(why: Reason, superseded: boolean, rules: Rules): Verdict {
  if (rules.acceptance !== "open") return reject(why);
  return superseded ? duplicate(REASONS.superseded) : ACCEPT;
}

const isSuperseded = (event: NostrEvent, { incumbent }: Facts): boolean => incumbent !== undefined && !wins(event, incumbent);

const roomOr = ({ crowd }: HoldingFacts, holding: Parameters<typeof hold>[0]): Verdict =>
  crowd === undefined ? hold(holding) : reject(CROWDED[crowd]);

/** grasp.md 3.4: overload is always `rate-limited`. */
const CROWDED: Readonly<Record<Crowd, Reason>> = {
  states: reason("rate-limited", "too many newer states of yours wait for git data of this repository"),
  invited: reason("rate-limited", "too many states of invited maintainers wait for this repository"),
  author: reason("rate-limited", "too many pull requests of yours wait for git data"),
  repository: reason("rate-limited", "too many pull requests wait for git data of this repository"),
  full: reason("rate-limited", "too many events wait for git data here; try again later"),
};
