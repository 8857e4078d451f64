import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { coordinate, fakeEvent, fakeId, fakeKey } from "../../test/kit/arbitrary/fake-event.ts";
import { rulesWith } from "../../test/kit/rules.ts";
import { type Instant, instant, plus } from "../base/time.ts";
import { type EventId, eventText, type PublicKey, type VerifiedEvent } from "../nostr/event.ts";
import { encodeNpub } from "../nostr/npub.ts";
import type { Rules } from "../policy/rules.ts";
import type { Batch } from "../store/batch.ts";
import type { Writer } from "../store/event-store.ts";
import type { HeldEvent } from "../store/held.ts";
import { openWriter } from "../store/io/sqlite-store.ts";
import { MemoryStore } from "../store/memory-store.ts";
import { type Admission, admit } from "./admit.ts";
import { ANONYMOUS, type Origin } from "./origin.ts";

const NOW = instant(1_000_000_000);
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const SYNCED: Origin = { kind: "synced", relay: "wss://other.example", how: "live" };

const RULES = rulesWith({ acceptance: "grasp", unusedDeletionsMax: 2, purgatory: true });

const cleanups: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

const STORES: readonly [name: string, open: () => Writer][] = [
  ["in memory", () => new MemoryStore()],
  [
    "on disk",
    () => {
      const directory = mkdtempSync(join(tmpdir(), "holdfast-purgatory-"));
      cleanups.push(() => rmSync(directory, { recursive: true, force: true }));
      const store = openWriter(directory, () => 7);
      cleanups.push(() => store.close());
      return store.writer;
    },
  ],
];

class Door {
  readonly store: Writer;
  readonly rules: Rules;
  now: Instant = NOW;

  constructor(store: Writer, rules: Partial<Rules> = {}) {
    this.store = store;
    this.rules = { ...RULES, ...rules };
  }

  admit(event: VerifiedEvent, origin: Origin = ANONYMOUS): Promise<Admission> {
    return this.store.transact((tx) => admit(tx, { event, text: eventText(event), origin }, this.rules, this.now));
  }

  /** The words of the OK, with `no` in front when it was refused. */
  async say(event: VerifiedEvent, origin: Origin = ANONYMOUS): Promise<string> {
    const { accepted, message } = await this.admit(event, origin);
    return accepted ? message : `no ${message}`;
  }

  /** What the settlement will do. */
  async apply(...batch: Batch): Promise<void> {
    await this.store.transact((tx) => tx.apply(batch));
  }

  /** A repository whose announcement is served. */
  async host(event: VerifiedEvent): Promise<void> {
    expect(await this.say(event)).toBe(PURGATORY);
    await this.apply({ kind: "promote", id: event.id });
  }

  held(): Promise<readonly HeldEvent[]> {
    return this.store.transact((tx) => tx.held.heldPage(undefined, 2_000));
  }

  async heldIds(): Promise<EventId[]> {
    return (await this.held()).map(({ event }) => event.id);
  }

  heldEvent(event: VerifiedEvent): Promise<HeldEvent | undefined> {
    return this.store.transact((tx) => tx.held.heldEvent(event.id));
  }

  serves(event: VerifiedEvent): Promise<boolean> {
    return this.store.transact((tx) => tx.serves(event.id));
  }
}

const PURGATORY = "purgatory: won't be served until git data arrives";
const WAITS = "duplicate: in purgatory";
const SUPERSEDED = "duplicate: superseded by a newer event";
const ORPHAN = "no restricted: Event must reference an accepted repository or accepted event";
const [alice, bob, carol, mallory] = [fakeKey("alice"), fakeKey("bob"), fakeKey("carol"), fakeKey("mallory")];

interface Said {
  host?: string;
  lists?: readonly PublicKey[];
  at?: number;
  d?: string;
}

const announced = (owner: PublicKey, { host = "git.example", lists = [], at = 100, d = "hold" }: Said = {}): VerifiedEvent =>
  fakeEvent({
    kind: 30_617,
    pubkey: owner,
    created_at: at,
    tags: [
      ["d", d],
      ["clone", `https://${host}/${encodeNpub(owner)}/${d}.git`],
      ["relays", `wss://${host}`],
      ["maintainers", ...lists],
    ],
  });
const state = (author: PublicKey, at = 100, d = "hold") =>
  fakeEvent({
    kind: 30_618,
    pubkey: author,
    created_at: at,
    tags: [
      ["d", d],
      ["refs/heads/main", "1".repeat(40)],
    ],
  });
const repository = (owner: PublicKey, d = "hold") => coordinate({ kind: 30_617, pubkey: owner, d });
const pullRequest = (author: PublicKey, n: number, ...repositories: string[]) =>
  fakeEvent({ kind: 1_618, pubkey: author, content: `${n}`, tags: [["c", "2".repeat(40)], ...repositories.map((name) => ["a", name])] });
const deletion = (author: PublicKey, tags: string[][], at = 500) => fakeEvent({ kind: 5, pubkey: author, created_at: at, tags });
const ids = (...events: readonly VerifiedEvent[]): EventId[] => events.map(({ id }) => id).toSorted();

describe.each(STORES)("with purgatory, %s", (_, open) => {
  test("grasp.md 5.4, 3.7: a new repository waits, with the words and the time; known the second time", async () => {
    const door = new Door(open());
    const event = announced(alice);
    const admission = await door.admit(event, SYNCED);
    expect(admission).toMatchObject({ accepted: true, message: PURGATORY, passing: false, evidence: ["hold"] });
    expect(admission.changes.map(({ change }) => change)).toEqual(["held"]);
    expect(await door.serves(event)).toBe(false);
    expect(await door.heldEvent(event)).toMatchObject({
      what: "announcement",
      stage: "waiting",
      repositories: [],
      heldAt: NOW,
      until: plus(NOW, 30 * MINUTE_MS),
      provenance: { how: "live", relay: "wss://other.example" },
    });
    expect(await door.admit(event)).toEqual({ accepted: true, message: WAITS, changes: [], passing: false, evidence: [] });
  });

  test("grasp.md 5.4, 6.2: a newer one takes the waiting one's place and its age, an older one does not", async () => {
    const door = new Door(open());
    const [first, second, third] = [announced(alice), announced(alice, { at: 101 }), announced(alice, { at: 102 })];
    await door.say(first);
    door.now = plus(NOW, 20 * MINUTE_MS);
    const { message, changes } = await door.admit(second);
    expect(message).toBe(PURGATORY);
    expect(
      changes.map(({ change }) => change),
      "the newer first, so that it is known to replace",
    ).toEqual(["held", "removed"]);
    expect(await door.heldIds()).toEqual(ids(second));
    expect(await door.heldEvent(second)).toMatchObject({ heldAt: NOW, until: plus(NOW, 50 * MINUTE_MS) });
    expect(await door.say(first)).toBe(SUPERSEDED);
    door.now = plus(NOW, DAY_MS - MINUTE_MS);
    expect(await door.say(third)).toBe(PURGATORY);
    expect((await door.heldEvent(third))?.until, "at most a day in all").toBe(plus(NOW, DAY_MS));
  });

  test("grasp.md 6.2: a replacement never shortens the time that signs of life gave", async () => {
    const door = new Door(open());
    await door.say(announced(alice));
    const until = plus(NOW, 300 * MINUTE_MS);
    await door.apply({ kind: "restage", id: announced(alice).id, from: "waiting", stage: "waiting", until });
    await door.say(announced(alice, { at: 101 }));
    expect(await door.heldEvent(announced(alice, { at: 101 }))).toMatchObject({ until });
  });

  test("grasp.md 5.4: what is served drops what waited in its place and is older", async () => {
    const door = new Door(open());
    await door.host(announced(alice, { lists: [bob] }));
    const said = [{ host: "x.example" }, { at: 101 }, { host: "x.example", at: 102 }].map((one) => announced(bob, one));
    const words: string[] = [];
    for (const event of said) words.push(await door.say(event));
    expect(words).toEqual(["", PURGATORY, ""]);
    expect(await door.held()).toEqual([]);
  });

  test("grasp.md 5.4: a replacement of a served one is served at once", async () => {
    const door = new Door(open());
    const [first, second] = [announced(alice), announced(alice, { at: 101 })];
    await door.host(first);
    const { message, changes, evidence } = await door.admit(second);
    expect([message, evidence]).toEqual(["", ["hold"]]);
    expect(changes.map(({ change }) => change)).toEqual(["removed", "served"]);
    expect(await door.say(first)).toBe(SUPERSEDED);
    expect(await door.held()).toEqual([]);
  });

  test("grasp.md 5.4, 11.4: an owner moves away: served without a repository, and the record of it stays 90 days", async () => {
    const door = new Door(open());
    const [here, gone] = [announced(alice), announced(alice, { host: "x.example", at: 101 })];
    await door.host(here);
    expect(await door.admit(gone)).toMatchObject({ accepted: true, message: "", evidence: ["hold"] });
    expect([await door.serves(gone), await door.serves(here)]).toEqual([true, false]);
    expect(await door.heldEvent(here)).toMatchObject({
      what: "announcement",
      stage: "superseded",
      heldAt: NOW,
      until: plus(NOW, 90 * DAY_MS),
    });
    const back = announced(alice, { at: 102 });
    door.now = plus(NOW, DAY_MS);
    expect(await door.say(back), "announcing again is a new repository").toBe(PURGATORY);
    expect(await door.serves(gone), "what waits does not touch what is served").toBe(true);
    expect(await door.heldEvent(back), "its time begins with it").toMatchObject({ heldAt: plus(NOW, DAY_MS) });
    expect(await door.heldEvent(here), "the record stays until the repository is settled").toMatchObject({ stage: "superseded" });
  });

  test("grasp.md 5.3, 4.7: a listed maintainer's is stored without a repository; one whom only a waiting one lists waits with it", async () => {
    const door = new Door(open());
    const own = announced(alice, { lists: [bob, carol] });
    await door.say(own);
    expect(await door.say(announced(bob, { host: "x.example" }))).toBe(PURGATORY);
    await door.apply({ kind: "promote", id: own.id });
    expect(await door.say(announced(carol, { host: "x.example" }))).toBe("");
    expect(await door.say(announced(mallory, { host: "x.example" }))).toMatch(/^no invalid: /);
  });

  test("grasp.md 6.4, 6.5: states wait, whoever's announcement waits or is served; invited ones longer", async () => {
    const door = new Door(open());
    expect(await door.say(state(alice))).toBe("no invalid: no announcement exists for this repository");
    await door.say(announced(alice, { lists: [bob] }));
    expect(await door.admit(state(alice))).toMatchObject({ accepted: true, message: PURGATORY, evidence: ["hold"] });
    expect(await door.say(state(bob))).toBe(PURGATORY);
    expect(await door.say(state(mallory))).toBe("no restricted: author not authorized for this repository");
    expect(await door.heldEvent(state(alice))).toMatchObject({ what: "state", until: plus(NOW, 30 * MINUTE_MS) });
    expect((await door.heldEvent(state(bob)))?.until).toBe(plus(NOW, 7 * DAY_MS));
  });

  test("grasp.md 6.2: a state is taken for a soft-expired announcement", async () => {
    const door = new Door(open());
    const own = announced(alice);
    await door.say(own);
    await door.apply({ kind: "restage", id: own.id, from: "waiting", stage: "soft-expired", until: plus(NOW, DAY_MS) });
    expect(await door.say(state(alice))).toBe(PURGATORY);
    expect(await door.say(own, SYNCED)).toBe(WAITS);
    door.now = plus(NOW, MINUTE_MS);
    const { message, changes } = await door.admit(own);
    expect([message, changes.map(({ change }) => change)]).toEqual([PURGATORY, ["removed", "held"]]);
    expect(await door.heldEvent(own)).toMatchObject({ stage: "waiting", heldAt: NOW, until: plus(NOW, 31 * MINUTE_MS) });
  });

  test("grasp.md 6.1: 16 states of an author and project; the oldest leaves for a newer one, never for an older one", async () => {
    const door = new Door(open());
    await door.say(announced(alice));
    await door.say(announced(alice, { d: "other" }));
    const states = Array.from({ length: 16 }, (__, n) => state(alice, 100 + n));
    for (const one of states) expect(await door.say(one)).toBe(PURGATORY);
    expect(await door.say(state(alice, 50))).toBe("no rate-limited: too many newer states of yours wait for git data of this repository");
    expect(await door.say(state(alice, 50, "other")), "another repository has its own").toBe(PURGATORY);
    expect(await door.say(state(alice, 200))).toBe(PURGATORY);
    expect(await door.heldEvent(states[0] as VerifiedEvent)).toBeUndefined();
    expect((await door.held()).filter(({ what }) => what === "state")).toHaveLength(17);
  });

  test("grasp.md 6.7: a state with overlay records leaves for nobody", async () => {
    const door = new Door(open());
    await door.say(announced(alice));
    const states = Array.from({ length: 16 }, (__, n) => state(alice, 100 + n));
    for (const one of states) await door.say(one);
    const [oldest, next] = states as [VerifiedEvent, VerifiedEvent];
    const record = {
      repository: repository(alice),
      ref: "refs/heads/main",
      value: undefined,
      state: oldest.id,
      stateCreatedAt: oldest.created_at,
    };
    await door.apply({ kind: "overlay", ...record } as unknown as Batch[number]);
    expect(await door.say(state(alice, 200))).toBe(PURGATORY);
    expect([await door.heldEvent(oldest), await door.heldEvent(next)]).toEqual([expect.anything(), undefined]);
  });

  test("grasp.md 4.5: of invited keys 1 state an author and 16 a project; strangers of the same name cost nothing", async () => {
    const door = new Door(open());
    const keys = Array.from({ length: 17 }, (__, n) => fakeKey(n));
    const [first, last] = [keys[0] as PublicKey, keys[16] as PublicKey];
    await door.say(announced(alice, { lists: keys }));
    await door.say(announced(mallory, { lists: [bob] }));
    expect(await door.say(state(bob)), "invited to another project").toBe(PURGATORY);
    for (const key of keys.slice(0, 16)) expect(await door.say(state(key))).toBe(PURGATORY);
    expect(await door.say(state(last))).toBe("no rate-limited: too many states of invited maintainers wait for this repository");
    expect(await door.say(state(first, 99))).toMatch(/^no rate-limited: /);
    expect(await door.say(state(first, 101)), "the author's newest word").toBe(PURGATORY);
    expect(await door.heldEvent(state(first))).toBeUndefined();
    expect(await door.say(state(alice)), "confirmed keys have their own places").toBe(PURGATORY);
  });

  test("grasp.md 6.1, 6.9: PRs wait with the repositories here that they name, served or waiting", async () => {
    const door = new Door(open());
    expect(await door.say(pullRequest(mallory, 0, repository(alice)))).toBe(ORPHAN);
    await door.say(announced(alice));
    await door.host(announced(bob, { d: "other" }));
    const event = pullRequest(mallory, 1, repository(alice), repository(bob, "other"), repository(carol, "missing"), repository(alice));
    expect(await door.admit(event)).toMatchObject({ message: PURGATORY, evidence: ["hold", "other"] });
    expect(await door.heldEvent(event)).toMatchObject({
      what: "pull-request",
      repositories: [repository(alice), repository(bob, "other")],
    });
    expect(await door.say(event)).toBe(WAITS);
    const without = fakeEvent({ kind: 1_619, tags: [["a", repository(alice)]] });
    expect(await door.say(without)).toBe(`no invalid: PR event ${without.id} has no 'c' tag`);
  });

  test("grasp.md 6.9: a PR may name a maintainer who announced nothing here", async () => {
    const door = new Door(open(), { maintainerPolicy: "recursive" });
    await door.host(announced(alice, { lists: [bob] }));
    expect(await door.say(pullRequest(mallory, 1, repository(bob)))).toBe(PURGATORY);
    expect(await door.say(pullRequest(mallory, 2, repository(carol)))).toBe(ORPHAN);
  });

  test("grasp.md 6.1: 50 PRs of an author", async () => {
    const door = new Door(open());
    await door.host(announced(alice));
    for (let n = 0; n < 50; n++) expect(await door.say(pullRequest(mallory, n, repository(alice)))).toBe(PURGATORY);
    expect(await door.say(pullRequest(mallory, 50, repository(alice)))).toBe(
      "no rate-limited: too many pull requests of yours wait for git data",
    );
    expect(await door.say(pullRequest(bob, 50, repository(alice)))).toBe(PURGATORY);
  });

  test("grasp.md 6.1: 500 PRs for a repository", async () => {
    const door = new Door(open());
    await door.host(announced(alice));
    const crowd = Array.from({ length: 500 }, (__, n) => pullRequest(fakeKey(n), n, repository(alice)));
    await door.apply(
      ...crowd.map((event): Batch[number] => ({
        kind: "hold",
        event,
        text: eventText(event),
        what: "pull-request",
        repositories: [repository(alice)],
        heldAt: NOW,
        until: plus(NOW, MINUTE_MS),
        expiresAt: undefined,
        provenance: { how: "direct" },
      })),
    );
    expect(await door.say(pullRequest(bob, 1, repository(alice)))).toBe(
      "no rate-limited: too many pull requests wait for git data of this repository",
    );
  });

  test("grasp.md 6.3, 3.7: what expired is not taken from sync, and always from hand", async () => {
    const door = new Door(open());
    await door.host(announced(alice));
    await door.say(state(alice));
    await door.apply({ kind: "restage", id: state(alice).id, from: "waiting", stage: "expired", until: plus(NOW, 7 * DAY_MS) });
    expect(await door.say(state(alice), SYNCED)).toBe("no invalid: previously expired from purgatory without git data");
    const { message, changes } = await door.admit(state(alice));
    expect([message, changes.map(({ change }) => change)]).toEqual([PURGATORY, ["held"]]);
    expect(await door.heldEvent(state(alice))).toMatchObject({ stage: "waiting" });
  });

  test("grasp.md 11.1: a deletion reaches what waits, by id and by address, of its author only, and shuts it out", async () => {
    const door = new Door(open());
    await door.say(announced(alice, { lists: [bob] }));
    await door.say(announced(bob, { d: "other" }));
    for (const event of [state(alice), state(alice, 101), state(bob)]) await door.say(event);
    const pr = pullRequest(alice, 1, repository(bob, "other"));
    await door.say(pr);
    const byId = deletion(alice, [
      ["e", state(alice, 101).id],
      ["e", pr.id],
      ["e", state(bob).id],
    ]);
    expect(await door.admit(byId)).toMatchObject({ message: "", evidence: ["hold", "other"] });
    expect(await door.heldIds()).toEqual(ids(announced(alice, { lists: [bob] }), announced(bob, { d: "other" }), state(alice), state(bob)));
    expect(await door.say(state(alice, 101))).toBe("no invalid: this event is deleted");
    const byAddress = deletion(alice, [
      ["a", repository(alice)],
      ["a", coordinate({ kind: 30_618, pubkey: alice, d: "hold" })],
    ]);
    expect((await door.admit(byAddress)).evidence).toEqual(["hold"]);
    expect(await door.heldIds()).toEqual(ids(announced(bob, { d: "other" }), state(bob)));
    expect(await door.say(deletion(alice, [["e", fakeId("x")]])), "those two did something, so this is the first that did not").toBe("");
    expect((await door.admit(deletion(alice, [["e", fakeId("y")]]))).evidence).toEqual([]);
  });

  test("grasp.md 11.3: a deletion of what is served tells which repositories it concerns, and only these", async () => {
    const door = new Door(open());
    await door.host(announced(alice));
    await door.host(announced(alice, { d: "later", at: 600 }));
    await door.say(announced(bob, { d: "other" }));
    const names = ["hold", "later", "other", "third"].map((d) => ["a", repository(alice, d)]);
    expect((await door.admit(deletion(alice, names))).evidence).toEqual(["hold"]);
  });

  test("NIP-62: a request to vanish reaches what waits", async () => {
    const door = new Door(open());
    await door.say(announced(alice));
    await door.say(state(alice));
    const vanish = fakeEvent({ kind: 62, pubkey: alice, created_at: 200, tags: [["relay", "ALL_RELAYS"]] });
    expect(await door.admit(vanish)).toMatchObject({ accepted: true, evidence: ["hold"] });
    expect(await door.held()).toEqual([]);
    expect(await door.say(state(alice))).toBe("no invalid: this pubkey has requested to vanish");
  });

  test("grasp.md 3.6, §1: what names only waiting things is an orphan, and their authors are strangers", async () => {
    const door = new Door(open());
    const own = announced(alice);
    await door.say(own);
    const issue = fakeEvent({ kind: 1_621, pubkey: bob, tags: [["a", repository(alice)]] });
    const reply = fakeEvent({ kind: 1_111, pubkey: bob, tags: [["E", own.id]] });
    const profile = fakeEvent({ kind: 0, pubkey: alice });
    for (const event of [issue, reply]) expect(await door.say(event)).toBe(ORPHAN);
    expect(await door.say(profile)).toMatch(/^no restricted: /);
    await door.apply({ kind: "promote", id: own.id });
    for (const event of [issue, reply, profile]) expect(await door.admit(event)).toMatchObject({ message: "", evidence: [] });
  });
});

test("without purgatory nothing is held and nothing is to be settled", async () => {
  const door = new Door(new MemoryStore(), { purgatory: false });
  for (const event of [announced(alice), state(alice), pullRequest(bob, 1, repository(alice))]) {
    expect(await door.admit(event)).toMatchObject({ accepted: true, message: "", evidence: [] });
  }
  expect(await door.held()).toEqual([]);
});
