import { describe, expect, test } from "vitest";
import { fakeId, fakeKey } from "../../test/kit/arbitrary/fake-event.ts";
import { type Instant, instant, plus, unixSeconds } from "../base/time.ts";
import type { Oid } from "../git/oid.ts";
import type { EventId } from "../nostr/event.ts";
import { ledgerMachine } from "./ledger.ts";
import { type Effect, EMPTY_LEDGER, type Input, type Ledger, type Standing } from "./ledger-state.ts";
import { LIFETIMES, type Lifetimes } from "./lifetimes.ts";
import type { ProjectKey, Waiting, WaitingAnnouncement, WaitingPullRequest, WaitingState, WaitingTip } from "./waiting.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const [alice, bob] = [fakeKey("alice"), fakeKey("bob")];
const [hold, fast] = ["hold", "fast"] as unknown as [ProjectKey, ProjectKey];

/** A ledger in a world where nothing happens but time and what the test says; it is woken whenever it asks for it. */
class World {
  ledger: Ledger = EMPTY_LEDGER;
  now: Instant = instant(1_000_000_000_000);
  effects: Effect[] = [];
  readonly #machine;

  constructor(limits: Partial<Lifetimes> = {}) {
    this.#machine = ledgerMachine({ ...LIFETIMES, ...limits });
  }

  /** What this input makes happen at once. */
  tell(input: Input): readonly Effect[] {
    const step = this.#machine.step(this.ledger, input, this.now);
    this.ledger = step.state;
    this.effects.push(...step.effects);
    return step.effects;
  }

  /** What happens while so much time passes. */
  pass(ms: number): readonly Effect[] {
    const before = this.effects.length;
    const end = plus(this.now, ms);
    for (let wakes = 0; ; wakes++) {
      const at = this.#machine.wakeAt(this.ledger);
      if (at === undefined || at > end) break;
      expect(wakes, "it wakes itself for ever").toBeLessThan(10_000);
      this.now = at > this.now ? at : this.now;
      const step = this.#machine.step(this.ledger, { kind: "wake" }, this.now);
      this.ledger = step.state;
      this.effects.push(...step.effects);
    }
    this.now = end;
    return this.effects.slice(before);
  }

  hold(waiting: Waiting): readonly Effect[] {
    return this.tell({ kind: "held", waiting });
  }

  where(id: EventId): string {
    if (this.ledger.waiting.has(id)) return "waiting";
    if (this.ledger.soft.has(id)) return "soft-expired";
    return this.ledger.remembered.has(id) ? "remembered" : "gone";
  }

  /** The process dies and comes back: time passes, nothing is woken. */
  down(ms: number): readonly Effect[] {
    this.now = plus(this.now, ms);
    return this.tell({ kind: "started", downMs: ms });
  }
}

const announcement = (n: number, more: Partial<WaitingAnnouncement> = {}): WaitingAnnouncement => ({
  what: "announcement",
  id: fakeId(n),
  author: alice,
  createdAt: unixSeconds(n),
  projects: [hold],
  repository: "30617:alice:hold",
  ...more,
});
const state = (n: number, more: Partial<WaitingState> = {}): WaitingState => ({
  what: "state",
  id: fakeId(n),
  author: alice,
  createdAt: unixSeconds(n),
  projects: [hold],
  invited: false,
  overlaid: false,
  ...more,
});
const pr = (n: number, more: Partial<WaitingPullRequest> = {}): WaitingPullRequest => ({
  what: "pull-request",
  id: fakeId(n),
  author: bob,
  createdAt: unixSeconds(n),
  projects: [hold],
  repositories: ["30617:alice:hold"],
  ...more,
});
const tip = (n: number, digit = "1", repository = "30617:alice:hold"): WaitingTip => ({
  repository,
  id: fakeId(n),
  tip: digit.repeat(40) as Oid,
});
const standing = (id: EventId, more: Partial<Standing> = {}): Standing => ({
  id,
  projects: [hold],
  invited: false,
  overlaid: false,
  ...more,
});
const settled = (more: Partial<Omit<Extract<Input, { kind: "settled" }>, "kind">>): Input => ({
  kind: "settled",
  promoted: [],
  dropped: [],
  standing: [],
  ...more,
});
const life: Input = { kind: "sign-of-life", repositories: ["30617:alice:hold"] };
const kinds = (effects: readonly Effect[]): string[] => effects.map((effect) => effect.kind);

describe("lifetimes (grasp.md 6.2)", () => {
  test.each([state(1), pr(1)])("a $what waits 30 minutes, then it expires and is remembered", (waiting) => {
    const world = new World();
    world.hold(waiting);
    expect(world.pass(30 * MINUTE - 1)).toEqual([]);
    const until = plus(world.now, 1 + 7 * DAY);
    expect(world.pass(1)).toEqual([
      { kind: "expire", id: waiting.id, until },
      { kind: "need", project: hold, why: "expired" },
    ]);
    expect(world.where(waiting.id)).toBe("remembered");
  });

  test("an announcement becomes soft-expired after 30 minutes, its repository goes, and it is forgotten 24 h later", () => {
    const world = new World();
    const { id, repository } = announcement(1);
    expect(world.hold(announcement(1))).toEqual([]);
    expect(world.pass(30 * MINUTE - 1)).toEqual([]);
    expect(world.pass(1)).toEqual([{ kind: "soft-expire", id, repository, until: plus(world.now, DAY) }]);
    expect(world.pass(DAY - 1)).toEqual([]);
    // 6.3: expired announcements are not remembered after their 24 h.
    expect(world.pass(1)).toEqual([{ kind: "forget", id, from: "soft-expired" }]);
    expect(world.where(id)).toBe("gone");
  });

  test("time that we were down does not count", () => {
    const world = new World();
    world.hold(state(1));
    world.hold(announcement(2));
    world.tell({ kind: "staged", tip: tip(3) });
    world.pass(10 * MINUTE);
    expect(world.down(3 * DAY)).toEqual([
      { kind: "shift", byMs: 3 * DAY },
      { kind: "need", project: hold, why: "started" },
    ]);
    world.tell({ kind: "round-ended", project: hold });
    expect(world.pass(10 * MINUTE - 1)).toEqual([]);
    expect(kinds(world.pass(1))).toEqual(["unstage"]);
    expect(world.pass(10 * MINUTE - 1)).toEqual([]);
    expect(kinds(world.pass(1))).toEqual(["expire", "soft-expire", "need"]);
  });

  test("a clock that was set back takes no time away", () => {
    const world = new World();
    world.hold(state(1));
    expect(kinds(world.tell({ kind: "started", downMs: -5 * HOUR }))).toEqual(["need"]);
    expect(world.ledger.waiting.get(fakeId(1))?.until).toBe(plus(world.now, 30 * MINUTE));
  });

  test("nothing expires before one full hunting round after a start", () => {
    const world = new World();
    world.hold(state(1));
    world.hold(state(2, { projects: [fast] }));
    world.hold(pr(3, { projects: [hold, fast] }));
    world.pass(29 * MINUTE);
    world.down(HOUR);
    expect(world.pass(2 * MINUTE)).toEqual([]);
    world.tell({ kind: "round-ended", project: hold });
    expect(kinds(world.pass(1))).toEqual(["expire", "need"]);
    expect([1, 2, 3].map((n) => world.where(fakeId(n)))).toEqual(["remembered", "waiting", "waiting"]);
    world.tell({ kind: "round-ended", project: fast });
    world.pass(1);
    expect([2, 3].map((n) => world.where(fakeId(n)))).toEqual(["remembered", "remembered"]);
  });

  test("a fetch of the process before keeps nothing after a start", () => {
    const world = new World();
    world.hold(state(1));
    world.tell({ kind: "fetch-began", fetch: "f1", projects: [hold] });
    world.pass(29 * MINUTE);
    world.down(HOUR);
    world.tell({ kind: "round-ended", project: hold });
    expect(kinds(world.pass(MINUTE))).toEqual(["expire", "need"]);
  });

  test("a project that has no round is waited for as long as anything waits, not for ever", () => {
    const world = new World();
    world.hold(announcement(1));
    world.pass(29 * MINUTE);
    world.down(HOUR);
    expect(world.pass(30 * MINUTE - 1)).toEqual([]);
    expect(kinds(world.pass(1))).toEqual(["soft-expire"]);
    expect(world.ledger.firstRounds).toBeUndefined();
  });

  test.each([state(1), pr(1), announcement(1)])("a $what never expires while a fetch for it is running", (waiting) => {
    const world = new World();
    world.hold(waiting);
    world.pass(29 * MINUTE);
    world.tell({ kind: "fetch-began", fetch: "f1", projects: [fast, hold] });
    world.tell({ kind: "fetch-began", fetch: "f2", projects: [hold] });
    expect(world.pass(HOUR)).toEqual([]);
    world.tell({ kind: "fetch-ended", fetch: "f1" });
    expect(world.pass(HOUR / 2)).toEqual([]);
    world.tell({ kind: "fetch-ended", fetch: "f2" });
    // What it brought is settled first.
    expect(world.pass(MINUTE - 1)).toEqual([]);
    expect(world.pass(1)).not.toEqual([]);
    expect(world.where(waiting.id)).not.toBe("waiting");
  });

  test("a soft-expired announcement, too, outlasts a fetch for it", () => {
    const world = new World();
    world.hold(announcement(1));
    world.pass(30 * MINUTE + DAY - 1);
    world.tell({ kind: "fetch-began", fetch: "f1", projects: [hold] });
    expect(world.pass(HOUR)).toEqual([]);
    world.tell({ kind: "fetch-ended", fetch: "f1" });
    world.tell(settled({ promoted: [fakeId(1)] }));
    expect(world.pass(DAY)).toEqual([]);
  });

  test("a fetch for another project keeps nothing, and one whose end was lost does not keep for ever", () => {
    const world = new World();
    world.hold(state(1));
    world.tell({ kind: "fetch-began", fetch: "other", projects: [fast] });
    expect(kinds(world.pass(30 * MINUTE))).toContain("expire");
    world.hold(state(2));
    world.tell({ kind: "fetch-began", fetch: "lost", projects: [hold] });
    world.pass(2 * HOUR);
    // A push that takes longer says so again.
    world.tell({ kind: "fetch-began", fetch: "lost", projects: [hold] });
    expect(world.pass(2 * HOUR + 5 * MINUTE - 1)).toEqual([]);
    expect(kinds(world.pass(1))).toContain("expire");
    expect(world.ledger.fetches.size).toBe(0);
  });

  test("a sign of life extends the announcement to at least 30 more minutes", () => {
    const world = new World();
    world.hold(announcement(1));
    expect(world.tell(life)).toEqual([]);
    world.pass(20 * MINUTE);
    expect(world.tell(life)).toEqual([{ kind: "extend", id: fakeId(1), until: plus(world.now, 30 * MINUTE) }]);
    expect(world.pass(30 * MINUTE - 1)).toEqual([]);
    expect(kinds(world.pass(1))).toEqual(["soft-expire"]);
  });

  test("at most 24 h in all without git data, however much life there is", () => {
    const world = new World();
    world.hold(announcement(1));
    const began = world.now;
    for (let minutes = 0; minutes < 30 * 60 && world.where(fakeId(1)) === "waiting"; minutes += 20) {
      world.tell(life);
      world.pass(20 * MINUTE);
    }
    expect(world.effects.filter((effect) => effect.kind === "soft-expire")).toMatchObject([{ until: plus(began, 2 * DAY) }]);
    // Soft-expired it stays, but it is not revived any more.
    expect(world.tell(life)).toEqual([]);
    expect(world.where(fakeId(1))).toBe("soft-expired");
  });

  test("a sign of life revives a soft-expired announcement, within the same 24 h", () => {
    const world = new World();
    world.hold(announcement(1));
    const { id, repository } = announcement(1);
    const began = world.now;
    world.pass(5 * HOUR);
    expect(world.tell(life)).toEqual([{ kind: "revive", id, repository, until: plus(world.now, 30 * MINUTE) }]);
    expect(world.where(id)).toBe("waiting");
    expect(kinds(world.pass(30 * MINUTE))).toEqual(["soft-expire"]);
    world.pass(18 * HOUR + 10 * MINUTE);
    expect(world.tell(life)).toEqual([{ kind: "revive", id, repository, until: plus(began, DAY) }]);
    expect(kinds(world.pass(20 * MINUTE))).toEqual(["soft-expire"]);
    expect(kinds(world.pass(DAY))).toEqual(["forget"]);
  });

  test("life of another repository is no life of this one", () => {
    const world = new World();
    world.hold(announcement(1));
    world.pass(20 * MINUTE);
    expect(world.tell({ kind: "sign-of-life", repositories: ["30617:bob:hold"] })).toEqual([]);
    expect(kinds(world.pass(10 * MINUTE))).toEqual(["soft-expire"]);
  });

  test("a replacement announcement shows life, takes the old one's place and its 24 h", () => {
    const world = new World();
    world.hold(announcement(1));
    const began = world.now;
    world.pass(20 * MINUTE);
    expect(world.hold(announcement(2))).toEqual([
      { kind: "forget", id: fakeId(1), from: "waiting" },
      { kind: "extend", id: fakeId(2), until: plus(world.now, 30 * MINUTE) },
    ]);
    expect([fakeId(1), fakeId(2)].map((id) => world.where(id))).toEqual(["gone", "waiting"]);
    expect(world.ledger.waiting.get(fakeId(2))?.heldAt).toBe(began);
    world.pass(HOUR);
    expect(kinds(world.hold(announcement(3)))).toEqual(["forget", "extend"]);
    world.pass(23 * HOUR);
    world.hold(announcement(4));
    // Past the 24 h it counts as announced for another day, without a repository on disk.
    expect(world.where(fakeId(4))).toBe("soft-expired");
    expect(world.pass(DAY - 1)).toEqual([]);
    expect(world.pass(1)).toEqual([{ kind: "forget", id: fakeId(4), from: "soft-expired" }]);
  });

  test("an older announcement never replaces a newer one, waiting or soft-expired (grasp.md 5.4)", () => {
    const world = new World();
    world.hold(announcement(5));
    expect(world.hold(announcement(4))).toEqual([{ kind: "refuse", id: fakeId(4), why: "older" }]);
    world.pass(HOUR);
    expect(world.where(fakeId(5))).toBe("soft-expired");
    expect(world.hold(announcement(4))).toEqual([{ kind: "refuse", id: fakeId(4), why: "older" }]);
    expect(world.where(fakeId(5))).toBe("soft-expired");
  });

  test("the same announcement sent again revives it", () => {
    const world = new World();
    world.hold(announcement(5));
    expect(world.hold(announcement(5))).toEqual([]);
    world.pass(HOUR);
    expect(kinds(world.hold(announcement(5)))).toEqual(["revive"]);
  });
});

describe("expired states and PRs (grasp.md 6.3)", () => {
  test("are forgotten, event and id together, after 7 days", () => {
    const world = new World();
    world.hold(state(1));
    world.pass(30 * MINUTE);
    expect(world.pass(7 * DAY - 1)).toEqual([]);
    expect(world.pass(1)).toEqual([{ kind: "forget", id: fakeId(1), from: "expired" }]);
    expect(world.ledger).toEqual(EMPTY_LEDGER);
  });

  test("wait again when they are held again, by a re-check or a person", () => {
    const world = new World();
    world.hold(state(1));
    world.pass(HOUR);
    expect(world.hold(state(1))).toEqual([{ kind: "need", project: hold, why: "held" }]);
    expect(world.where(fakeId(1))).toBe("waiting");
    expect(world.pass(30 * MINUTE - 1)).toEqual([]);
    expect(kinds(world.pass(1))).toEqual(["expire", "need"]);
  });

  test("are bounded in number: the longest remembered goes first", () => {
    const world = new World({ rememberedMax: 2 });
    for (const n of [1, 2, 3]) {
      world.hold(state(n));
      world.pass(MINUTE);
    }
    world.pass(30 * MINUTE);
    expect([1, 2, 3].map((n) => world.where(fakeId(n)))).toEqual(["gone", "remembered", "remembered"]);
    expect(world.effects).toContainEqual({ kind: "forget", id: fakeId(1), from: "expired" });
  });

  test("are asked for again, but not what only an invited key wants (grasp.md 4.5)", () => {
    const world = new World();
    expect(world.hold(state(1, { invited: true }))).toEqual([]);
    expect(kinds(world.pass(7 * DAY))).toEqual(["expire"]);
  });
});

describe("overlay records (grasp.md 6.7)", () => {
  test("a state with records does not expire; without them it does", () => {
    const world = new World();
    world.hold(state(1));
    world.pass(10 * MINUTE);
    expect(world.tell(settled({ standing: [standing(fakeId(1), { overlaid: true })] }))).toEqual([]);
    expect(world.pass(90 * DAY)).toEqual([]);
    world.tell(settled({ standing: [standing(fakeId(1))] }));
    expect(kinds(world.pass(1))).toEqual(["expire", "need"]);
  });
});

describe("invited keys (grasp.md 4.5)", () => {
  test("their states are held 7 days and not hunted; confirmed, they have 30 minutes and are", () => {
    const world = new World();
    world.hold(state(1, { invited: true }));
    expect(world.pass(7 * DAY - 1)).toEqual([]);
    expect(world.tell(settled({ standing: [standing(fakeId(1))] }))).toEqual([
      { kind: "extend", id: fakeId(1), until: plus(world.now, 30 * MINUTE) },
      { kind: "need", project: hold, why: "held" },
    ]);
    expect(world.pass(30 * MINUTE - 1)).toEqual([]);
    expect(kinds(world.pass(1))).toEqual(["expire", "need"]);
  });

  test("going in and out of the set does not prolong without end", () => {
    const world = new World();
    world.hold(state(1, { invited: true }));
    for (let n = 0; n < 2_000 && world.where(fakeId(1)) === "waiting"; n++) {
      for (const invited of [true, false]) world.tell(settled({ standing: [standing(fakeId(1), { invited })] }));
      world.pass(10 * MINUTE);
    }
    expect(world.where(fakeId(1))).toBe("remembered");
  });

  test("what confirmed keys hold takes no room from them", () => {
    const world = new World();
    for (let n = 1; n <= 16; n++) world.hold(state(n));
    expect(world.hold(state(20, { invited: true, author: bob }))).toEqual([]);
    expect(world.where(fakeId(20))).toBe("waiting");
  });

  test("1 per author: a newer one takes the older one's place, an older one is refused", () => {
    const world = new World();
    world.hold(state(5, { invited: true }));
    expect(world.hold(state(6, { invited: true }))).toEqual([{ kind: "refuse", id: fakeId(5), why: "states" }]);
    expect(world.hold(state(4, { invited: true }))).toEqual([{ kind: "refuse", id: fakeId(4), why: "invited" }]);
    expect(world.where(fakeId(6))).toBe("waiting");
  });

  test("16 per project: nobody is pushed out by somebody else", () => {
    const world = new World();
    for (let n = 0; n < 16; n++) world.hold(state(n, { invited: true, author: fakeKey(n) }));
    expect(world.hold(state(99, { invited: true, author: fakeKey(99) }))).toEqual([{ kind: "refuse", id: fakeId(99), why: "invited" }]);
    expect(world.ledger.waiting.size).toBe(16);
    // Another project, and confirmed keys of this one, are not concerned.
    world.hold(state(98, { invited: true, author: fakeKey(98), projects: [fast] }));
    world.hold(state(97));
    expect(world.ledger.waiting.size).toBe(18);
  });
});

describe("limits (grasp.md 6.1)", () => {
  test("16 states per author and project: the oldest leaves, never one with overlay records, never for another author", () => {
    const world = new World();
    for (let n = 1; n <= 16; n++) world.hold(state(n, { overlaid: n === 1 }));
    world.hold(state(50, { author: bob }));
    world.hold(state(51, { projects: [fast] }));
    expect(world.hold(state(20))).toEqual([
      { kind: "refuse", id: fakeId(2), why: "states" },
      { kind: "need", project: hold, why: "held" },
    ]);
    expect(world.hold(state(0))).toEqual([{ kind: "refuse", id: fakeId(0), why: "states" }]);
    expect([1, 2, 50, 51].map((n) => world.where(fakeId(n)))).toEqual(["waiting", "gone", "waiting", "waiting"]);
    expect(world.ledger.waiting.size).toBe(18);
  });

  test("when all 16 have overlay records the newcomer is refused", () => {
    const world = new World();
    for (let n = 1; n <= 16; n++) world.hold(state(n, { overlaid: true }));
    expect(world.hold(state(20))).toEqual([{ kind: "refuse", id: fakeId(20), why: "states" }]);
  });

  test("50 PRs per author, 500 per repository: the newcomer is refused, nobody's leaves", () => {
    const world = new World();
    for (let n = 0; n < 50; n++) world.hold(pr(n));
    expect(world.hold(pr(50))).toEqual([{ kind: "refuse", id: fakeId(50), why: "author" }]);
    for (let n = 50; n < 500; n++) world.hold(pr(n, { author: fakeKey(n % 20) }));
    expect(world.hold(pr(500, { author: alice }))).toEqual([{ kind: "refuse", id: fakeId(500), why: "repository" }]);
    expect(kinds(world.hold(pr(501, { author: alice, repositories: ["30617:bob:fast"] })))).toEqual(["need"]);
    expect(world.ledger.waiting.size).toBe(501);
  });

  test("in all: beyond it newcomers are refused, and of soft-expired ones the longest goes", () => {
    const world = new World({ waitingMax: 2, softMax: 2 });
    const at = (n: number) => announcement(n, { repository: `30617:alice:${n}` });
    for (const n of [1, 2]) world.hold(at(n));
    expect(world.hold(at(3))).toEqual([{ kind: "refuse", id: fakeId(3), why: "full" }]);
    world.pass(HOUR);
    world.hold(at(3));
    expect(world.pass(30 * MINUTE)).toContainEqual({ kind: "forget", id: fakeId(1), from: "soft-expired" });
    expect([2, 3].map((n) => world.where(fakeId(n)))).toEqual(["soft-expired", "soft-expired"]);
  });
});

describe("needs", () => {
  test("every state and PR that begins to wait makes one for each of its projects; an announcement none", () => {
    const world = new World();
    expect(world.hold(announcement(1))).toEqual([]);
    expect(world.hold(pr(2, { projects: [hold, fast, hold] }))).toEqual([
      { kind: "need", project: hold, why: "held" },
      { kind: "need", project: fast, why: "held" },
    ]);
    expect(world.hold(pr(2))).toEqual([]);
  });

  test("after a start each project with something to look for is named once", () => {
    const world = new World();
    for (const waiting of [state(1), state(2), pr(3, { projects: [fast] }), announcement(4, { projects: ["empty" as ProjectKey] })]) {
      world.hold(waiting);
    }
    expect(world.tell({ kind: "started", downMs: 0 })).toEqual([
      { kind: "need", project: hold, why: "started" },
      { kind: "need", project: fast, why: "started" },
    ]);
  });
});

describe("ends", () => {
  test.each<[string, (id: EventId) => Input]>([
    ["promoted", (id) => settled({ promoted: [id] })],
    ["dropped by a settlement", (id) => settled({ dropped: [id] })],
    ["deleted (grasp.md 11.1)", (id) => ({ kind: "deleted", ids: [id] })],
  ])("what is %s leaves every stage without a further word", (_, input) => {
    const world = new World();
    world.hold(state(1));
    world.hold(announcement(2));
    world.pass(HOUR);
    world.hold(pr(3));
    expect([1, 2, 3].map((n) => world.where(fakeId(n)))).toEqual(["remembered", "soft-expired", "waiting"]);
    for (const n of [1, 2, 3]) expect(world.tell(input(fakeId(n)))).toEqual([]);
    expect(world.pass(30 * DAY)).toEqual([]);
    expect(world.ledger).toEqual(EMPTY_LEDGER);
  });

  test("a settlement moves what waits to another project when a set changed (grasp.md 4.7)", () => {
    const world = new World();
    world.hold(state(1));
    world.hold(announcement(2));
    world.pass(HOUR);
    world.hold(state(3));
    world.tell(settled({ standing: [2, 3].map((n) => standing(fakeId(n), { projects: [fast] })) }));
    world.tell({ kind: "fetch-began", fetch: "f", projects: [fast] });
    expect(world.pass(HOUR)).toEqual([]);
    expect([2, 3].map((n) => world.where(fakeId(n)))).toEqual(["soft-expired", "waiting"]);
  });
});

describe("tips without their event (grasp.md 7.9)", () => {
  test("are held 20 minutes, then ref and objects go", () => {
    const world = new World();
    expect(world.tell({ kind: "staged", tip: tip(1) })).toEqual([]);
    world.pass(10 * MINUTE);
    // Pushing it again does not keep it longer.
    expect(world.tell({ kind: "staged", tip: tip(1) })).toEqual([]);
    expect(world.pass(10 * MINUTE - 1)).toEqual([]);
    expect(world.pass(1)).toEqual([{ kind: "unstage", tip: tip(1) }]);
  });

  test("stay when their event came", () => {
    const world = new World();
    world.tell({ kind: "staged", tip: tip(1) });
    world.tell({ kind: "unstaged", tip: tip(1) });
    expect(world.pass(DAY)).toEqual([]);
  });

  test("at most 4 an id in a repository; a fifth takes nobody's place", () => {
    const world = new World();
    for (const digit of ["1", "2", "3", "4"]) world.tell({ kind: "staged", tip: tip(1, digit) });
    expect(world.tell({ kind: "staged", tip: tip(1, "5") })).toEqual([{ kind: "unstage", tip: tip(1, "5") }]);
    for (const other of [tip(2), tip(1, "5", "30617:bob:hold")]) expect(world.tell({ kind: "staged", tip: other })).toEqual([]);
    expect(world.ledger.tips.size).toBe(6);
  });
});
