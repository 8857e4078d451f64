import { isBranch, type RefName } from "../../src/git/ref-name.ts";
import { type RepoState, readState } from "../../src/grasp/state.ts";
import type { EventId, PublicKey, VerifiedEvent } from "../../src/nostr/event.ts";
import { STATE } from "../../src/nostr/kinds.ts";
import { isNewer } from "../../src/settle/evidence.ts";
import { settle } from "../../src/settle/settle.ts";
import { isSettled } from "../../src/settle/settlement.ts";
import type { FakeRepository } from "./fake-git-host.ts";
import type { Gathered } from "./gather.ts";
import type { SimServer } from "./sim-server.ts";
import type { Act } from "./step.ts";

/** A server between two steps. */
export interface Sight {
  readonly evidence: Gathered;
  readonly repositories: ReadonlyMap<PublicKey, FakeRepository>;
  readonly served: ReadonlySet<EventId>;
  readonly held: ReadonlySet<EventId>;
}

export async function look(server: SimServer): Promise<Sight> {
  const evidence = await server.evidence();
  const served = new Set<EventId>();
  for await (const slice of server.store.query({ tags: new Map() }, { now: server.now })) for (const { id } of slice) served.add(id);
  const held = await server.store.transact(async (tx) => (await tx.held.heldPage(undefined, 1000)).map(({ event }) => event.id));
  const repositories = new Map(server.host.owners.map((owner) => [owner, server.host.repository(owner)]));
  return { evidence, repositories, served, held: new Set(held) };
}

function must(condition: boolean, sentence: string): void {
  if (!condition) throw new Error(sentence);
}

export function checkStep(act: Act, before: Sight, after: Sight, signed: readonly VerifiedEvent[]): void {
  must(isSettled(settle(after.evidence)), "something is left to settle");
  checkServed(before, after);
  checkKept(act, before, after);
  checkAligned(after);
  checkAuthorised(before, after, signed);
  if (act.kind === "wait") checkTime(before, after);
}

/** Nothing waiting is served; what came to be served is in order in some repository (grasp.md 6.5). */
export function checkServed(before: Sight, after: Sight): void {
  for (const id of after.served) must(!after.held.has(id), `${id} is served and held`);
  for (const { state, standing } of after.evidence.states) {
    if (standing !== "served" || before.served.has(state.id)) continue;
    const isInOrder = after.evidence.repositories.some(({ standing, aligned, objects, maintainers }) => {
      const isComplete = [...state.refs.values()].every((oid) => objects(oid) === "commit");
      const isReached = aligned !== undefined && (aligned.id === state.id || isNewer(aligned, state));
      return standing === "served" && isComplete && isReached && maintainers.confirmed.has(state.author);
    });
    must(isInOrder, `state ${state.id} is served and no repository has reached it`);
  }
  for (const { request, standing } of after.evidence.pullRequests) {
    if (standing !== "served" || before.served.has(request.id)) continue;
    const isPlaced = [...after.repositories.values()].some(
      ({ refs }) => refs.refs.get(`refs/nostr/${request.id}` as RefName) === request.tip,
    );
    must(isPlaced, `PR ${request.id} is served and its tip is nowhere`);
  }
}

/** A state stops being served only for a newer one of its author, and is kept then; a repository only when its state was deleted (grasp.md 6.6, 11.3). */
function checkKept(act: Act, before: Sight, after: Sight): void {
  const servedNow = after.evidence.states.filter(({ standing }) => standing === "served").map(({ state }) => state);
  for (const { state, standing } of before.evidence.states) {
    if (standing !== "served" || after.served.has(state.id) || act.kind === "erase") continue;
    must(after.held.has(state.id), `state ${state.id} was served and is lost`);
    must(
      servedNow.some((other) => other.author === state.author && isNewer(other, state)),
      `state ${state.id} is no longer served, and nothing newer of its author is`,
    );
  }
  for (const { owner, standing, aligned } of before.evidence.repositories) {
    if (standing !== "served" || after.repositories.get(owner)?.standing === "served") continue;
    must(
      aligned === undefined || !(after.served.has(aligned.id) || after.held.has(aligned.id)),
      `${owner} is closed, and its state is still here`,
    );
  }
}

/** What is served as state is what git serves (grasp.md 11.3), but for what partial pushes moved ahead (6.7). */
function checkAligned({ evidence, served }: Sight): void {
  for (const { owner, standing, aligned, refs, maintainers } of evidence.repositories) {
    const state = evidence.states.find((one) => one.state.id === aligned?.id)?.state;
    if (standing !== "served" || state === undefined || !maintainers.confirmed.has(state.author)) continue;
    const isServed = evidence.states.some(
      (one) => served.has(one.state.id) && one.state.author === state.author && !isNewer(state, one.state),
    );
    must(isServed, `${owner} is aligned to ${state.id}, and neither it nor a newer one of its author is served`);
    const records = evidence.overlay.filter(({ repo }) => repo.owner === owner);
    for (const record of records) {
      must(
        isNewer({ id: record.state, createdAt: record.stateCreatedAt }, state),
        `a record of ${record.state} is left in ${owner}, which has overtaken it`,
      );
    }
    if (records.length > 0) continue;
    const branches = [...refs.refs].filter(([ref]) => isBranch(ref));
    must(
      branches.length === state.refs.size && branches.every(([ref, oid]) => state.refs.get(ref) === oid),
      `${owner} is not aligned to ${state.id}`,
    );
  }
}

/** Every branch that moved was moved to what a state of the set declares, and every `refs/nostr/*` to the tip of its event. */
function checkAuthorised(before: Sight, after: Sight, signed: readonly VerifiedEvent[]): void {
  const states = signed.filter(({ kind }) => kind === STATE).map(readState);
  for (const [owner, { refs }] of after.repositories) {
    const old = before.repositories.get(owner)?.refs.refs ?? new Map();
    const confirmed = new Set(
      [before, after].flatMap(({ evidence }) => [
        ...(evidence.repositories.find((one) => one.owner === owner)?.maintainers.confirmed ?? []),
      ]),
    );
    for (const ref of new Set([...refs.refs.keys(), ...old.keys()])) {
      const to = refs.refs.get(ref);
      if (to === old.get(ref)) continue;
      const byState = states.some((state) => confirmed.has(state.author) && state.refs.get(ref) === to);
      const byRequest = signed.some(
        ({ id, tags }) => ref === `refs/nostr/${id}` && tags.some(([name, value]) => name === "c" && value === to),
      );
      must(byState || byRequest, `${ref} of ${owner} moved to ${to ?? "nothing"}, which nobody of its set declares`);
    }
  }
}

/** No ref of a served repository moves by time alone (grasp.md 4.7, 6.7). */
function checkTime(before: Sight, after: Sight): void {
  for (const [owner, { refs, standing }] of before.repositories) {
    if (standing !== "served") continue;
    const now = after.repositories.get(owner);
    must(now?.standing === "served" && now.refs.head === refs.head, `${owner} changed by time alone`);
    must(
      now?.refs.refs.size === refs.refs.size && [...refs.refs].every(([ref, oid]) => now.refs.refs.get(ref) === oid),
      `refs of ${owner} moved by time alone`,
    );
  }
}

/** grasp.md 7.8: what was pushed is visible at once, unless the push brought what a newer state was waiting for. */
export function checkPushed(state: RepoState, pushed: readonly RefName[], { refs, aligned }: FakeRepository): void {
  if (aligned !== undefined && isNewer(aligned, state)) return;
  for (const ref of pushed) must(refs.refs.get(ref) === state.refs.get(ref), `${ref} was pushed, and is not what ${state.id} declares`);
}

/** When everything has arrived, every repository has what the newest state of its set declares that can be satisfied at all. */
export function checkQuiet({ evidence }: Sight): void {
  for (const { owner, refs, maintainers } of evidence.repositories) {
    if (evidence.overlay.some(({ repo }) => repo.owner === owner)) continue;
    const [newest] = evidence.states
      .map(({ state }) => state)
      .filter(
        (state) => maintainers.confirmed.has(state.author) && state.flaw === undefined && (state.refs.size > 0 || state.author === owner),
      )
      .toSorted((a, b) => (isNewer(a, b) ? -1 : 1));
    if (newest === undefined) continue;
    const branches = [...refs.refs].filter(([ref]) => isBranch(ref));
    must(
      branches.length === newest.refs.size && branches.every(([ref, oid]) => newest.refs.get(ref) === oid),
      `${owner} has not reached ${newest.id}`,
    );
  }
}
