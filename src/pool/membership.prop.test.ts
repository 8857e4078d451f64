import fc from "fast-check";
import { expect, test } from "vitest";
import { instant } from "../base/time.ts";
import type { Identifier } from "../grasp/identifier.ts";
import type { PublicKey } from "../nostr/event.ts";
import type { PoolId, RepositoryKey } from "./layout.ts";
import { copiedHome, decideMoves, type Housed, linesOf, moved, shareKey, unreadPools } from "./membership.ts";

const NAMES = ["a", "b", "c", "d", "e"];
const keyOf = (name: string): PublicKey => name.repeat(64) as PublicKey;
const poolOf = (n: number): PoolId => n.toString(16).padStart(32, "0") as PoolId;

/** A world of five owners of one identifier, each in a pool of its own. */
class World {
  repositories: readonly Housed[] = NAMES.map((name, i) => ({
    repository: name.repeat(64) as RepositoryKey,
    owner: keyOf(name),
    identifier: "x" as Identifier,
    format: "sha1",
    confirmed: new Set([keyOf(name)]),
    apart: false,
    home: poolOf(i),
    borrows: [],
    copiedOutAt: undefined,
  }));
  #pools = NAMES.length;
  /** The objects in each pool, and those that each repository needs. */
  readonly content = new Map<PoolId, Set<string>>(this.repositories.map((r) => [r.home, new Set()]));
  readonly needs = new Map<RepositoryKey, string[]>(this.repositories.map((r) => [r.repository, []]));

  /** A push: one new object, written where it belongs now. */
  push(index: number): void {
    const r = this.repositories[index] as Housed;
    const needed = this.needs.get(r.repository) ?? [];
    needed.push(`${r.repository[0]}${needed.length}`);
    this.content.get(r.home)?.add(needed.at(-1) as string);
  }
  reads(r: Housed): ReadonlySet<string> {
    return new Set(linesOf(r).flatMap((pool) => [...(this.content.get(pool) ?? [])]));
  }
  change(index: number, change: Partial<Housed>): void {
    this.repositories = this.repositories.map((r, i) => (i === index ? { ...r, ...change } : r));
  }
  sizes(): ReadonlyMap<PoolId, number> {
    return new Map([...this.content].map(([pool, held]) => [pool, held.size]));
  }
  settle(): number {
    const moves = decideMoves(this.repositories, this.sizes());
    const fresh = new Map<number, PoolId>();
    for (const { repository, why, to } of moves) {
      let pool = to.kind === "pool" ? to.pool : fresh.get(to.number);
      if (pool === undefined) {
        pool = poolOf(this.#pools++);
        if (to.kind === "fresh") fresh.set(to.number, pool);
        this.content.set(pool, new Set());
      }
      const target = pool;
      this.repositories = this.repositories.map((r) => (r.repository === repository ? moved(r, target, why) : r));
    }
    for (const pool of unreadPools(this.content.keys(), this.repositories)) this.content.delete(pool);
    return moves.length;
  }
  copy(index: number): void {
    const r = this.repositories[index] as Housed;
    for (const object of this.needs.get(r.repository) ?? []) if (this.reads(r).has(object)) this.content.get(r.home)?.add(object);
    this.change(index, copiedHome(r, r, instant(1)));
  }
}

const change = fc.record({
  who: fc.nat(NAMES.length - 1),
  set: fc.subarray(NAMES),
  apart: fc.boolean(),
  pushes: fc.nat(NAMES.length - 1),
  copies: fc.array(fc.nat(NAMES.length - 1), { maxLength: 3 }),
});

test("grasp.md 7.13: after every change, one pool is written only by those who may share it, and nobody loses an object", () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 40 }), (changes) => {
      const world = new World();
      for (const { who, set, apart, copies, pushes } of changes) {
        world.change(who, { confirmed: new Set(set.map(keyOf)), apart });
        world.settle();
        expect(world.settle(), "asking twice moves nobody").toBe(0);
        for (const a of world.repositories) {
          expect(linesOf(a).length).toBe(new Set(linesOf(a)).size);
          // Three lines at most when it joined, and one for each of the others that it may be parted from.
          expect(a.borrows.length).toBeLessThanOrEqual(3 + NAMES.length - 1);
          expect([...world.reads(a)]).toEqual(expect.arrayContaining(world.needs.get(a.repository) ?? []));
          for (const b of world.repositories) {
            if (a === b) continue;
            if (a.home === b.home) expect(shareKey(a) !== undefined && shareKey(a) === shareKey(b)).toBe(true);
            if (a.apart) expect(linesOf(b)).not.toContain(a.home);
          }
        }
        for (const index of copies) world.copy(index);
        world.push(pushes);
      }
    }),
    { seed: 7130, numRuns: 400 },
  );
});

test("grasp.md 7.13: when everything was copied, each project is stored once and has one line", () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 20 }), (changes) => {
      const world = new World();
      for (const { who, set, apart, pushes } of changes) {
        world.change(who, { confirmed: new Set(set.map(keyOf)), apart });
        world.settle();
        world.push(pushes);
      }
      for (let round = 0; round < 3; round++) {
        for (const index of NAMES.keys()) world.copy(index);
        world.settle();
      }
      for (const index of NAMES.keys()) world.copy(index);
      expect(world.settle()).toBe(0);
      for (const a of world.repositories) {
        expect(linesOf(a)).toHaveLength(1);
        for (const b of world.repositories)
          expect(a.home === b.home).toBe(a === b || (shareKey(a) !== undefined && shareKey(a) === shareKey(b)));
      }
    }),
    { seed: 7131, numRuns: 300 },
  );
});

test("the order in which repositories are given does not matter", () => {
  fc.assert(
    fc.property(
      fc.array(change, { maxLength: 10 }),
      fc.shuffledSubarray([...NAMES.keys()], { minLength: NAMES.length }),
      (changes, order) => {
        const world = new World();
        for (const { who, set, apart } of changes) {
          world.change(who, { confirmed: new Set(set.map(keyOf)), apart, home: poolOf(set.length) });
        }
        const shuffled = order.map((i) => world.repositories[i] as Housed);
        expect(decideMoves(shuffled, world.sizes())).toEqual(decideMoves(world.repositories, world.sizes()));
      },
    ),
    { seed: 7132, numRuns: 200 },
  );
});
