import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { applySettlement } from "../../test/kit/apply-settlement.ts";
import { anyEvidence, KEYS, type KitEvidence, reordered, withMaintainers } from "../../test/kit/arbitrary/evidence.ts";
import { fakeEvent } from "../../test/kit/arbitrary/fake-event.ts";
import { runs } from "../../test/kit/arbitrary/runs.ts";
import { clash } from "../git/ref-map.ts";
import { isBranch, isTag, nostrRefId } from "../git/ref-name.ts";
import type { RefUpdate } from "../git/ref-update.ts";
import { readState } from "../grasp/state.ts";
import { isNewer, type RepositoryEvidence } from "./evidence.ts";
import { planned } from "./ref-plan.ts";
import { settle } from "./settle.ts";
import { isSettled, type RepositorySettlement } from "./settlement.ts";

/** Every repository with what was decided about it. */
function decided(
  evidence: KitEvidence,
): readonly { repository: RepositoryEvidence; settled: RepositorySettlement; updates: readonly RefUpdate[] }[] {
  const { repositories } = settle(evidence);
  return evidence.repositories.map((repository) => {
    const settled = repositories.find(({ owner }) => owner === repository.owner) as RepositorySettlement;
    return { repository, settled, updates: settled.plan.transactions.flat() };
  });
}

const managed = ({ refs }: RepositoryEvidence["refs"]) => [...refs].filter(([ref]) => isBranch(ref) || isTag(ref));

describe("settling (grasp.md 6.6)", () => {
  test("is idempotent: once it is carried out there is nothing to do", () => {
    fc.assert(
      fc.property(anyEvidence, (evidence) => {
        const after = applySettlement(evidence, settle(evidence));
        expect(isSettled(settle(after))).toBe(true);
      }),
      runs(400),
    );
  });

  test("does not depend on order", () => {
    const both = anyEvidence.chain((evidence) => reordered(evidence).map((other) => [evidence, other] as const));
    fc.assert(
      fc.property(both, ([evidence, other]) => {
        expect(settle(other)).toEqual(settle(evidence));
      }),
      runs(300),
    );
  });

  test("comes to the same end when some repositories fail at first", () => {
    fc.assert(
      fc.property(anyEvidence, fc.subarray([...KEYS]), (evidence, failing) => {
        const half = applySettlement(evidence, settle(evidence), (owner) => !failing.includes(owner));
        const late = applySettlement(half, settle(half));
        expect(isSettled(settle(late))).toBe(true);
        const once = applySettlement(evidence, settle(evidence));
        const refs = ({ repositories }: KitEvidence) => repositories.map(({ owner, refs, standing }) => ({ owner, refs, standing }));
        expect(refs(late)).toEqual(refs(once));
        expect(late.states).toEqual(once.states);
      }),
      runs(300),
    );
  });

  test("moves refs only to what a state of the set or a PR declares, and expects what is there", () => {
    fc.assert(
      fc.property(anyEvidence, (evidence) => {
        for (const { repository, settled, updates } of decided(evidence)) {
          for (const { ref, from, to } of updates) {
            expect(from).toBe(repository.refs.refs.get(ref));
            expect(to).not.toBe(from);
            const byState = evidence.states.some(
              ({ state }) => repository.maintainers.confirmed.has(state.author) && state.refs.get(ref) === to,
            );
            const byRequest = evidence.pullRequests.some(({ request }) => nostrRefId(ref) === request.id && request.tip === to);
            // What cannot stand beside a ref that a newer state has moved gives way to it.
            const isInTheWay = to === undefined && clash([...planned(repository.refs, settled.plan).refs.keys(), ref]) !== undefined;
            expect(byState || byRequest || isInTheWay).toBe(true);
            if (to !== undefined) expect(repository.objects(to)).not.toBe("absent");
            if (to !== undefined && !isTag(ref)) expect(repository.objects(to)).toBe("commit");
          }
        }
      }),
      runs(400),
    );
  });

  test("never touches refs/nostr/* of others (6.9)", () => {
    fc.assert(
      fc.property(anyEvidence, (evidence) => {
        const tips = new Map(evidence.pullRequests.map(({ request }) => [request.id as string, request.tip]));
        for (const { updates } of decided(evidence)) {
          for (const { ref, to } of updates) {
            if (isBranch(ref) || isTag(ref)) continue;
            expect(to).toBeDefined();
            expect(to).toBe(tips.get(nostrRefId(ref) ?? ""));
          }
        }
      }),
      runs(300),
    );
  });

  test("plans in two transactions exactly where one name is a directory of another (6.8)", () => {
    fc.assert(
      fc.property(anyEvidence, (evidence) => {
        for (const { settled } of decided(evidence)) {
          const [first = [], second] = settled.plan.transactions;
          const names = settled.plan.transactions.flat().map(({ ref }) => `${ref}/`);
          const clashes = names.some((name) => names.some((other) => other !== name && other.startsWith(name)));
          expect(second !== undefined).toBe(clashes);
          if (second !== undefined)
            expect(first.every(({ to }) => to === undefined) && second.every(({ to }) => to !== undefined)).toBe(true);
        }
      }),
      runs(400),
    );
  });

  test("serves nothing before its refs moved, and only what is complete (6.5)", () => {
    fc.assert(
      fc.property(anyEvidence, (evidence) => {
        for (const { kind, id, needs } of settle(evidence).promotions) {
          expect(needs.length).toBeGreaterThan(0);
          for (const owner of needs) {
            const repository = evidence.repositories.find((one) => one.owner === owner) as RepositoryEvidence;
            const settled = settle(evidence).repositories.find((one) => one.owner === owner) as RepositorySettlement;
            const { refs } = planned(repository.refs, settled.plan);
            const state = evidence.states.find((one) => one.state.id === id)?.state;
            const request = evidence.pullRequests.find((one) => one.request.id === id)?.request;
            if (kind === "pull-request") expect(refs.get(`refs/nostr/${id}` as never)).toBe(request?.tip);
            if (kind !== "state") continue;
            expect([...(state?.refs.values() ?? [])].every((oid) => repository.objects(oid) !== "absent")).toBe(true);
            // Aligned to it or to something newer.
            expect(settled.aligned?.id === id || (settled.aligned && state && isNewer(settled.aligned, state))).toBe(true);
          }
        }
      }),
      runs(400),
    );
  });

  test("leaves refs, HEAD and what is served as they are where no state is complete", () => {
    fc.assert(
      fc.property(anyEvidence, (evidence) => {
        const without = {
          ...evidence,
          overlay: [],
          pullRequests: [],
          repositories: evidence.repositories.map((one) => ({ ...one, objects: () => "absent" as const })),
        };
        const withRefs = { ...without, states: without.states.filter(({ state }) => state.refs.size > 0) };
        for (const { settled } of decided(withRefs)) expect(settled.plan).toEqual({ transactions: [], head: undefined });
        expect(settle(withRefs).promotions).toEqual([]);
      }),
      runs(200),
    );
  });

  test("an empty state by a key that owns no repository here changes no repository (6.10)", () => {
    fc.assert(
      fc.property(anyEvidence, fc.constantFrom(...KEYS), fc.nat({ max: 8 }), (evidence, pubkey, created_at) => {
        fc.pre(!evidence.repositories.some(({ owner }) => owner === pubkey));
        const empty = readState(fakeEvent({ pubkey, created_at, kind: 30_618, tags: [["d", "hold"]] }));
        const more = { ...evidence, states: [...evidence.states, { state: empty, standing: "waiting" as const }] };
        expect(settle(more).repositories).toEqual(settle(evidence).repositories);
        expect(settle(more).promotions).toEqual(settle(evidence).promotions);
      }),
      runs(300),
    );
  });

  test("all branches and tags go only by the owner's own empty state, or by overlay", () => {
    fc.assert(
      fc.property(anyEvidence, (evidence) => {
        for (const { repository, settled } of decided({ ...evidence, overlay: [] })) {
          const isWiped = managed(repository.refs).length > 0 && managed(planned(repository.refs, settled.plan)).length === 0;
          const byOwner = evidence.states.some(({ state }) => state.author === repository.owner && state.refs.size === 0);
          expect(isWiped && !byOwner).toBe(false);
        }
      }),
      runs(400),
    );
  });

  test("states by keys outside every set do not matter", () => {
    fc.assert(
      fc.property(anyEvidence, (evidence) => {
        const inside = new Set(evidence.repositories.flatMap(({ maintainers }) => [...maintainers.confirmed]));
        const used = new Set([...evidence.overlay.map(({ state }) => state), ...evidence.repositories.map(({ aligned }) => aligned?.id)]);
        const without = evidence.states.filter(({ state }) => inside.has(state.author) || used.has(state.id));
        expect(settle({ ...evidence, states: without })).toEqual(settle(evidence));
      }),
      runs(300),
    );
  });

  test("no ref of a served repository moves by time alone (4.7, 6.7)", () => {
    fc.assert(
      fc.property(anyEvidence, (evidence) => {
        // grasp.md 5.4: a replacement of a served announcement is served at once, so none waits beside an older one.
        fc.pre(new Set(evidence.announcements.map(({ owner }) => owner)).size === evidence.announcements.length);
        const first = applySettlement(evidence, settle(evidence));
        const { keep } = settle(first);
        const stays = ({ id, standing }: { readonly id: KitEvidence["announcements"][number]["id"]; readonly standing: string }) =>
          standing === "served" || keep.includes(id);
        const later = withMaintainers({
          ...first,
          announcements: first.announcements.filter(stays),
          states: first.states.filter(({ state, standing }) => stays({ id: state.id, standing })),
          pullRequests: first.pullRequests.filter(({ standing }) => standing === "served"),
        });
        for (const { repository, settled } of decided(later)) {
          if (repository.standing === "served")
            expect([settled.plan, settled.turn]).toEqual([{ transactions: [], head: undefined }, undefined]);
        }
      }),
      runs(400),
    );
  });

  test("what is overwritten by an older state is retained (6.6)", () => {
    fc.assert(
      fc.property(anyEvidence, (evidence) => {
        for (const { repository, settled, updates } of decided(evidence)) {
          const isOlder = repository.aligned !== undefined && settled.aligned !== undefined && isNewer(repository.aligned, settled.aligned);
          if (isOlder) for (const { from } of updates) if (from !== undefined) expect(settled.retain).toContain(from);
        }
      }),
      runs(300),
    );
  });
});
