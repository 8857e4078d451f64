import { readAnnouncement } from "../../src/grasp/announcement.ts";
import type { Identifier } from "../../src/grasp/identifier.ts";
import { type MaintainerPolicy, maintainersOf, newestByAuthor } from "../../src/grasp/maintainers.ts";
import { type PullRequest, readPullRequest } from "../../src/grasp/pull-request.ts";
import { repoCoordinate } from "../../src/grasp/repo-id.ts";
import { readState } from "../../src/grasp/state.ts";
import type { NostrEvent } from "../../src/nostr/event.ts";
import { ANNOUNCEMENT, PR, STATE } from "../../src/nostr/kinds.ts";
import type { Evidence } from "../../src/settle/evidence.ts";
import type { MemoryStore } from "../../src/store/memory-store.ts";
import type { FakeGitHost } from "./fake-git-host.ts";

/** So many announcements or states of one name are more than a history has. */
const MANY = 1000;

export interface Gathered extends Evidence {
  /** Everybody whose states are taken: confirmed or invited somewhere (grasp.md 6.4). */
  readonly welcome: ReadonlySet<string>;
}

/** What a settlement looks at, from the store and the git host, in one transaction. */
export function gather(store: MemoryStore, host: FakeGitHost, identifier: Identifier, policy: MaintainerPolicy): Promise<Gathered> {
  return store.transact(async (tx) => {
    const announced = [
      ...(await tx.servedByIdentifier(ANNOUNCEMENT, identifier, MANY)).map((event) => ({ event, standing: "served" as const })),
      ...(await tx.held.heldByIdentifier("announcement", identifier, MANY)).map(({ event, stage }) => ({
        event,
        standing: stage === "waiting" ? stage : ("soft-expired" as const),
      })),
    ].map(({ event, standing }) => ({ ...read(event), standing }));
    const newest = newestByAuthor(announced);
    const repositories = [...newest.keys()].map((owner) => {
      const { objects, ...rest } = host.repository(owner);
      const lookup = (oid: string) => ([...objects].includes(oid as never) ? ("commit" as const) : ("absent" as const));
      return {
        ...rest,
        format: rest.format,
        owner,
        objects: lookup,
        maintainers: maintainersOf(newest, owner, policy),
      };
    });
    const authors = new Set(repositories.flatMap(({ maintainers }) => [...maintainers.confirmed, ...maintainers.invited]));
    // What a repository is aligned to counts as evidence even when its author has left: it was not deleted.
    const left = [];
    for (const { aligned } of repositories) {
      const held = aligned === undefined ? undefined : await tx.held.heldEvent(aligned.id);
      if (held !== undefined && !authors.has(held.event.pubkey)) left.push(held);
    }
    const states = [
      ...(await tx.servedByIdentifier(STATE, identifier, MANY)).map((event) => ({ state: readState(event), standing: "served" as const })),
      ...[...(await tx.held.statesOf(identifier, [...authors])), ...left].map(({ event, stage }) => ({
        state: readState(event),
        standing: stage === "superseded" ? stage : ("waiting" as const),
      })),
    ];
    const coordinates = repositories.map(({ owner }) => repoCoordinate({ owner, identifier }));
    const waiting = (await tx.held.pullRequestsFor(coordinates)).map(({ event }) => ({
      request: readPullRequest(event) as PullRequest,
      standing: "waiting" as const,
    }));
    const times = new Map(states.map(({ state }) => [state.id, state.createdAt]));
    const overlay = [];
    for (const { owner } of repositories) {
      for (const { ref, value, state } of await tx.held.overlays(repoCoordinate({ owner, identifier }))) {
        overlay.push({ repo: { owner, identifier }, ref, value, state, stateCreatedAt: times.get(state) ?? (0 as never) });
      }
    }
    return {
      identifier,
      announcements: announced,
      states,
      pullRequests: [...(await servedRequests(store)), ...waiting],
      overlay,
      repositories,
      welcome: authors,
    };
  });
}

async function servedRequests(store: MemoryStore): Promise<Evidence["pullRequests"]> {
  const found: { request: PullRequest; standing: "served" }[] = [];
  for await (const slice of store.query({ kinds: [PR], tags: new Map() }, { now: 0 as never })) {
    for (const { text } of slice)
      found.push({ request: readPullRequest(JSON.parse(text) as NostrEvent) as PullRequest, standing: "served" });
  }
  return found;
}

function read(event: NostrEvent) {
  const announcement = readAnnouncement(event);
  if (typeof announcement === "string") throw new Error(announcement);
  return announcement;
}
