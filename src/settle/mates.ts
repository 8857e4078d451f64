import { projectKey } from "../grasp/project.ts";
import type { PublicKey } from "../nostr/event.ts";
import type { RepositoryEvidence } from "./evidence.ts";

type Member = Pick<RepositoryEvidence, "owner" | "maintainers">;

/** Who shares objects with whom (grasp.md 7.13): owners of one confirmed set that holds them all. Everybody else has only what is their own. */
export function matesIn(repositories: readonly Member[]): (owner: PublicKey) => readonly PublicKey[] {
  const members = repositories.filter(({ owner, maintainers }) => maintainers.confirmed.has(owner));
  const keys = new Map(members.map(({ owner, maintainers }) => [owner, projectKey(owner, maintainers.confirmed)]));
  const groups = Map.groupBy(keys.keys(), (owner) => keys.get(owner));
  return (owner) => (keys.has(owner) ? (groups.get(keys.get(owner)) ?? []).filter((other) => other !== owner) : []);
}
