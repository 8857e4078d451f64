import { type Instant, plus, toUnixSeconds } from "../../src/base/time.ts";
import type { Oid } from "../../src/git/oid.ts";
import { clash } from "../../src/git/ref-map.ts";
import type { RefName } from "../../src/git/ref-name.ts";
import { withUpdates } from "../../src/git/ref-update.ts";
import type { Identifier } from "../../src/grasp/identifier.ts";
import { repoCoordinate } from "../../src/grasp/repo-id.ts";
import { type EventId, eventText, type PublicKey, type VerifiedEvent } from "../../src/nostr/event.ts";
import { ANNOUNCEMENT, PR, STATE } from "../../src/nostr/kinds.ts";
import { addressOf, wins } from "../../src/nostr/replaceable.ts";
import { tagValues } from "../../src/nostr/tags.ts";
import { authoritative, isIdleHere } from "../../src/settle/authoritative.ts";
import { isNewer } from "../../src/settle/evidence.ts";
import { settle } from "../../src/settle/settle.ts";
import { isSettled, type RepositorySettlement } from "../../src/settle/settlement.ts";
import { settlementBatch } from "../../src/settle/settlement-batch.ts";
import type { Batch, Change } from "../../src/store/batch.ts";
import type { HeldEvent, HeldWhat } from "../../src/store/held.ts";
import { MemoryStore } from "../../src/store/memory-store.ts";
import type { TestClock } from "../kit/test-clock.ts";
import { FakeGitHost } from "./fake-git-host.ts";
import { type Gathered, gather } from "./gather.ts";

/** The process died here: what was written stays, the rest never happened. */
export class Crash extends Error {}

/** Idempotent settling is done after one round; another one sees that. Where it takes more it would never end. */
const ROUNDS_MAX = 3;
const MINUTE_MS = 60_000;
/** grasp.md 6.2, 6.3. */
const WAIT_MS = 30 * MINUTE_MS;
const SOFT_MS = 24 * 60 * MINUTE_MS;
const EXPIRED_MS = 7 * 24 * 60 * MINUTE_MS;

/** The core of one server: the plain store, a git host made of sets, and settling whenever evidence changes. Its doors are methods. */
export class SimServer {
  readonly store = new MemoryStore();
  readonly host = new FakeGitHost();
  readonly #clock: TestClock;
  readonly identifier: Identifier;
  /** Writes to disk that are still to succeed before the process dies; `undefined`: it lives. */
  #writesLeft: number | undefined;

  #failing: PublicKey | undefined;

  constructor(clock: TestClock, identifier: Identifier) {
    this.#clock = clock;
    this.identifier = identifier;
  }

  evidence(): Promise<Gathered> {
    return gather(this.store, this.host, this.identifier, "reciprocal");
  }

  dieAfter(writes: number | undefined): void {
    this.#writesLeft = writes;
  }

  /** The transactions of this owner's repository fail from now on. */
  fail(owner: PublicKey | undefined): void {
    this.#failing = owner;
  }

  /** Takes an event as intake would, as far as it matters here: what is served or refused at once, what is held. */
  async publish(event: VerifiedEvent): Promise<boolean> {
    const what: HeldWhat = event.kind === ANNOUNCEMENT ? "announcement" : event.kind === STATE ? "state" : "pull-request";
    if (what === "state" && !(await this.evidence()).welcome.has(event.pubkey)) return false;
    const isTaken = await this.#commit(async (tx) => {
      const address = addressOf(event);
      const served = address === undefined ? undefined : await tx.incumbent(address);
      if ((await tx.serves(event.id)) || (served !== undefined && !wins(event, served))) return undefined;
      const older = what === "announcement" ? await tx.held.heldFor(event.pubkey, this.identifier) : [];
      const rivals = older.filter((held) => held.what === "announcement");
      if (rivals.some((held) => !wins(event, held.event))) return undefined;
      const gone = [...rivals.map((held) => held.event.id), ...(what === "announcement" && served !== undefined ? [served.id] : [])];
      const batch: Change[] = gone.map((id) => ({ kind: "remove", id }));
      // grasp.md 5.4: a replacement of a served announcement is served at once; everything else waits first.
      batch.push(what === "announcement" && served !== undefined ? this.#put(event) : this.#hold(event, what));
      return batch;
    });
    if (isTaken) await this.settle();
    return isTaken;
  }

  /** grasp.md 7.5, 7.8: pushes some refs of a state; what the policy would refuse is refused. Objects, then records, then refs: a crash between is finished. */
  async push(owner: PublicKey, id: EventId, refs: readonly RefName[]): Promise<boolean> {
    const evidence = await this.evidence();
    const state = evidence.states.find((one) => one.state.id === id && one.standing !== "superseded")?.state;
    const repository = evidence.repositories.find((one) => one.owner === owner);
    if (state === undefined || !repository?.maintainers.confirmed.has(state.author) || isIdleHere(state, repository)) return false;
    const base = authoritative(
      evidence.states.map((one) => one.state),
      repository,
    );
    if (base !== undefined && isNewer(base, state)) return false;
    const current = repository.refs.refs;
    const updates = refs.map((ref) => ({ ref, from: current.get(ref), to: state.refs.get(ref) })).filter(({ from, to }) => from !== to);
    const isOvertaken = (ref: RefName) =>
      evidence.overlay.some(
        (one) => one.repo.owner === owner && one.ref === ref && isNewer({ id: one.state, createdAt: one.stateCreatedAt }, state),
      );
    if (refs.some(isOvertaken) || clash([...current.keys(), ...withUpdates(current, updates).keys()]) !== undefined) return false;
    this.#write(() =>
      this.host.receive(
        owner,
        updates.flatMap(({ to }) => (to === undefined ? [] : [to])),
      ),
    );
    const repositoryName = repoCoordinate({ owner, identifier: this.identifier });
    const records = updates.map(({ ref, to }): Change => ({ kind: "overlay", repository: repositoryName, ref, value: to, state: id }));
    await this.#commit(() => records);
    this.#write(() => this.host.transact(owner, updates));
    await this.settle();
    return true;
  }

  /** A hunt brought these. */
  async deliver(owner: PublicKey, oids: readonly Oid[]): Promise<void> {
    this.#write(() => this.host.receive(owner, oids));
    await this.settle();
  }

  /** Its author deleted it: served, waiting or kept (grasp.md 11.1). */
  async erase(id: EventId): Promise<void> {
    await this.#commit(() => [{ kind: "remove", id }]);
    await this.settle();
  }

  /** What time takes: everything whose deadline has come, unless a ref rests on it. */
  async expire(): Promise<void> {
    const now = this.#clock.now();
    const keep = new Set(settle(await this.evidence()).keep);
    await this.#commit(async (tx) => {
      const due = (await tx.held.heldPage(undefined, 1000)).filter(
        ({ event, until }) => until !== undefined && until <= now && !keep.has(event.id),
      );
      return due.map((held) => expiryOf(held, now));
    });
    await this.settle();
  }

  /** Settles until nothing is left to do; also what a start does. */
  async settle(): Promise<void> {
    for (let round = 0; round < ROUNDS_MAX; round++) {
      const settlement = settle(await this.evidence());
      if (isSettled(settlement)) return;
      const aligned = new Set(settlement.repositories.filter((one) => this.#align(one)).map(({ owner }) => owner));
      await this.#commit(() => settlementBatch(settlement, (owner) => aligned.has(owner), this.#clock.now()));
      // grasp.md 6.6: what fails with unchanged evidence is tried again at the next change only.
      if (aligned.size < settlement.repositories.length) return;
    }
    throw new Error("settling does not come to an end");
  }

  /** What is retained is written before refs move, and what was aligned to after them. */
  #align({ owner, plan, format, aligned, turn, retain }: RepositorySettlement): boolean {
    if (owner === this.#failing) return false;
    const before = this.host.repository(owner);
    if (retain.length > 0) this.#write(() => this.host.write(owner, { retained: new Set([...before.retained, ...retain]) }));
    for (const updates of plan.transactions) {
      let isDone = false;
      this.#write(() => void (isDone = this.host.transact(owner, updates)));
      if (!isDone) return false;
    }
    const { refs, standing } = this.host.repository(owner);
    const head = plan.head?.to ?? refs.head;
    this.#write(() =>
      this.host.write(owner, {
        refs: { refs: refs.refs, head },
        format,
        aligned,
        standing: turn === undefined ? standing : turn === "opens" ? "served" : "waiting",
      }),
    );
    return true;
  }

  async #commit(
    decide: (tx: Parameters<Parameters<MemoryStore["transact"]>[0]>[0]) => Batch | undefined | Promise<Batch | undefined>,
  ): Promise<boolean> {
    return this.store.transact(async (tx) => {
      const batch = await decide(tx);
      if (batch === undefined) return false;
      // A commit that dies leaves nothing, as the store promises.
      this.#write(() => undefined);
      await tx.apply(batch);
      return true;
    });
  }

  #write(act: () => unknown): void {
    if (this.#writesLeft !== undefined && this.#writesLeft-- <= 0) {
      this.#writesLeft = undefined;
      throw new Crash("the process died");
    }
    act();
  }

  #put(event: VerifiedEvent): Change {
    return { kind: "put", event, text: eventText(event), expiresAt: undefined, provenance: { how: "direct" } };
  }

  #hold(event: VerifiedEvent, what: HeldWhat): Change {
    const now = this.#clock.now();
    const repositories = event.kind === PR ? tagValues(event, "a") : [];
    const text = eventText(event);
    return {
      kind: "hold",
      event,
      text,
      what,
      repositories,
      heldAt: now,
      until: plus(now, WAIT_MS),
      expiresAt: undefined,
      provenance: { how: "direct" },
    };
  }

  get now() {
    return toUnixSeconds(this.#clock.now());
  }
}

/** grasp.md 6.2, 6.3, 11.3. */
function expiryOf({ event, what, stage }: HeldEvent, now: Instant): Change {
  const { id } = event;
  if (stage !== "waiting") return { kind: "release", id, from: stage };
  if (what === "announcement") return { kind: "restage", id, from: stage, stage: "soft-expired", until: plus(now, SOFT_MS) };
  return { kind: "restage", id, from: stage, stage: "expired", until: plus(now, EXPIRED_MS) };
}
