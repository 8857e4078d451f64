import type { Oid } from "../git/oid.ts";
import type { RefName } from "../git/ref-name.ts";
import type { PullRequest } from "../grasp/pull-request.ts";
import { isHere } from "./authoritative.ts";
import type { Evidence, RepositoryEvidence } from "./evidence.ts";
import { planned } from "./ref-plan.ts";
import type { Promotion, RepositorySettlement } from "./settlement.ts";
import type { View } from "./view.ts";

export const tipRef = (request: Pick<PullRequest, "id">): RefName => `refs/nostr/${request.id}` as RefName;

/** grasp.md 6.9: the repository's maintainer set meets the keys that the PR's `a` tags name. */
export function concerns(request: PullRequest, repository: RepositoryEvidence, identifier: string): boolean {
  return request.repositories.some(({ pubkey, d }) => d === identifier && repository.maintainers.confirmed.has(pubkey));
}

/** The tips that shall be found in this repository: commits, and here. */
export function tipsFor(evidence: Evidence, repository: RepositoryEvidence): ReadonlyMap<RefName, Oid> {
  const tips = new Map<RefName, Oid>();
  for (const { request } of evidence.pullRequests) {
    if (request.tip === undefined || !concerns(request, repository, evidence.identifier)) continue;
    if (isHere(tipRef(request), request.tip, repository) && repository.objects(request.tip) === "commit")
      tips.set(tipRef(request), request.tip);
  }
  return tips;
}

/** A PR is served when its tip is placed in one of the repositories it is for. `settled` has one entry per view, in the same order. */
export function pullRequestPromotions(
  evidence: Evidence,
  views: readonly View[],
  settled: readonly RepositorySettlement[],
): readonly Promotion[] {
  const open = views.flatMap(({ repository, isOpen }, at) => {
    const plan = settled[at]?.plan;
    return isOpen && plan !== undefined ? [{ repository, refs: planned(repository.refs, plan).refs }] : [];
  });
  return evidence.pullRequests.flatMap(({ request, standing }): readonly Promotion[] => {
    if (standing === "served" || request.tip === undefined) return [];
    const isPlaced = (refs: ReadonlyMap<RefName, Oid>) => refs.get(tipRef(request)) === request.tip;
    const needs = open.filter(({ repository, refs }) => concerns(request, repository, evidence.identifier) && isPlaced(refs));
    return needs.length === 0 ? [] : [{ kind: "pull-request", id: request.id, needs: needs.map(({ repository }) => repository.owner) }];
  });
}
