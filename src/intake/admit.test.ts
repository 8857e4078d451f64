import { describe, expect, test } from "vitest";
import { coordinate, fakeEvent, fakeId, fakeKey } from "../../test/kit/arbitrary/fake-event.ts";
import { filterOf } from "../../test/kit/arbitrary/filter.ts";
import { rulesWith } from "../../test/kit/rules.ts";
import { type Instant, instant, unixSeconds } from "../base/time.ts";
import { type EventId, eventText, type VerifiedEvent } from "../nostr/event.ts";
import type { Rules } from "../policy/rules.ts";
import { MemoryStore } from "../store/memory-store.ts";
import { type Admission, admit, VANISH_AT_ONCE } from "./admit.ts";
import { ANONYMOUS, type Origin } from "./origin.ts";

const NOW = instant(1_000_000_000);
const NOW_S = NOW / 1_000;
const DAY_MS = 86_400_000;

const OPEN = rulesWith({ places: [{ hostname: "relay.example", port: undefined, basePath: "" }], unusedDeletionsMax: 2 });

/** The door without sockets, signatures and threads: one store, one event after the other. */
class Door {
  readonly store = new MemoryStore();
  rules: Rules;
  now: Instant = NOW;

  constructor(rules: Partial<Rules> = {}) {
    this.rules = { ...OPEN, ...rules };
  }

  admit(event: VerifiedEvent, origin: Origin = ANONYMOUS): Promise<Admission> {
    return this.store.transact((tx) => admit(tx, { event, text: eventText(event), origin }, this.rules, this.now));
  }

  /** The words of the OK, with `no` in front when it was refused. */
  async say(event: VerifiedEvent): Promise<string> {
    const { accepted, message } = await this.admit(event);
    return accepted ? message : `no ${message}`;
  }

  async served(): Promise<EventId[]> {
    const ids: EventId[] = [];
    for await (const slice of this.store.query(filterOf(), { now: unixSeconds(0) })) ids.push(...slice.map(({ id }) => id));
    return ids.toSorted();
  }
}

const ids = (...events: readonly VerifiedEvent[]): EventId[] => events.map(({ id }) => id).toSorted();
const alice = fakeKey("alice");
const note = (content = "", more: Parameters<typeof fakeEvent>[0] = {}) => fakeEvent({ content, created_at: NOW_S, ...more });
const request = (tags: string[][], more: Parameters<typeof fakeEvent>[0] = {}) => fakeEvent({ kind: 5, tags, created_at: NOW_S, ...more });
const vanish = (created_at = NOW_S, relay = "wss://relay.example/") => fakeEvent({ kind: 62, tags: [["relay", relay]], created_at });

describe("ordinary events (grasp.md 3.7)", () => {
  test("stored with empty words, known the second time, with where it came from", async () => {
    const door = new Door();
    const event = note("hello");
    expect(await door.admit(event, { kind: "synced", relay: "wss://other.example", how: "live" })).toEqual({
      accepted: true,
      message: "",
      changes: [{ seq: 1, change: "served", event: expect.objectContaining({ id: event.id, text: eventText(event) }) }],
      passing: false,
      evidence: [],
    });
    expect(await door.store.provenance(event.id)).toEqual({ how: "live", relay: "wss://other.example" });
    expect(await door.admit(event)).toEqual({
      accepted: true,
      message: "duplicate: already have this event",
      changes: [],
      passing: false,
      evidence: [],
    });
    await door.admit(note("mine"));
    expect(await door.store.provenance(note("mine").id)).toEqual({ how: "direct" });
  });

  test("NIP-01: ephemeral events are passed on and never stored", async () => {
    const door = new Door();
    expect(await door.admit(note("now", { kind: 20_001 }))).toEqual({
      accepted: true,
      message: "",
      changes: [],
      passing: true,
      evidence: [],
    });
    expect(await door.served()).toEqual([]);
  });

  test("a refused ephemeral event is not passed on", async () => {
    const door = new Door({ acceptance: "grasp" });
    expect(await door.admit(note("now", { kind: 20_001 }))).toMatchObject({ accepted: false, passing: false });
  });

  test("NIP-40: what expired while it waited is refused; what will expire is kept with its time", async () => {
    const door = new Door();
    expect(await door.say(note("", { tags: [["expiration", `${NOW_S}`]] }))).toBe("no invalid: this event has expired");
    expect(await door.say(note("", { tags: [["expiration", `${NOW_S + 1}`]] }))).toBe("");
    expect(await door.store.nextExpiry()).toBe(NOW_S + 1);
  });
});

describe("replaceable events (grasp.md 3.2)", () => {
  test.each([
    ["replaceable", 10_002, []],
    ["addressable", 30_000, [["d", "x"]]],
  ])("%s: the newer replaces, the older is politely refused, ties go to the lower id", async (_, kind, tags) => {
    const door = new Door();
    const version = (n: number, created_at: number) => fakeEvent({ id: fakeId(`${n}`), kind, tags, created_at });
    const [low, high] = [version(1, 10), version(2, 10)].toSorted((a, b) => (a.id < b.id ? -1 : 1)) as [VerifiedEvent, VerifiedEvent];
    expect(await door.say(high)).toBe("");
    expect((await door.admit(low)).changes.map(({ change }) => change)).toEqual(["removed", "served"]);
    expect(await door.say(high)).toBe("duplicate: superseded by a newer event");
    expect(await door.say(version(3, 9))).toBe("duplicate: superseded by a newer event");
    expect(await door.served()).toEqual(ids(low));
    const newest = version(4, 11);
    expect(await door.say(newest)).toBe("");
    expect(await door.served()).toEqual(ids(newest));
  });

  test("addresses differ by author, kind and d; a missing d is an empty one", async () => {
    const door = new Door();
    const all = [
      note("", { kind: 30_000, tags: [["d", "a"]] }),
      note("", { kind: 30_000, tags: [["d", "b"]] }),
      note("", { kind: 30_001, tags: [["d", "a"]] }),
      note("", { kind: 30_000, tags: [["d", "a"]], pubkey: fakeKey("bob") }),
      note("", { kind: 30_000, tags: [] }),
    ];
    for (const event of all) expect(await door.say(event)).toBe("");
    expect(await door.served()).toEqual(ids(...all));
    const empty = note("", { kind: 30_000, tags: [["d", ""]], created_at: NOW_S + 1 });
    expect(await door.say(empty)).toBe("");
    expect(await door.served()).toEqual(ids(...all.slice(0, 4), empty));
  });
});

describe("deletion (grasp.md 11.1, NIP-09)", () => {
  test("removes the author's own, keeps others', is served itself, and shuts its targets out", async () => {
    const door = new Door();
    const mine = note("mine");
    const theirs = note("theirs", { pubkey: fakeKey("bob") });
    await door.admit(mine);
    await door.admit(theirs);
    const later = note("not here yet");
    const deletion = request([
      ["e", mine.id],
      ["e", theirs.id],
      ["e", later.id],
      ["e", "malformed"],
      ["k", "1"],
    ]);
    expect(await door.say(deletion)).toBe("");
    expect(await door.served()).toEqual(ids(theirs, deletion));
    expect(await door.say(mine)).toBe("no invalid: this event is deleted");
    expect(await door.say(later)).toBe("no invalid: this event is deleted");
    expect(await door.say(deletion)).toBe("duplicate: already have this event");
  });

  test("naming somebody else's event before it comes shuts nobody out", async () => {
    const door = new Door();
    const theirs = note("theirs", { pubkey: fakeKey("bob") });
    await door.admit(request([["e", theirs.id]]));
    expect(await door.say(theirs)).toBe("");
  });

  test("`a` covers versions up to the request's time, of the author's own address only", async () => {
    const door = new Door();
    const version = (created_at: number, pubkey = alice) => fakeEvent({ kind: 30_000, tags: [["d", "x"]], created_at, pubkey });
    const bobs = version(50, fakeKey("bob"));
    await door.admit(version(100));
    await door.admit(bobs);
    const name = (pubkey: typeof alice) => ["a", coordinate({ kind: 30_000, pubkey, d: "x" })];
    const deletion = request([name(alice), name(fakeKey("bob"))], { created_at: 100 });
    expect(await door.say(deletion)).toBe("");
    expect(await door.served()).toEqual(ids(bobs, deletion));
    expect(await door.say(version(99))).toBe("no invalid: this event is deleted");
    expect(await door.say(version(101))).toBe("");
    expect(await door.say(request([name(alice)], { created_at: 99 })), "an older request finds a newer version").toBe("");
    expect(await door.served()).toContain(version(101).id);
  });

  test("NIP-09: a deletion of a deletion has no effect, before and after", async () => {
    const door = new Door();
    const mine = note("mine");
    await door.admit(mine);
    const deletion = request([["e", mine.id]]);
    const against = request([["e", deletion.id]]);
    await door.admit(deletion);
    expect(await door.say(against)).toBe("");
    expect(await door.served()).toEqual(ids(deletion, against));
    const other = new Door();
    await other.admit(against);
    expect(await other.say(deletion)).toBe("");
  });

  test("those that do nothing are bounded per author, also when they name nothing at all", async () => {
    const door = new Door();
    expect(await door.say(request([["e", fakeId("x")]]))).toBe("");
    expect(await door.say(request([["k", "1"]]))).toBe("");
    const refusal = "no rate-limited: too many deletion requests of yours name nothing that is here";
    expect(await door.say(request([["e", fakeId("y")]]))).toBe(refusal);
    expect(await door.say(request([]))).toBe(refusal);
    expect(await door.say(request([], { pubkey: fakeKey("bob") })), "others have their own").toBe("");
    await door.admit(note("here"));
    expect(await door.say(request([["e", note("here").id]])), "one that does something is always taken").toBe("");
    expect((await door.store.gates(undefined, 10)).filter(({ author }) => author === alice)).toHaveLength(3);
  });

  test("11.2: a refusal counts as a use, once a day", async () => {
    const door = new Door();
    const gone = note("gone");
    await door.admit(request([["e", gone.id]]));
    const lastUse = async () => (await door.store.gates(undefined, 10))[0]?.lastUsedAt;
    expect(await lastUse()).toBeUndefined();
    await door.admit(gone);
    expect(await lastUse()).toBe(NOW);
    door.now = instant(NOW + 1_000);
    await door.admit(gone);
    expect(await lastUse(), "the same day").toBe(NOW);
    door.now = instant(NOW + DAY_MS);
    await door.admit(gone);
    expect(await lastUse()).toBe(NOW + DAY_MS);
  });

  test("one that is remembered but no longer served is a polite duplicate and serves nothing again", async () => {
    const door = new Door();
    const deletion = request([["e", fakeId("x")]]);
    await door.admit(deletion);
    await door.store.transact((tx) => tx.apply([{ kind: "remove", id: deletion.id }]));
    expect(await door.say(deletion)).toMatch(/^duplicate: this request is remembered/);
    expect(await door.served()).toEqual([]);
  });

  test("11.4: an archive that ignores deletions stores them and keeps everything", async () => {
    const door = new Door({ ignoreDeletions: true });
    const mine = note("mine");
    await door.admit(mine);
    for (const event of [request([["e", mine.id]]), request([]), vanish()]) expect(await door.say(event)).toBe("");
    expect(await door.served()).toHaveLength(4);
    expect(await door.store.gates(undefined, 10)).toEqual([]);
    expect(await door.say(note("more"))).toBe("");
  });
});

describe("vanish (grasp.md 11.2, NIP-62)", () => {
  test("takes the key's events up to its time, deletions too, and shuts them out; the request stays", async () => {
    const door = new Door();
    const old = note("old", { created_at: NOW_S - 1 });
    const deletion = request([["e", fakeId("x")]], { created_at: NOW_S });
    const future = note("future", { created_at: NOW_S + 1 });
    const theirs = note("theirs", { pubkey: fakeKey("bob") });
    for (const event of [old, deletion, future, theirs]) await door.admit(event);
    expect(await door.say(vanish())).toBe("");
    expect(await door.served()).toEqual(ids(future, theirs, vanish()));
    expect(await door.say(old)).toBe("no invalid: this pubkey has requested to vanish");
    expect(await door.say(request([["e", old.id]], { created_at: NOW_S - 1 }))).toBe("no invalid: this pubkey has requested to vanish");
    expect(await door.say(note("new", { created_at: NOW_S + 2 }))).toBe("");
    expect(await door.say(request([["e", vanish().id]], { created_at: NOW_S + 2 }))).toBe("");
    expect(await door.served(), "NIP-62: it cannot be deleted").toContain(vanish().id);
  });

  test("gift wraps to the key go too", async () => {
    const door = new Door();
    const wrap = note("", { kind: 1059, pubkey: fakeKey("ephemeral"), tags: [["p", alice]] });
    await door.admit(wrap);
    await door.admit(vanish());
    expect(await door.served()).toEqual(ids(vanish()));
  });

  test("one that names other relays does nothing", async () => {
    const door = new Door();
    await door.admit(note("here"));
    await door.admit(vanish(NOW_S, "wss://other.example"));
    expect(await door.served()).toHaveLength(2);
    expect(await door.say(note("old", { created_at: 1 }))).toBe("");
    expect(await new Door({ acceptance: "grasp" }).say(vanish(NOW_S, "wss://other.example"))).toMatch(/^no invalid: /);
    expect(await new Door({ acceptance: "grasp" }).say(vanish(NOW_S, "ALL_RELAYS"))).toBe("");
  });

  test("a commit removes so many and no more; the rest is for the sweeper", async () => {
    const door = new Door();
    const events = Array.from({ length: VANISH_AT_ONCE + 5 }, (_, n) => note(`${n}`));
    await door.store.transact((tx) =>
      tx.apply(
        events.map((event) => ({ kind: "put", event, text: eventText(event), expiresAt: undefined, provenance: { how: "direct" } })),
      ),
    );
    const { changes } = await door.admit(vanish());
    expect(changes.filter(({ change }) => change === "removed")).toHaveLength(VANISH_AT_ONCE);
    expect(await door.served()).toHaveLength(6);
  });
});
