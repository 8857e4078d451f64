import { lstatSync, readdirSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { sign } from "../../../test/kit/event-builder.ts";
import { GitRig, git, oid, ref } from "../../../test/kit/git-rig.ts";
import { alice, bob, carol, mallory } from "../../../test/kit/keys.ts";
import {
  announce,
  coordinateOf,
  NAME,
  pullRequest,
  repoOf,
  SettleWorld,
  state,
  type WorldOptions,
} from "../../../test/kit/settle-world.ts";
import { Objects } from "../../git/io/objects.ts";
import { type Identifier, readIdentifier } from "../../grasp/identifier.ts";
import type { EventId } from "../../nostr/event.ts";
import { encodeNpub } from "../../nostr/npub.ts";
import type { Alignment, RepositoryHost } from "../../settle/ports.ts";
import type { GitRepositoryHost } from "./repository-host.ts";

let rig: GitRig;
let world: SettleWorld;
let count = 0;
beforeAll(async () => {
  rig = await GitRig.open();
});
afterAll(() => rig[Symbol.asyncDispose]());
beforeEach(() => {
  world = open();
});
afterEach(() => world[Symbol.asyncDispose]());

function open(more: Partial<WorldOptions> = {}, directory = rig.path(`w${count++}`)): SettleWorld {
  return new SettleWorld(directory, { processes: rig.processes, clock: rig.clock, ...more });
}
async function reopen(more: Partial<WorldOptions>): Promise<void> {
  await world[Symbol.asyncDispose]();
  world = open(more);
}

/** Alice announced, said `main` is at a commit that is here, and it was settled. */
async function served() {
  const announcement = announce(alice);
  const tip = await world.commit(alice, "one");
  const first = state(alice, { "refs/heads/main": tip });
  await world.hold(announcement, first);
  await world.settle();
  return { announcement, tip, first };
}

it("holds until the objects are there, then moves refs, then serves (grasp.md 6.5, 6.6)", async () => {
  const announcement = announce(alice);
  await world.hold(announcement);
  await world.settle();
  expect(readdirSync(world.data), "5.5: nothing is made before it is needed").toEqual([]);
  const tip = await world.commit(alice, "one");
  const tag = git(["mktag"], {
    cwd: world.host.house.directoryOf(repoOf(alice)),
    input: `object ${tip}\ntype commit\ntag v1\ntagger alice <alice@example.com> 1700000000 +0000\n\nv1\n`,
  });
  const missing = "a".repeat(40);
  const early = state(alice, { "refs/heads/main": tip, "refs/heads/next": missing }, 1_900);
  await world.hold(early);
  expect(await world.settle()).toMatchObject({ unaligned: [] });
  expect(world.refs(alice)).toEqual({});
  expect(await world.serves(early)).toBe(false);

  const whole = state(alice, { "refs/heads/main": tip, "refs/tags/v1": tag });
  await world.hold(whole);
  const settled = await world.settle();
  expect([...settled.promoted].sort()).toEqual([announcement.id, whole.id].sort());
  expect(world.refs(alice)).toEqual({ "refs/heads/main": tip, "refs/tags/v1": tag });
  expect(git(["symbolic-ref", "HEAD"], { cwd: world.host.house.directoryOf(repoOf(alice)) })).toBe("refs/heads/main");
  expect([await world.serves(whole), await world.serves(announcement), world.stage(early)]).toEqual([true, true, undefined]);
  expect(Object.fromEntries(await world.host.peeled(repoOf(alice)))).toEqual({ [tag]: tip });
  const feed = await world.feed();
  expect(feed.filter((line) => line.startsWith("served")).toSorted()).toEqual(
    [`served ${announcement.id}`, `served ${whole.id}`].toSorted(),
  );
  const commits = world.commits;
  expect(await world.settle(), "asking again changes nothing").toMatchObject({ promoted: new Set(), unaligned: [] });
  expect([world.commits, world.faults]).toEqual([commits, []]);
});

it("a repository has a pool, a relative line to it, and a name for people (grasp.md 7.1, 7.13)", async () => {
  const { tip } = await served();
  const link = join(world.data, encodeNpub(repoOf(alice).owner), `${NAME}.git`);
  expect(lstatSync(link).isSymbolicLink()).toBe(true);
  expect(readlinkSync(link)).toMatch(/^\.\.\/repositories\//);
  expect(git(["rev-parse", "HEAD"], { cwd: link })).toBe(tip);
  const own = git(["count-objects"], { cwd: link });
  expect(own, "objects are in the pool").toMatch(/^0 objects/);
  expect(git(["fsck", "--strict"], { cwd: link })).toBe("");
});

it("what a partial push moved stays ahead, and HEAD follows it (grasp.md 6.7)", async () => {
  const { tip, first } = await served();
  const next = await world.commit(alice, "two", [tip]);
  const second = state(alice, { "refs/heads/dev": next, "refs/heads/later": "b".repeat(40) }, 2_100, "refs/heads/dev");
  await world.hold(second);
  const record = { repository: coordinateOf(alice), ref: ref("refs/heads/dev"), value: next, state: second.id as EventId };
  await world.apply([{ kind: "overlay", ...record }]);
  const settled = await world.settle();
  expect(settled.keep).toContain(second.id);
  expect(world.refs(alice)).toEqual({ "refs/heads/main": tip, "refs/heads/dev": next });
  const head = () => git(["symbolic-ref", "HEAD"], { cwd: world.host.house.directoryOf(repoOf(alice)) });
  expect([head(), await world.serves(first), await world.serves(second)]).toEqual(["refs/heads/dev", true, false]);
  await world.apply([{ kind: "remove", id: second.id as EventId }]);
  await world.settle();
  expect(world.refs(alice), "it was deleted, so its records count no more").toEqual({ "refs/heads/main": tip });
  expect(head()).toBe("refs/heads/main");
});

it("deleting the active state brings back the one before, and the last closes the repository (grasp.md 11.3)", async () => {
  const { announcement, tip, first } = await served();
  const next = await world.commit(alice, "two", [tip]);
  const second = state(alice, { "refs/heads/main": next }, 2_100);
  await world.hold(second);
  await world.settle();
  expect([world.refs(alice), world.stage(first)]).toEqual([{ "refs/heads/main": next }, "superseded"]);
  await world.apply([{ kind: "remove", id: second.id as EventId }]);
  await world.settle();
  expect([world.refs(alice), await world.serves(first)]).toEqual([{ "refs/heads/main": tip }, true]);
  await world.host.locked(repoOf(alice), async ({ now: { settled } }) => {
    expect(settled).toMatchObject({ standing: "served", aligned: { id: first.id } });
    expect([...settled.retained.keys()], "6.6: what was reachable before is retained").toEqual([next]);
  });
  await world.apply([{ kind: "remove", id: first.id as EventId }]);
  // At a start: nothing of it waits, but its state is gone.
  await world.service.settleAll();
  expect([await world.serves(announcement), world.stage(announcement)]).toEqual([false, "waiting"]);
  expect(await world.host.read(repoOf(alice))).toMatchObject({ standing: "waiting" });
});

it("two owners of one project share objects, a stranger with the same name gets none (grasp.md 4.5, 6.6, 7.13)", async () => {
  const theirs = [announce(alice, [bob]), announce(bob, [alice]), announce(mallory, [alice, bob])];
  await world.hold(...theirs);
  const tip = await world.commit(alice, "one");
  const first = state(bob, { "refs/heads/main": tip });
  await world.hold(first);
  await world.settle();
  expect([world.refs(alice), world.refs(bob)]).toEqual([{ "refs/heads/main": tip }, { "refs/heads/main": tip }]);
  const [one, other, stranger] = await Promise.all([alice, bob, mallory].map((who) => world.host.house.find(repoOf(who))));
  expect(one?.home).toBe(other?.home);
  expect(stranger).toBeUndefined();
  expect(await Promise.all([...theirs, first].map((event) => world.serves(event)))).toEqual([true, true, false, true]);
  const mine = state(mallory, { "refs/heads/main": tip }, 9_000);
  await world.hold(mine);
  await world.settle();
  expect([await world.serves(mine), world.refs(alice)]).toEqual([false, { "refs/heads/main": tip }]);
});

it("an announcement that a state rests on is promoted without a repository if need be (grasp.md 4.7, 5.3)", async () => {
  await reopen({ isHosted: ({ owner }) => owner === alice.pubkey });
  const theirs = [announce(alice, [bob]), announce(bob, [alice])];
  const tip = await world.commit(alice, "one");
  const first = state(bob, { "refs/heads/main": tip });
  await world.hold(...theirs, first);
  await world.settle();
  expect(await Promise.all([...theirs, first].map((event) => world.serves(event)))).toEqual([true, true, true]);
  expect(world.refs(alice)).toEqual({ "refs/heads/main": tip });
  expect(await world.host.house.find(repoOf(bob))).toBeUndefined();
});

it("the tip of a PR is placed at refs/nostr/<id>, then it is served (grasp.md 6.9)", async () => {
  const { tip } = await served();
  const proposal = pullRequest(carol, alice, "c".repeat(40));
  await world.hold(proposal);
  await world.settle();
  expect(await world.serves(proposal)).toBe(false);
  const there = await world.commit(alice, "proposed", [tip]);
  const good = pullRequest(carol, alice, there);
  await world.hold(good);
  await world.settle();
  expect(world.refs(alice)).toEqual({ "refs/heads/main": tip, [`refs/nostr/${good.id}`]: there });
  expect(await world.serves(good)).toBe(true);
});

it("where a name becomes a directory of another, refs still move in one settlement (grasp.md 6.8)", async () => {
  const { tip } = await served();
  const second = state(alice, { "refs/heads/main/deep": tip }, 2_100, "refs/heads/main/deep");
  await world.hold(second);
  await world.settle();
  expect([world.refs(alice), await world.serves(second)]).toEqual([{ "refs/heads/main/deep": tip }, true]);
});

it("sha256: the format is that of the first satisfied state (grasp.md 6.4)", async () => {
  const tip = await world.commit(alice, "one", [], "sha256");
  await world.hold(announce(alice), state(alice, { "refs/heads/main": tip }));
  await world.settle();
  expect([world.refs(alice), (await world.host.read(repoOf(alice))).format]).toEqual([{ "refs/heads/main": tip }, "sha256"]);
  const other = state(alice, { "refs/heads/main": "d".repeat(40) }, 2_100);
  await world.hold(other);
  await world.settle();
  expect([await world.serves(other), world.faults]).toEqual([false, []]);
});

/** A host whose refs somebody else moves just before they are aligned. */
function meddled(meddle: (host: GitRepositoryHost, n: number) => void): Pick<WorldOptions, "wrap"> {
  let n = 0;
  return {
    wrap: (host): RepositoryHost => ({
      read: (repo) => host.read(repo),
      lookUp: (repo, mates, oids) => host.lookUp(repo, mates, oids),
      aligned: () => host.aligned(),
      align: (repo, alignment) => {
        meddle(host, n++);
        return host.align(repo, alignment);
      },
    }),
  };
}
const update = (host: GitRepositoryHost, ...args: readonly string[]) =>
  git(["update-ref", ...args], { cwd: host.house.directoryOf(repoOf(alice)) });

it("a push that comes while evidence is gathered is never undone (grasp.md 6.7)", async () => {
  const plans: Alignment[] = [];
  let push: (() => Promise<void>) | undefined;
  await reopen({
    wrap: (host): RepositoryHost => ({
      read: async (repo) => {
        const found = await host.read(repo);
        const pushing = push;
        push = undefined;
        await pushing?.();
        return found;
      },
      lookUp: (repo, mates, oids) => host.lookUp(repo, mates, oids),
      aligned: () => host.aligned(),
      align: (repo, alignment) => {
        plans.push(alignment);
        return host.align(repo, alignment);
      },
    }),
  });
  const { tip } = await served();
  const next = await world.commit(alice, "two", [tip]);
  const second = state(alice, { "refs/heads/main": next, "refs/heads/later": "b".repeat(40) }, 2_100);
  await world.hold(second);
  plans.length = 0;
  const main = ref("refs/heads/main");
  push = async () => {
    await world.apply([{ kind: "overlay", repository: coordinateOf(alice), ref: main, value: next, state: second.id as EventId }]);
    await world.host.locked(repoOf(alice), (repository) => repository.apply({ updates: [{ ref: main, from: tip, to: next }] }));
  };
  await world.settle();
  expect([world.refs(alice), world.faults]).toEqual([{ "refs/heads/main": next }, []]);
  expect(plans.flatMap(({ plan }) => plan.transactions.flat()).filter(({ to }) => to === tip)).toEqual([]);
});

it("refs that moved after they were read: gathered again, then aligned (grasp.md 6.6)", async () => {
  let stray = "";
  await reopen(meddled((host, n) => n === 0 && update(host, "refs/heads/main", stray)));
  const tip = await world.commit(alice, "one");
  stray = await world.commit(alice, "stray");
  const first = state(alice, { "refs/heads/main": tip });
  await world.hold(announce(alice), first);
  expect((await world.settle()).unaligned).toEqual([]);
  expect([world.refs(alice), await world.serves(first), world.faults]).toEqual([{ "refs/heads/main": tip }, true, []]);
});

it("what fails twice with unchanged evidence is reported, promotes nothing, and is tried again at the next change (grasp.md 6.6)", async () => {
  let isBroken = true;
  let tries = 0;
  await reopen(
    meddled(() => {
      tries += 1;
      if (isBroken) throw new Error("the disk is gone");
    }),
  );
  const announcement = announce(alice);
  const first = state(alice, { "refs/heads/main": await world.commit(alice, "one") });
  await world.hold(announcement, first);
  expect(await world.settle()).toMatchObject({ promoted: new Set(), unaligned: [alice.pubkey] });
  expect([tries, world.faults]).toEqual([2, ["aligning a repository: Error: the disk is gone"]]);
  expect([await world.serves(first), await world.serves(announcement), world.commits]).toEqual([false, false, 0]);
  isBroken = false;
  expect((await world.settle()).promoted.size).toBe(2);
});

it("somebody who never stops writing ends it as a fault, not as a loop", async () => {
  const strays: string[] = [];
  await reopen(meddled((host, n) => update(host, "refs/heads/main", strays[n % 2] as string)));
  const tip = await world.commit(alice, "one");
  for (const name of ["x", "y"]) strays.push(await world.commit(alice, name));
  await world.hold(announce(alice), state(alice, { "refs/heads/main": tip }));
  expect((await world.settle()).unaligned).toEqual([alice.pubkey]);
  expect(world.faults).toHaveLength(1);
});

it("one running, one queued: many calls are two settlements, and the last one has seen everything", async () => {
  const tip = await world.commit(alice, "one");
  await world.hold(announce(alice), state(alice, { "refs/heads/main": tip }));
  const running = world.settle();
  const late = sign(alice, {
    kind: 30_618,
    created_at: 2_500,
    tags: [
      ["d", NAME],
      ["refs/heads/dev", tip],
    ],
  });
  const holding = world.hold(late);
  const queued = [world.settle(), world.settle(), world.settle()];
  expect(new Set(queued).size).toBe(1);
  expect(queued[0]).not.toBe(running);
  await Promise.all([running, holding, ...queued]);
  expect([world.refs(alice), await world.serves(late), world.service.size]).toEqual([{ "refs/heads/dev": tip }, true, 0]);
});

it("a mark in the store is settled at a start and then done", async () => {
  await served();
  const repository = coordinateOf(alice);
  await world.apply([{ kind: "intend", repository, plan: "{}" }]);
  await world.service.settleAll();
  expect(world.store.held.intents()).toEqual([]);
});

it("objects that refs name are known without asking git again", async () => {
  const { tip } = await served();
  const asking = vi.spyOn(Objects.prototype, "look");
  await world.settle();
  expect([...(await world.host.lookUp(repoOf(alice), [], [tip]))]).toEqual([[tip, "commit"]]);
  expect(asking).not.toHaveBeenCalled();
  expect([...(await world.host.lookUp(repoOf(alice), [], [oid("e".repeat(40))]))]).toEqual([]);
  expect(asking).toHaveBeenCalledOnce();
});

it("a repository that cannot be read is reported and left alone, and holds up nobody of the same name", async () => {
  const { tip, first } = await served();
  const bobs = announce(bob);
  await world.hold(bobs, state(bob, { "refs/heads/main": await world.commit(bob, "other") }));
  const directory = world.host.house.directoryOf(repoOf(alice));
  writeFileSync(join(directory, "settled.json"), "{");
  const path = world.data.slice(0, -"/git".length);
  await world[Symbol.asyncDispose]();
  world = open({}, path);
  expect(await world.settle()).toMatchObject({ unaligned: [alice.pubkey] });
  expect(world.faults).toHaveLength(1);
  expect([await world.serves(bobs), await world.serves(first), world.refs(alice)]).toEqual([true, true, { "refs/heads/main": tip }]);
});

it("more names than are settled at once are all settled", async () => {
  const names = Array.from({ length: 20 }, (_, n) => readIdentifier(`name-${n}`) as Identifier);
  const settled = await Promise.all(names.map((name) => world.service.settle(name)));
  expect(settled.every(({ unaligned }) => unaligned.length === 0)).toBe(true);
  expect(world.service.size).toBe(0);
});

it("a repository that nothing was ever in goes, or gets another format; one with refs does neither (grasp.md 6.2, 6.4)", async () => {
  await world.commit(alice, "one", [], "sha1");
  const early = await world.host.house.find(repoOf(alice));
  const tip = await world.commit(alice, "one", [], "sha256");
  const late = await world.host.house.find(repoOf(alice));
  expect([early?.format, late?.format, early?.home === late?.home]).toEqual(["sha1", "sha256", false]);
  await world.hold(announce(alice), state(alice, { "refs/heads/main": tip }));
  await world.settle();
  expect(world.refs(alice)).toEqual({ "refs/heads/main": tip });
  await expect(world.make(alice, "sha1")).rejects.toMatchObject({ fault: { kind: "protocol" } });
  expect(await world.host.removeUnused(repoOf(alice))).toBe(false);

  await world.make(bob);
  expect([await world.host.removeUnused(repoOf(bob)), await world.host.removeUnused(repoOf(bob))]).toEqual([true, false]);
  expect(await world.host.house.find(repoOf(bob))).toBeUndefined();
  expect(readdirSync(world.data).filter((name) => name.startsWith("npub"))).toEqual([encodeNpub(repoOf(alice).owner)]);
  expect((await world.make(bob)).format).toBe("sha1");
});
