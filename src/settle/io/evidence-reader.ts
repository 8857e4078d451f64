import type { Clock } from "../../base/clock.ts";
import { toUnixSeconds, unixSeconds } from "../../base/time.ts";
import { type Announcement, readAnnouncement } from "../../grasp/announcement.ts";
import type { Identifier } from "../../grasp/identifier.ts";
import { type MaintainerPolicy, type MaintainerSet, maintainersOf, newestByAuthor } from "../../grasp/maintainers.ts";
import { readPullRequest } from "../../grasp/pull-request.ts";
import { type RepoId, repoCoordinate } from "../../grasp/repo-id.ts";
import { readState } from "../../grasp/state.ts";
import type { EventId, NostrEvent, PublicKey } from "../../nostr/event.ts";
import type { Filter } from "../../nostr/filter.ts";
import { ANNOUNCEMENT, PR, PR_UPDATE, STATE } from "../../nostr/kinds.ts";
import type { Reader } from "../../store/event-store.ts";
import type { HeldReader } from "../../store/held.ts";
import {
  type AnnouncementEvidence,
  declaredOids,
  type Evidence,
  type PullRequestEvidence,
  type RepositoryEvidence,
  type StateEvidence,
} from "../evidence.ts";
import { matesIn } from "../mates.ts";
import type { RepositoryHost } from "../ports.ts";

/** Popular names have hundreds; beyond this the oldest are left out rather than every settlement made slow. */
const ANNOUNCEMENTS_MAX = 10_000;
/** The newest served PRs of a project: older ones have their tips placed already. */
const SERVED_PRS_MAX = 2_000;

export interface EvidenceSources {
  readonly reader: Pick<Reader, "query">;
  readonly held: HeldReader;
  readonly host: RepositoryHost;
  readonly clock: Clock;
  readonly policy: () => MaintainerPolicy;
  /** grasp.md 5.3: does this announcement have a repository here, or is it only stored? */
  readonly isHosted: (announcement: Announcement) => boolean;
  readonly fault: (where: string, error: unknown) => void;
}

export interface Gathered extends Evidence {
  /** Owners whose repository could not be read; it is left out and was reported. */
  readonly unread: readonly PublicKey[];
}

type Found = Omit<RepositoryEvidence, "objects"> & { readonly maintainers: MaintainerSet };

/**
 * Reads what a settlement looks at. Refs are read before what was recorded about them: a push writes its record and then moves refs, so whoever sees its
 * refs sees its record too, and never undoes them. Whoever sees only the old refs is told by the transaction.
 */
export class EvidenceReader {
  readonly #from: EvidenceSources;

  constructor(sources: EvidenceSources) {
    this.#from = sources;
  }

  /** One repository that cannot be read is left out: strangers may share its name, and its fault is not theirs. */
  async gather(identifier: Identifier): Promise<Gathered> {
    const { host, policy, isHosted } = this.#from;
    const announcements = await this.#announcements(identifier);
    const newest = newestByAuthor(announcements);
    const repoOf = (owner: PublicKey): RepoId => ({ owner, identifier });
    const found: Found[] = [];
    const unread: PublicKey[] = [];
    for (const { owner } of [...newest.values()].filter(isHosted)) {
      const read = await this.#unlessFaulty(() => host.read(repoOf(owner)));
      if (read === undefined) unread.push(owner);
      else found.push({ owner, maintainers: maintainersOf(newest, owner, policy()), ...read });
    }
    const states = await this.#states(identifier, found);
    const pullRequests = await this.#pullRequests(identifier, found);
    const overlay = await this.#overlay(identifier, found, states);
    const oids = declaredOids({ states, pullRequests });
    const matesOf = matesIn(found);
    const repositories: RepositoryEvidence[] = [];
    for (const one of found) {
      const present = await this.#unlessFaulty(() => host.lookUp(repoOf(one.owner), matesOf(one.owner).map(repoOf), oids));
      if (present === undefined) unread.push(one.owner);
      else repositories.push({ ...one, objects: (oid) => present.get(oid) ?? "absent" });
    }
    return { identifier, announcements, states, pullRequests, overlay, repositories, unread };
  }

  /** Is this event still here, served or held? */
  async isKnown(id: EventId): Promise<boolean> {
    if ((await this.#from.held.waits(id)) !== undefined) return true;
    return (await this.#served({ ids: [id], tags: new Map() })).length > 0;
  }

  async #unlessFaulty<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      this.#from.fault("reading a repository", error);
      return undefined;
    }
  }

  async #announcements(identifier: Identifier): Promise<readonly (Announcement & AnnouncementEvidence)[]> {
    const served = await this.#served({ kinds: [ANNOUNCEMENT], tags: new Map([["d", [identifier]]]), limit: ANNOUNCEMENTS_MAX });
    const held = await this.#from.held.heldByIdentifier("announcement", identifier, ANNOUNCEMENTS_MAX);
    const all = [
      ...served.map((event) => ({ event, standing: "served" as const })),
      ...held.map(({ event, stage }) => ({ event, standing: stage === "waiting" ? stage : ("soft-expired" as const) })),
    ];
    return all.flatMap(({ event, standing }) => {
      const read = readAnnouncement(event);
      return typeof read === "string" || read.identifier !== identifier ? [] : [{ ...read, standing }];
    });
  }

  async #states(
    identifier: Identifier,
    repositories: readonly Pick<Found, "aligned" | "maintainers">[],
  ): Promise<readonly StateEvidence[]> {
    const authors = [...new Set(repositories.flatMap(({ maintainers }) => [...maintainers.confirmed, ...maintainers.invited]))];
    const states = new Map<EventId, StateEvidence>();
    const add = (event: NostrEvent, standing: StateEvidence["standing"]): void => {
      const state = readState(event);
      if (event.kind === STATE && state.identifier === identifier && !states.has(state.id)) states.set(state.id, { state, standing });
    };
    const tags = new Map([["d", [identifier]]]);
    const served = authors.length === 0 ? [] : await this.#served({ kinds: [STATE], authors, tags });
    for (const event of served) add(event, "served");
    for (const { event, stage } of await this.#from.held.statesOf(identifier, authors)) {
      add(event, stage === "superseded" ? stage : "waiting");
    }
    // What a repository is aligned to counts as evidence even when its author has left the set: it was not deleted (grasp.md 6.6).
    for (const { aligned } of repositories) {
      if (aligned === undefined || states.has(aligned.id)) continue;
      for (const event of await this.#served({ ids: [aligned.id], tags: new Map() })) add(event, "served");
      const held = await this.#from.held.heldEvent(aligned.id);
      if (held !== undefined) add(held.event, held.stage === "waiting" ? "waiting" : "superseded");
    }
    return [...states.values()];
  }

  async #pullRequests(
    identifier: Identifier,
    repositories: readonly Pick<RepositoryEvidence, "owner" | "maintainers">[],
  ): Promise<readonly PullRequestEvidence[]> {
    const keys = new Set(repositories.flatMap(({ owner, maintainers }) => [owner, ...maintainers.confirmed]));
    const coordinates = [...keys].map((owner) => repoCoordinate({ owner, identifier }));
    if (coordinates.length === 0) return [];
    const requests = new Map<EventId, PullRequestEvidence>();
    const add = (event: NostrEvent, standing: PullRequestEvidence["standing"]): void => {
      const request = readPullRequest(event);
      if (request !== undefined && !requests.has(request.id)) requests.set(request.id, { request, standing });
    };
    const tags = new Map([["a", coordinates]]);
    for (const event of await this.#served({ kinds: [PR, PR_UPDATE], tags, limit: SERVED_PRS_MAX })) add(event, "served");
    for (const { event } of await this.#from.held.pullRequestsFor(coordinates)) add(event, "waiting");
    return [...requests.values()];
  }

  async #overlay(
    identifier: Identifier,
    repositories: readonly Pick<RepositoryEvidence, "owner">[],
    states: readonly StateEvidence[],
  ): Promise<Evidence["overlay"]> {
    const times = new Map(states.map(({ state }) => [state.id, state.createdAt]));
    const overlay: Evidence["overlay"][number][] = [];
    for (const { owner } of repositories) {
      const repo = { owner, identifier };
      for (const { ref, value, state } of await this.#from.held.overlays(repoCoordinate(repo))) {
        overlay.push({ repo, ref, value, state, stateCreatedAt: times.get(state) ?? unixSeconds(0) });
      }
    }
    return overlay;
  }

  async #served(filter: Filter): Promise<readonly NostrEvent[]> {
    const events: NostrEvent[] = [];
    const view = { now: toUnixSeconds(this.#from.clock.now()) };
    for await (const slice of this.#from.reader.query(filter, view)) {
      for (const { text } of slice) events.push(JSON.parse(text) as NostrEvent);
    }
    return events;
  }
}
