import type { ObjectFormat, Oid } from "../../src/git/oid.ts";
import { clash, EMPTY_REFS, type RefMap } from "../../src/git/ref-map.ts";
import { type RefUpdate, withUpdates } from "../../src/git/ref-update.ts";
import type { PublicKey } from "../../src/nostr/event.ts";
import type { Dated } from "../../src/settle/evidence.ts";

/** A repository as sets of ids and refs. Nothing is inside an object: what is here is here with its closure. */
export interface FakeRepository {
  readonly refs: RefMap;
  readonly objects: ReadonlySet<Oid>;
  readonly format: ObjectFormat | undefined;
  readonly standing: "served" | "waiting";
  readonly aligned: Dated | undefined;
  /** What is kept reachable though no ref names it any more. */
  readonly retained: ReadonlySet<Oid>;
}

const EMPTY: FakeRepository = {
  refs: EMPTY_REFS,
  objects: new Set(),
  format: undefined,
  standing: "waiting",
  aligned: undefined,
  retained: new Set(),
};

/** The git half of one server: what is written here survives a crash. Repositories come into being on first need. */
export class FakeGitHost {
  readonly #repositories = new Map<PublicKey, FakeRepository>();

  repository(owner: PublicKey): FakeRepository {
    return this.#repositories.get(owner) ?? EMPTY;
  }

  get owners(): readonly PublicKey[] {
    return [...this.#repositories.keys()];
  }

  receive(owner: PublicKey, oids: Iterable<Oid>): void {
    this.write(owner, { objects: new Set([...this.repository(owner).objects, ...oids]) });
  }

  /** As git does it: every expected value must be there, every object too, and names must stand together; otherwise nothing happens. */
  transact(owner: PublicKey, updates: readonly RefUpdate[]): boolean {
    const { refs, objects } = this.repository(owner);
    const isExpected = updates.every(({ ref, from, to }) => refs.refs.get(ref) === from && (to === undefined || objects.has(to)));
    const after = withUpdates(refs.refs, updates);
    // A transaction takes names that stand against those it deletes only when they are gone before it.
    if (!isExpected || clash([...refs.refs.keys(), ...after.keys()]) !== undefined) return false;
    this.write(owner, { refs: { refs: after, head: refs.head } });
    return true;
  }

  write(owner: PublicKey, more: Partial<FakeRepository>): void {
    this.#repositories.set(owner, { ...this.repository(owner), ...more });
  }
}
